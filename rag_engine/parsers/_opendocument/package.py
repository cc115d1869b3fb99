from __future__ import annotations

import io
import re
import zipfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

from lxml import etree

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._archives.zip_bombs import ZIP_ERRORS, check_archive

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_URN: Final = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE: Final = f"{{{_URN}office:1.0}}"
TEXT: Final = f"{{{_URN}text:1.0}}"
TABLE: Final = f"{{{_URN}table:1.0}}"
DRAW: Final = f"{{{_URN}drawing:1.0}}"
STYLE: Final = f"{{{_URN}style:1.0}}"
PRESENTATION: Final = f"{{{_URN}presentation:1.0}}"
SVG: Final = f"{{{_URN}svg-compatible:1.0}}"
CHART: Final = f"{{{_URN}chart:1.0}}"
DC: Final = "{http://purl.org/dc/elements/1.1/}"
XLINK: Final = "{http://www.w3.org/1999/xlink}"

_MANIFEST: Final = "META-INF/manifest.xml"
_LARGEST_MANIFEST: Final = 16 << 20
_ENTITY: Final = re.compile(rb"<!ENTITY", re.IGNORECASE)
_DAMAGED: Final = "The OpenDocument file is damaged and cannot be read; save it again."


@contextmanager
def open_part(path: Path, part: str) -> Generator[IO[bytes] | None]:
    """None if missing. Raises `EncryptedFile`, `CorruptFile` and `FileTooLarge`, also while the part is read."""
    with path.open("rb") as file:
        is_package = file.read(2) == b"PK"
    if not is_package:
        with translate_errors(), path.open("rb") as file:
            yield file
        return
    check_archive(path)
    with translate_errors(), zipfile.ZipFile(path) as package:
        _refuse_encrypted(package)
        try:
            member = package.getinfo(part)
        except KeyError:
            yield None
            return
        with package.open(member) as file:
            yield file


def document(path: Path, containers: Collection[str]) -> Iterator[tuple[_Element, tuple[_Element, ...]]]:
    for part in ("styles.xml", "content.xml"):
        with open_part(path, part) as source:
            if source is not None:
                yield from elements(source, containers)
            if isinstance(source, io.BufferedReader):
                return


def elements(
    source: IO[bytes], containers: Collection[str]
) -> Iterator[tuple[_Element, tuple[_Element, ...]]]:
    refuse_entities(source)
    ancestors: list[_Element] = []
    inside = 0
    for event, element in etree.iterparse(
        source,
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    ):
        if event == "start":
            if inside or (ancestors and element.tag not in containers):
                inside += 1
            else:
                ancestors.append(element)
        elif inside > 1:
            inside -= 1
        else:
            if inside:
                inside = 0
                yield element, tuple(ancestors)
            else:
                ancestors.pop()
            _free(element)


@contextmanager
def translate_errors() -> Generator[None]:
    try:
        yield
    except (
        *ZIP_ERRORS,
        *(etree.LxmlError, SyntaxError, OSError, RuntimeError, KeyError, ValueError),
    ) as error:
        if isinstance(error, RecursionError):
            raise
        raise CorruptFile(_DAMAGED) from error


def refuse_entities(source: IO[bytes]) -> None:
    """Only attackers write them. Raises `CorruptFile`."""
    if _ENTITY.search(source.read(4_096)):
        raise CorruptFile(_DAMAGED)
    source.seek(0)


def repeat_count(element: _Element, attribute: str, most: int) -> int:
    """Files repeat the empty rest of a sheet a million times."""
    count = element.get(attribute) or "1"
    return max(1, min(int(count), most)) if count.isdecimal() and len(count) < 10 else 1


def _free(element: _Element) -> None:
    """With previous siblings: the tree does not grow with the file."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def _refuse_encrypted(package: zipfile.ZipFile) -> None:
    names = package.namelist()
    if "encrypted-package" in names:
        raise EncryptedFile
    if _MANIFEST in names:
        with package.open(_MANIFEST) as file:
            if b"encryption-data" in file.read(_LARGEST_MANIFEST):
                raise EncryptedFile
