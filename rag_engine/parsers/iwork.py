"""Pages, Numbers and Keynote: the PDF that these programs keep beside a document for previews, where they keep one."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from rag_engine.errors import CorruptFile, UnsupportedFile
from rag_engine.media_types import IWORK_HINT
from rag_engine.parsers._archives import ZIP_ERRORS
from rag_engine.parsers._nested import CHUNK, Member, parsed, written
from rag_engine.parsers._ocr import PROGRAMS
from rag_engine.parsers._unpacking import Unpacking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.types import Section

__all__ = ["PROGRAMS", "parse", "within"]

_PREVIEW = "preview.pdf"


def parse(path: Path) -> Iterator[Section]:
    """The preview's sections, anchored "p. 3". Raises `UnsupportedFile` where there is none."""
    yield from within(path, Unpacking())


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    """The same for a document that is itself within a file."""
    try:
        with zipfile.ZipFile(path) as package:
            names = [name for name in package.namelist() if name.lower().endswith(_PREVIEW)]
            if not names:
                raise UnsupportedFile(f"Files of Apple's iWork cannot be read as they are. {IWORK_HINT}")
            member = Member(name=_PREVIEW, chunks=lambda: _chunks(package, names[0]))
            with written(member, unpacking) as preview:
                yield from parsed(preview, _PREVIEW, unpacking.deeper())
    except (
        *ZIP_ERRORS,
        *(OSError, RuntimeError, ValueError),
    ) as error:
        raise CorruptFile("The file is damaged or was cut off; save or download it again.") from error


def _chunks(package: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with package.open(name) as content:
        while chunk := content.read(CHUNK):
            yield chunk
