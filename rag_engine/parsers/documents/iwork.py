"""Pages, Numbers and Keynote, read from the embedded PDF preview."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, UnsupportedFile
from rag_engine.parsers._archives.nested_files import CHUNK, NestedFile, parsed, written
from rag_engine.parsers._archives.unpacking_limits import Unpacking
from rag_engine.parsers._archives.zip_bombs import ZIP_ERRORS
from rag_engine.parsers._ocr.ocr import PROGRAMS
from rag_engine.parsing.media_types import IWORK_HINT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.types import Section

SUFFIXES: Final = "pages numbers key"

__all__ = ["PROGRAMS", "parse", "within"]

_PREVIEW = "preview.pdf"


def parse(path: Path) -> Iterator[Section]:
    """Anchored "p. 3". Raises `UnsupportedFile` without a preview."""
    yield from within(path, Unpacking())


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    try:
        with zipfile.ZipFile(path) as package:
            names = [name for name in package.namelist() if name.lower().endswith(_PREVIEW)]
            if not names:
                raise UnsupportedFile(f"Files of Apple's iWork cannot be read as they are. {IWORK_HINT}")
            member = NestedFile(name=_PREVIEW, chunks=lambda: _chunks(package, names[0]))
            with written(member, unpacking) as preview:
                yield from parsed(preview, _PREVIEW, unpacking.deeper())
    except (*ZIP_ERRORS, *(OSError, RuntimeError, ValueError)) as error:
        raise CorruptFile("The file is damaged or was cut off; save or download it again.") from error


def _chunks(package: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with package.open(name) as content:
        while chunk := content.read(CHUNK):
            yield chunk
