from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import sub
from typing import TYPE_CHECKING, Final

from rag_engine.parsers.documents._pdf.columns import regions
from rag_engine.parsers.documents._pdf.paragraphs import is_mark
from rag_engine.parsers.documents._pdf.tables import Rows, Rules, Table, aligned_tables, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rag_engine.parsers.documents._pdf.lines import Box, TextLine

_NEXT_LINE: Final = 1.8
_ALIGNED: Final = 3.0
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_FOOTNOTES: Final = 4
_FEWEST_ROWS: Final = 2
_APART: Final = 6.0
_MOST_COLUMNS: Final = 3
_NEAR_ROW: Final = 3
_LONG_CELLS: Final = 20
_NEXT_ROW: Final = 12
_FINISHED: Final = (".", "!", "?", ":", ";", "\u3002", "\uff01", "\uff1f")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    lines: tuple[TextLine, ...]
    rows: Rows = ()

    @property
    def top(self) -> float:
        return min([line.top for line in self.lines])

    @property
    def bottom(self) -> float:
        return max([line.bottom for line in self.lines])

    @property
    def size(self) -> float:
        return max([line.size for line in self.lines])


def arranged(
    blocks: Sequence[Sequence[TextLine]],
    drawn: Callable[[], Sequence[Box]] = lambda: (),
    rules: Rules | None = None,
) -> list[TextBlock]:
    """With tables joined row by row. `drawn` returns the page's rectangles, slowly; `rules` remembers whether that
    paid off.
    """
    lines = [line for block in blocks for line in block]
    bases = sorted([line.base for line in lines])
    if min(map(sub, bases[1:], bases), default=_APART) >= _APART and _downwards(blocks):
        return [TextBlock(lines=tuple(block)) for block in _rejoined(blocks)]
    rows = rows_of(lines)
    wide = [row for row in rows if len(row) > 1 and not (len(row) == 2 and is_mark(row[0].text.strip()))]
    if len(wide) < _FEWEST_ROWS and _downwards(blocks):
        return [TextBlock(lines=tuple(block)) for block in _rejoined(blocks)]
    right_to_left = _is_right_to_left(lines)
    found = regions(blocks, right_to_left=right_to_left)
    ruled: list[Table] = []
    signs = _table_signs(rows, columns=1 if len(found) == 1 else _MOST_COLUMNS)
    if signs:
        ruled = (rules or Rules()).tables(lines, drawn, signs)
        if ruled:
            found = regions(_without(blocks, ruled), right_to_left=right_to_left)
    arranged_blocks: list[TextBlock] = []
    for region in _joined(found):
        region_rows = rows if len(found) == 1 and not ruled else rows_of(chain.from_iterable(region))
        tables = aligned_tables(region_rows, right_to_left=right_to_left)
        arranged_blocks += _with_tables(region, tables)
    placed = _placed(arranged_blocks, ruled)
    return placed if len(found) > 1 else _from_top(placed)


def _table_signs(rows: Sequence[Sequence[TextLine]], *, columns: int) -> int:
    signs = 0
    above: Sequence[TextLine] = ()
    between = False
    for row in rows:
        if len(row) < 2:
            between = True
            continue
        if above and row[0].top - above[0].top < _NEXT_ROW * row[0].size and len(row) > columns:
            places = [line.left for line in above]
            aligned = sum(any(abs(line.left - place) < _ALIGNED for place in places) for line in row)
            long = sum(len(line.text) for line in row) >= _LONG_CELLS * len(row)
            apart = row[0].top - above[0].top > _NEAR_ROW * row[0].size
            signs += aligned > columns and (between or long or apart or len(row) != len(above))
        above, between = row, False
    return signs


def _downwards(blocks: Sequence[Sequence[TextLine]]) -> bool:
    return all(second[0].top > first[0].top - second[0].size for first, second in pairwise(blocks))


def _is_right_to_left(lines: Sequence[TextLine]) -> bool:
    letters = sum(len(line.text) for line in lines)
    text = "".join([line.text for line in lines])
    return not text.isascii() and len(_RIGHT_TO_LEFT.findall(text)) * 2 > letters


def _without(blocks: Sequence[Sequence[TextLine]], tables: Sequence[Table]) -> list[list[TextLine]]:
    inside = {id(line) for table in tables for line in table.lines}
    parts: list[list[TextLine]] = []
    for block in blocks:
        part: list[TextLine] = []
        for line in block:
            if id(line) not in inside:
                part.append(line)
            elif part:
                parts.append(part)
                part = []
        if part:
            parts.append(part)
    return parts


def _placed(blocks: list[TextBlock], tables: Sequence[Table]) -> list[TextBlock]:
    for table in tables:
        top = min(line.top for line in table.lines)
        left, right = min(line.left for line in table.lines), max(line.right for line in table.lines)
        at = 0
        for place, block in enumerate(blocks):
            first = block.lines[0]
            if first.top < top and block.lines[-1].right > left and first.left < right:
                at = place + 1
        blocks.insert(at, TextBlock(lines=table.lines, rows=table.rows))
    return blocks


def _from_top(blocks: Sequence[TextBlock]) -> list[TextBlock]:
    bands: list[list[tuple[int, TextBlock]]] = []
    bottom = 0.0
    for at, block in sorted(enumerate(blocks), key=lambda item: item[1].top):
        if bands and block.top < bottom - _ALIGNED:
            bands[-1].append((at, block))
        else:
            bands.append([(at, block)])
            bottom = 0.0
        bottom = max(bottom, block.bottom)
    return [block for band in bands for _, block in sorted(band, key=lambda item: item[0])]


def _with_tables(region: Sequence[Sequence[TextLine]], tables: Sequence[Table]) -> Iterator[TextBlock]:
    table_of = {id(line): number for number, table in enumerate(tables) for line in table.lines}
    done: set[int] = set()
    for block in _rejoined(region):
        prose: list[TextLine] = []
        for line in block:
            number = table_of.get(id(line))
            if number is None:
                prose.append(line)
            elif number not in done:
                done.add(number)
                if prose:
                    yield TextBlock(lines=tuple(prose))
                prose = []
                yield TextBlock(lines=tables[number].lines, rows=tables[number].rows)
        if prose:
            yield TextBlock(lines=tuple(prose))


def _rejoined(blocks: Sequence[Sequence[TextLine]]) -> list[list[TextLine]]:
    joined: list[list[TextLine]] = []
    for block in blocks:
        if joined and _continues(joined[-1][-1], block[0]):
            joined[-1].extend(block)
        else:
            joined.append(list(block))
    return joined


def _continues(last: TextLine, first: TextLine) -> bool:
    return (
        first.text.lstrip()[:1].islower()
        and abs(first.left - last.left) < _ALIGNED
        and 0 < first.top - last.top < _NEXT_LINE * last.size
        and (first.size, first.bold) == (last.size, last.bold)
    )


def _joined(found: Sequence[Sequence[Sequence[TextLine]]]) -> list[list[list[TextLine]]]:
    joined = [[list(block) for block in region] for region in found]
    before: list[list[TextLine]] = []
    for region, following in pairwise(joined):
        before += region
        first = following[0][0]
        if first.text.lstrip()[:1].islower():
            last = next(
                (block for block in reversed(before[-_FOOTNOTES:]) if block[-1].size >= first.size), None
            )
            if last is not None and _is_unfinished(last[-1], first):
                last.extend(following.pop(0))
    return [region for region in joined if region]


def _is_unfinished(last: TextLine, first: TextLine) -> bool:
    return (last.size, last.bold) == (first.size, first.bold) and not last.text.rstrip().endswith(_FINISHED)
