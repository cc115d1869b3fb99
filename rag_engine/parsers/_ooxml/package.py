"""ECMA-376, read one part at a time."""

from __future__ import annotations

import functools
import posixpath
import re
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Protocol, cast
from urllib.parse import unquote

from lxml import etree

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._archives.zip_bombs import ZIP_ERRORS, check_archive
from rag_engine.parsers._shared.charts import ChartReader

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

_FORMATS: Final = "http://schemas.openxmlformats.org/"
W: Final = f"{{{_FORMATS}wordprocessingml/2006/main}}"
P: Final = f"{{{_FORMATS}presentationml/2006/main}}"
A: Final = f"{{{_FORMATS}drawingml/2006/main}}"
C: Final = f"{{{_FORMATS}drawingml/2006/chart}}"
DGM: Final = f"{{{_FORMATS}drawingml/2006/diagram}}"
WP: Final = f"{{{_FORMATS}drawingml/2006/wordprocessingDrawing}}"
M: Final = f"{{{_FORMATS}officeDocument/2006/math}}"
R: Final = f"{{{_FORMATS}officeDocument/2006/relationships}}"
MC: Final = f"{{{_FORMATS}markup-compatibility/2006}}"
OFFICE: Final = "{urn:schemas-microsoft-com:office:office}"
CX: Final = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
W14: Final = "{http://schemas.microsoft.com/office/word/2010/wordml}"
W15: Final = "{http://schemas.microsoft.com/office/word/2012/wordml}"
V: Final = "{urn:schemas-microsoft-com:vml}"
_RELATIONS: Final = f"{{{_FORMATS}package/2006/relationships}}"

# "Strict" files use other namespace URIs for the same elements.
_STRICT: Final = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL: Final = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_LONGEST_ADDRESS: Final = 200
_OFF: Final = frozenset({"0", "false", "off"})
_CHUNK: Final = 1 << 20


class Element(Protocol):
    tag: object
    text: str | None
    tail: str | None

    def __iter__(self) -> Iterator[Element]: ...
    def __len__(self) -> int: ...
    def get(self, key: str, default: str | None = None) -> str | None: ...
    def find(self, path: str) -> Element | None: ...
    def iter(self, *tags: str) -> Iterator[Element]: ...
    def iterfind(self, path: str) -> Iterator[Element]: ...
    def iterancestors(self, *tags: str) -> Iterator[Element]: ...
    def getparent(self) -> Element | None: ...
    def getprevious(self) -> Element | None: ...
    def remove(self, element: Element) -> None: ...
    def clear(self, *, keep_tail: bool) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OoxmlRelation:
    kind: str
    target: str
    is_external: bool


