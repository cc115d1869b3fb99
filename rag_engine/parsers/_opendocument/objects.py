from __future__ import annotations

import zipfile
from functools import partial
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.errors import CorruptFile
from rag_engine.parsers._opendocument.charts import chart
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
from rag_engine.parsers._opendocument.text import table
from rag_engine.parsers._shared.charts import ChartReader
from rag_engine.parsers._shared.sections import one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_MATH: Final = "{http://www.w3.org/1998/Math/MathML}"
_LARGEST: Final = 8 << 20
_ROOTS: Final = (f"{OFFICE}document", f"{_MATH}math")


def description(frame: _Element) -> str:
    found = [frame.findtext(f"{SVG}{name}") or "" for name in ("desc", "title")]
    return next((text for text in map(one_line, found) if text), "")


class EmbeddedObjects:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._charts = ChartReader()
        self.notices = self._charts.notices

    def sections(self, frame: _Element, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
        for child in frame.iterchildren(f"{DRAW}object"):
            name = (child.get(f"{XLINK}href") or "").removeprefix("./").strip("/")
            try:
                part = _part(self._path, f"{name}/content.xml") if name else None
            except CorruptFile:
                self._charts.leave_out(anchor)
                continue
            root = part if name else next(child.iterchildren(*_ROOTS), None)
            if root is not None and root.tag == f"{_MATH}math":
                annotation = root.findtext(f".//{_MATH}annotation")
                text = one_line(annotation or "".join(root.itertext()))
                yield Section(text=text, anchor=anchor, headings=headings)
            elif root is not None and next(root.iter(f"{CHART}chart"), None) is None:
                for element in root.iter(f"{TABLE}table"):
                    yield Section(text=table(element), anchor=anchor, headings=headings, kind="table")
            elif root is not None:
                yield from self._charts.sections(partial(chart, root), anchor, headings)


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
