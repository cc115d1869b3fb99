from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from rag_engine.errors import CorruptFile
from rag_engine.parsers._ooxml.charts import chart, references
from rag_engine.parsers._shared.charts import ChartReader, DocumentChart
from rag_engine.parsers._xml.parts import attribute, descendants, local
from rag_engine.parsers.sheets._cells.grid import column_letters
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rag_engine.parsers._ooxml import package as ooxml
    from rag_engine.parsers._xml.parts import Element, XmlPackage

_SHEET: Final = re.compile(r"(?:'((?:[^']|'')+)'|([^\s'!,()]+))!")
_THIS_FILE: Final = "[0]"


class Drawings:
    """Values that are cells of `sheets` are not read again."""

    def __init__(self, package: XmlPackage, sheets: Collection[str]) -> None:
        self._package = package
        self._sheets = {title.casefold() for title in sheets}
        self._charts = ChartReader()
        self.notices = self._charts.notices

    def sections(self, part: str, *, title: str, headings: tuple[str, ...]) -> Iterator[Section]:
        package = self._package
        for relation in package.relations(part).values():
            root = package.tree(relation.target) if relation.kind == "drawing" else None
            if root is None:
                continue
            targets = {name: one.target for name, one in package.relations(relation.target).items()}
            for anchor in root:
                yield from self._drawn(anchor, targets, _place(anchor, title), headings)

    def _drawn(
        self, anchor: Element, targets: dict[str, str], place: str, headings: tuple[str, ...]
    ) -> Iterator[Section]:
        texts: list[str] = []
        charts: list[DocumentChart] = []
        for node in anchor.iter("{*}chart", "{*}txBody"):
            if any(True for _ in node.iterancestors("{*}Fallback")):
                continue
            if local(node) == "txBody":
                texts.append(_paragraphs(node))
            elif target := targets.get(attribute(node, "id")):
                charts.append(self._charts.chart(partial(self._chart, target), place))
                texts.append(charts[-1].words)
        if any(texts):
            yield Section(text="\n".join(filter(None, texts)), anchor=place, headings=headings)
        for one in charts:
            # Not the place alone, which names cells.
            yield from self._charts.tables(one, f"{place}, chart", headings)

    def _chart(self, part: str) -> DocumentChart:
        root = cast("ooxml.Element | None", self._package.tree(part))
        if root is None:
            raise CorruptFile
        found = chart(root)
        cells = list(references(root))
        if cells and all(map(self._is_read, cells)):
            return DocumentChart(title=found.title, axes=found.axes)
        return found

    def _is_read(self, cells: str) -> bool:
        """A name without a sheet is one of this file."""
        sheets = [found[1] or found[2] for found in _SHEET.finditer(cells)]
        return bool(cells) and all(
            name == _THIS_FILE or name.replace("''", "'").casefold() in self._sheets for name in sheets
        )


def _paragraphs(body: Element) -> str:
    lines = ("".join(run.text or "" for run in descendants(line, "t")) for line in descendants(body, "p"))
    return "\n".join(line for line in lines if line.strip())


def _place(anchor: Element, title: str) -> str:
    for start in descendants(anchor, "from"):
        numbers = {local(part): (part.text or "").strip() for part in start}
        column, row = numbers.get("col", ""), numbers.get("row", "")
        if column.isdecimal() and row.isdecimal() and len(column + row) < 14:
            return f"{title}!{column_letters(int(column) + 1)}{int(row) + 1}"
    return title