class OoxmlPackage:
    """Part names ignore case and slashes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in archive.infolist():
            self._members.setdefault(_plain(member.filename), member)
        self.charts = ChartReader()
        self.relations = functools.lru_cache(maxsize=256)(self._relations)

    def __contains__(self, part: str) -> bool:
        return _plain(part) in self._members

    def main(self, *default_name: str) -> str:
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and relation.target in self:
                return relation.target
        found = next((part for part in default_name if part in self), None)
        if found is None:
            raise CorruptFile("The file holds no document, or is damaged; save or download it again.")
        return found

    def _relations(self, part: str) -> Mapping[str, OoxmlRelation]:
        folder, name = posixpath.split(part)
        described = f"{folder}/_rels/{name}.rels"
        if described not in self:
            return {}
        return {
            element.get("Id") or "": OoxmlRelation(
                kind=(element.get("Type") or "").rstrip("/").rsplit("/", 1)[-1],
                target=_target(folder, element.get("Target") or ""),
                is_external=(element.get("TargetMode") or "").lower() == "external",
            )
            for element in self.root(described).iter(f"{_RELATIONS}Relationship")
        }

    def related(self, part: str, kind: str) -> Iterator[str]:
        for relation in self.relations(part).values():
            if relation.kind == kind and not relation.is_external and relation.target in self:
                yield relation.target

    def target(self, part: str, identifier: str | None) -> str | None:
        relation = self.relations(part).get(identifier or "")
        if relation is None or relation.is_external or relation.target not in self:
            return None
        return relation.target

    def chunks(self, part: str) -> Iterator[bytes]:
        with self._archive.open(self._members[_plain(part)]) as stream:
            yield from iter(lambda: stream.read(_CHUNK), b"")

    def packed(self, part: str) -> int:
        return self._members[_plain(part)].compress_size

    def unpacked(self, part: str) -> int:
        return self._members[_plain(part)].file_size

    def root(self, part: str) -> Element:
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )
        with self._stream(part) as stream:
            tree = etree.parse(stream, parser)
        if tree.docinfo.internalDTD is not None:
            raise _own_entities()
        return cast("Element", tree.getroot())

    def events(self, part: str, *tags: str) -> Iterator[tuple[str, Element]]:
        with self._stream(part) as stream:
            steps = etree.iterparse(
                stream,
                events=("start", "end"),
                tag=tags,
                resolve_entities=False,
                no_network=True,
                remove_comments=True,
                remove_pis=True,
            )
            checked = False
            for event, element in steps:
                if not checked and element.getroottree().docinfo.internalDTD is not None:
                    raise _own_entities()
                checked = True
                yield event, cast("Element", element)

    def _stream(self, part: str) -> IO[bytes]:
        return cast("IO[bytes]", _Transitional(self._archive.open(self._members[_plain(part)])))


class _Transitional:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = b""

    def __enter__(self) -> _Transitional:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size if size < 0 else max(size, 4_096))
        whole = self._kept + content
        end = len(whole)
        if content and size >= 0:
            begun = whole.rfind(b"http://", max(1, end - _LONGEST_ADDRESS))
            end = begun if begun > 0 and b'"' not in whole[begun:] else end
        self._kept = whole[end:]
        return _STRICT.sub(_TRANSITIONAL, whole[:end])


@contextmanager
def package(path: Path, what: str) -> Generator[OoxmlPackage]:
    """`what` names the kind of file. Raises `CorruptFile` and `EncryptedFile`."""
    check_archive(path)
    try:
        with zipfile.ZipFile(path) as archive:
            yield OoxmlPackage(archive)
    except RuntimeError as error:
        if "password" in str(error):
            raise EncryptedFile from error
        raise
    except (
        *(SyntaxError, KeyError, ValueError, TypeError, AttributeError, IndexError, LookupError),
        *(OSError, *ZIP_ERRORS),
    ) as error:
        raise CorruptFile(f"The {what} is damaged and cannot be read; save it again.") from error


def value(element: Element, path: str, namespace: str = W) -> str | None:
    found = element.find(path)
    return None if found is None else found.get(f"{namespace}val")


def is_on(element: Element, path: str) -> bool:
    found = element.find(path)
    return found is not None and (found.get(f"{W}val") or "").lower() not in _OFF


def number(text: str | None, default: int = 0) -> int:
    try:
        return max(-(1 << 31), min(int(text or ""), 1 << 31))
    except ValueError:
        return default


def chosen_alternative(alternatives: Element) -> Iterator[Element]:
    """The fallback if the new branch is empty."""
    choices = [child for child in alternatives if child.tag == f"{MC}Choice"]
    others = [child for child in alternatives if child.tag == f"{MC}Fallback"]
    best = next((child for child in choices + others if _has_words(child)), None)
    yield from best if best is not None else (choices or others)[:1]


def _has_words(element: Element) -> bool:
    return any(found.text or found.get("string") for found in element.iter(*_WORDS)) or any(
        True for _ in element.iter(*_POINTERS)
    )


_WORDS: Final = (f"{W}t", f"{A}t", f"{M}t", f"{V}textpath")
_POINTERS: Final = (f"{C}chart", f"{CX}chart", f"{DGM}relIds")


def _plain(name: str) -> str:
    return posixpath.normpath("/" + name.replace("\\", "/").lstrip("/")).lower()


def _target(folder: str, target: str) -> str:
    plain = unquote(target.partition("#")[0].replace("\\", "/"))
    return posixpath.normpath(posixpath.join("/", folder, plain)).lstrip("/")


def _own_entities() -> CorruptFile:
    return CorruptFile(
        "The file defines its own abbreviations (a DTD), as Office files never do; it is not read."
    )
