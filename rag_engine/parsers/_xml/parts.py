from __future__ import annotations

import functools
import posixpath
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, TypeAlias

from lxml import etree

from rag_engine.errors import CorruptFile, EncryptedFile, FileTooLarge
from rag_engine.parsers._archives.zip_bombs import ZIP_ERRORS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

Element: TypeAlias = etree._Element  # pyright: ignore[reportPrivateUsage]

_LARGEST_WHOLE: Final = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlRelation:
    kind: str
    target: str


class XmlPackage:
    def __init__(self, file: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(file)
        self._names = {_plain(name): name for name in self._archive.namelist()}

    def has(self, name: str) -> bool:
        return _plain(name) in self._names

    def open(self, name: str) -> IO[bytes]:
        """Raises `KeyError` if missing."""
        return self._archive.open(self._names[_plain(name)])

    def tree(self, name: str) -> Element | None:
        if not self.has(name):
            return None
        with self.open(name) as stream:
            content = stream.read(_LARGEST_WHOLE + 1)
        if len(content) > _LARGEST_WHOLE:
            raise FileTooLarge("A part of the file is too large to be read; split it into smaller files.")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        return etree.fromstring(content, parser)

    def relations(self, name: str) -> dict[str, XmlRelation]:
        folder, base = posixpath.split(name)
        root = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        if root is None:
            return {}
        return {
            node.get("Id", ""): XmlRelation(
                kind=node.get("Type", "").rpartition("/")[2],
                target=posixpath.normpath(posixpath.join("/", folder, node.get("Target", ""))).lstrip("/"),
            )
            for node in root
            if isinstance(node.tag, str) and node.get("TargetMode") != "External"
        }


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def local(node: Element) -> str:
    tag = node.tag
    return _local(tag) if isinstance(tag, str) else ""


@functools.lru_cache(maxsize=1024)
def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def descendants(node: Element, name: str) -> Iterator[Element]:
    return node.iter(f"{{*}}{name}")


def elements(stream: IO[bytes], *names: str) -> Iterator[Element]:
    """As they end; cleared before the next."""
    tags = tuple(f"{{*}}{name}" for name in names)
    walk = etree.iterparse(
        stream, events=("end",), tag=tags, resolve_entities=False, no_network=True, huge_tree=False
    )
    for _, node in walk:
        yield node
        parent = node.getparent()
        node.clear()
        if parent is not None:
            while parent[0] is not node:
                del parent[0]


def attribute(node: Element, name: str) -> str:
    found = node.get(name)
    if found is not None:
        return found
    return next((str(value) for key, value in node.attrib.items() if str(key).endswith(f"}}{name}")), "")


@contextmanager
def translated(message: str) -> Generator[None]:
    try:
        yield
    except (
        *ZIP_ERRORS,
        *(OSError, KeyError, ValueError, TypeError, AttributeError, IndexError),
        *(etree.LxmlError, AssertionError, ArithmeticError, SyntaxError),
    ) as error:
        raise CorruptFile(message) from error
    except RuntimeError as error:
        if "encrypted" in str(error) or "password" in str(error):
            raise EncryptedFile from error
        raise CorruptFile(message) from error
