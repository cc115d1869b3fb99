from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.parsers._opendocument.package import (
    CHART,
    DRAW,
    OFFICE,
    SVG,
    TABLE,
    XLINK,
    refuse_entities,
    translate_errors,
)
from rag_engine.parsers._opendocument.text import table, texts
from rag_engine.parsers._shared.sections import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

    from rag_engine.types import SectionKind

_MATH: Final = "{http://www.w3.org/1998/Math/MathML}"
_LARGEST: Final = 8 << 20
_ROOTS: Final = (f"{OFFICE}document", f"{_MATH}math")
_TITLES: Final = (f"{CHART}title", f"{CHART}subtitle")


def description(frame: _Element) -> str:
    found = [frame.findtext(f"{SVG}{name}") or "" for name in ("desc", "title")]
    return next((text for text in map(one_line, found) if text), "")


def embedded_objects(frame: _Element, path: Path) -> Iterator[tuple[SectionKind, str]]:
    for child in frame.iterchildren(f"{DRAW}object"):
        name = (child.get(f"{XLINK}href") or "").removeprefix("./").strip("/")
        root = _part(path, f"{name}/content.xml") if name else next(child.iterchildren(*_ROOTS), None)
        if root is not None:
            yield from _object(root)


def _object(root: _Element) -> Iterator[tuple[SectionKind, str]]:
    if root.tag == f"{_MATH}math":
        annotation = root.findtext(f".//{_MATH}annotation")
        yield "prose", one_line(annotation or "".join(root.itertext()))
        return
    for element in root.iter(*_TITLES):
        yield "prose", one_line(" ".join(texts(element)))
    for element in root.iter(f"{CHART}axis"):
        yield (
            "prose",
            one_line(" ".join(text for title in element.iterchildren(*_TITLES) for text in texts(title))),
        )
    for element in root.iter(f"{TABLE}table"):
        yield "table", table(element)


def _part(path: Path, name: str) -> _Element | None:
    if not zipfile.is_zipfile(path):
        return None
    with translate_errors(), zipfile.ZipFile(path) as package:
        if name not in package.namelist() or package.getinfo(name).file_size > _LARGEST:
            return None
        with package.open(name) as file:
            refuse_entities(file)
            parser = etree.XMLParser(
                resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
            )
            return etree.parse(file, parser).getroot()
