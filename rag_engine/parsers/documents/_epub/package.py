from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._xml.parts import XmlPackage, attribute, descendants, local

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
# Obfuscated fonts do not lock the text.
_FONT_ALGORITHMS: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_PAGE_SUFFIXES: Final = (".xhtml", ".html", ".htm", ".xml")
_MOST_LEVELS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    name: str
    titles: tuple[str, ...] | None = None


def chapters(package: XmlPackage, names: Sequence[str]) -> list[Chapter]:
    """Non-linear pages come last. Raises `EncryptedFile` if the book has copy protection."""
    _refuse_protected(package)
    opf = opf_name(package, names)
    root = package.tree(opf) if opf else None
    if root is None:
        return [Chapter(name=name) for name in sorted(names) if name.lower().endswith(_PAGE_SUFFIXES[:3])]
    folder = posixpath.dirname(opf)
    items = {attribute(item, "id"): item for item in descendants(root, "item")}
    contents = {
        _target(folder, attribute(item, "href"))
        for item in items.values()
        if "nav" in attribute(item, "properties").split()
    }
    titles = _titles(package, folder, root, items, contents)
    contents |= {
        _target(folder, attribute(reference, "href"))
        for reference in descendants(root, "reference")
        if attribute(reference, "type").lower() == "toc"
    }
    linear: list[str] = []
    beside: list[str] = []
    for reference in descendants(root, "itemref"):
        item = items.get(attribute(reference, "idref"))
        if item is None or attribute(item, "media-type").lower() not in _PAGES:
            continue
        name = _target(folder, attribute(item, "href"))
        if name not in contents:
            (beside if attribute(reference, "linear") == "no" else linear).append(name)
    return [Chapter(name=name, titles=titles.get(name)) for name in dict.fromkeys(linear + beside)]


def _refuse_protected(package: XmlPackage) -> None:
    root = package.tree(_ENCRYPTION)
    if root is None:
        return
    for data in descendants(root, "EncryptedData"):
        method = next(descendants(data, "EncryptionMethod"), None)
        if method is None or attribute(method, "Algorithm") not in _FONT_ALGORITHMS:
            raise EncryptedFile(
                "The book is locked by copy protection (DRM), so it cannot be read; add a copy without it."
            )


def opf_name(package: XmlPackage, names: Sequence[str]) -> str:
    container = package.tree(_CONTAINER)
    if container is not None:
        for rootfile in descendants(container, "rootfile"):
            name = attribute(rootfile, "full-path")
            if package.has(name):
                return name
    return next((name for name in names if name.lower().endswith(".opf")), "")


def _target(folder: str, reference: str) -> str:
    path = unquote(reference.partition("#")[0]).strip()
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def _titles(
    package: XmlPackage,
    folder: str,
    root: _Element,
    items: dict[str, _Element],
    contents: set[str],
) -> dict[str, tuple[str, ...]]:
    found = _Contents()
    for name in contents:
        page = _tree(package, name)
        for nav in descendants(page, "nav") if page is not None else ():
            if attribute(nav, "type") in {"toc", ""}:
                for reference, titles in _nav_entries(nav, ()):
                    found.add(posixpath.dirname(name), reference, titles)
    spine = next(descendants(root, "spine"), None)
    if found.entries or spine is None:
        return found.titles()
    tables = (item for item in items.values() if "dtbncx" in attribute(item, "media-type"))
    item = items.get(attribute(spine, "toc"), next(tables, None))
    if item is not None:
        name = _target(folder, attribute(item, "href"))
        ncx = _tree(package, name)
        for reference, titles in _ncx_entries(ncx, ()) if ncx is not None else ():
            found.add(posixpath.dirname(name), reference, titles)
    return found.titles()


@dataclass(slots=True)
class _Contents:
    entries: dict[str, list[tuple[bool, tuple[str, ...]]]] = field(
        default_factory=dict[str, list[tuple[bool, tuple[str, ...]]]]
    )

    def add(self, folder: str, reference: str, titles: tuple[str, ...]) -> None:
        self.entries.setdefault(_target(folder, reference), []).append(("#" not in reference, titles))

    def titles(self) -> dict[str, tuple[str, ...]]:
        return {name: _common(entries) for name, entries in self.entries.items()}


def _common(entries: list[tuple[bool, tuple[str, ...]]]) -> tuple[str, ...]:
    whole = next((titles for is_whole, titles in entries if is_whole), None)
    if whole is not None:
        return whole
    first = entries[0][1]
    if len(entries) == 1:
        return first
    shared = 0
    while shared < len(first) and all(titles[: shared + 1] == first[: shared + 1] for _, titles in entries):
        shared += 1
    return first[:shared]


def _tree(package: XmlPackage, name: str) -> _Element | None:
    try:
        return package.tree(name)
    except (CorruptFile, SyntaxError, ValueError, OSError):
        return None


def _nav_entries(node: _Element, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for child in node:
        if local(child) != "li":
            if len(above) < _MOST_LEVELS:
                yield from _nav_entries(child, above)
            continue
        label = next((part for part in child if local(part) in {"a", "span"}), None)
        titles = above
        if label is not None:
            titles = (*above, one_line("".join(str(text) for text in label.itertext())))
            if attribute(label, "href"):
                yield attribute(label, "href"), titles
        for part in child:
            if local(part) == "ol" and len(titles) < _MOST_LEVELS:
                yield from _nav_entries(part, titles)


def _ncx_entries(node: _Element, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for child in node:
        if local(child) == "navPoint":
            label = next((part for part in child if local(part) == "navLabel"), None)
            text = "" if label is None else one_line("".join(str(text) for text in label.itertext()))
            titles = (*above, text) if text else above
            content = next((part for part in child if local(part) == "content"), None)
            if content is not None:
                yield attribute(content, "src"), titles
            if len(titles) < _MOST_LEVELS:
                yield from _ncx_entries(child, titles)
        elif local(child) == "navMap":
            yield from _ncx_entries(child, above)
