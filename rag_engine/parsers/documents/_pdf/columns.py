"""Reading order, changed only if a PDF alternates between columns of prose."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.parsers.documents._pdf.lines import TextLine

Lines: TypeAlias = "list[TextLine]"

_STEP: Final = 3.0
_DIP: Final = 0.5
_FEWEST_LINES: Final = 3
_SHORTEST_LINE: Final = 18
_LEAST_FILL: Final = 0.5
_MOST_COLUMNS: Final = 4
_GAP: Final = 2.0
_NEXT_LINE: Final = 1.5
_NARROWEST_GUTTER: Final = 6.0


class _Piece(NamedTuple):
    lines: Lines
    band: int
    column: int
    block: int


def regions(blocks: Sequence[Sequence[TextLine]], *, right_to_left: bool = False) -> list[list[Lines]]:
    """Columns of prose, and areas across the page."""
    lines = [line for block in blocks for line in block]
    gutters = _gutters(lines)
    if not gutters:
        return [[list(block) for block in blocks]]
    pieces = _pieces(blocks, lines, gutters)
    pieces = _without_false_columns(pieces, gutters)
    if all(piece.column < 0 for piece in pieces):
        return [[list(block) for block in blocks]]
    last = len(gutters)
    ordered = sorted(
        pieces,
        key=lambda piece: (
            piece.band,
            last - piece.column if right_to_left and piece.column >= 0 else piece.column,
        ),
    )
    changed = _column_changes(ordered, right_to_left=right_to_left) < _column_changes(
        pieces, right_to_left=right_to_left
    )
    found: list[list[Lines]] = []
    for _, group in groupby(
        ordered if changed else _rejoined(pieces),
        key=lambda piece: (piece.band if piece.column >= 0 else -1, piece.column),
    ):
        parts = [piece.lines for piece in group]
        found.append(_paragraphs(parts) if changed else parts)
    return found


def _rejoined(pieces: Sequence[_Piece]) -> list[_Piece]:
    whole: list[_Piece] = []
    for piece in pieces:
        last = whole[-1] if whole else None
        if (
            last is not None
            and last.block == piece.block
            and (last.column == piece.column or -1 in {last.column, piece.column})
        ):
            whole[-1] = last._replace(lines=[*last.lines, *piece.lines])
        else:
            whole.append(piece)
    return whole


def _paragraphs(parts: Sequence[Lines]) -> list[Lines]:
    paragraphs: list[Lines] = []
    for part in parts:
        last = paragraphs[-1][-1] if paragraphs else None
        if (
            last is not None
            and part[0].size == last.size
            and 0 < part[0].base - last.base < _NEXT_LINE * last.size
        ):
            paragraphs[-1].extend(part)
        else:
            paragraphs.append(list(part))
    return paragraphs


def _gutters(lines: Sequence[TextLine]) -> list[tuple[float, float]]:
    if len(lines) < 2 * _FEWEST_LINES:
        return []
    start = min(line.left for line in lines)
    steps = int((max(line.right for line in lines) - start) / _STEP) + 2
    if not 20 <= steps <= 2_000:
        return []
    changes = [0] * (steps + 1)
    for line in lines:
        changes[int((line.left - start) / _STEP)] += 1
        changes[int((line.right - start) / _STEP) + 1] -= 1
    covered = list(accumulate(changes[:steps]))
    before = list(accumulate(covered, max))
    after = list(accumulate(reversed(covered), max))[::-1]
    beside = list(map(min, before, after))
    dips = [crossed < _DIP * most for crossed, most in zip(covered, beside, strict=True)]
    found: list[tuple[float, float]] = []
    for is_dip, run in groupby(range(steps), key=dips.__getitem__):
        if not is_dip:
            continue
        places = list(run)
        lowest = min(covered[at] for at in places)
        inside = [at for at in places if covered[at] <= lowest + 1]
        left, right = start + inside[0] * _STEP, start + (inside[-1] + 1) * _STEP
        if right - left >= _NARROWEST_GUTTER and min(before[places[0]], after[places[-1]]) >= _FEWEST_LINES:
            found.append((left, right))
    return found if len(found) < _MOST_COLUMNS else []


def _pieces(
    blocks: Sequence[Sequence[TextLine]], lines: Sequence[TextLine], gutters: Sequence[tuple[float, float]]
) -> list[_Piece]:
    middles = [(left + right) / 2 for left, right in gutters]
    place_of: dict[int, tuple[int, int]] = {}
    bands: list[dict[int, Lines]] = []
    for line in sorted(lines, key=lambda line: line.top):
        first, last = bisect_right(middles, line.left + 1), bisect_right(middles, line.right - 1)
        column = first if first == last or (last - first < len(middles) and len(middles) > 1) else -1
        if not bands or (column < 0) != (-1 in bands[-1]):
            bands.append({})
        bands[-1].setdefault(column, []).append(line)
    for number, columns in enumerate(bands):
        for column, column_lines in columns.items():
            others = [line.bottom for other, lines in columns.items() if other != column for line in lines]
            end = _end_of_columns(column_lines, max(others, default=float("inf")))
            for at, line in enumerate(column_lines):
                place_of[id(line)] = (2 * number, column) if at < end else (2 * number + 1, -1)
    return [
        _Piece(lines=list(group), band=band, column=column, block=number)
        for number, block in enumerate(blocks)
        for (band, column), group in groupby(block, key=lambda line: place_of[id(line)])
    ]


def _end_of_columns(column: Lines, bottom: float) -> int:
    for at, (above, line) in enumerate(pairwise(column), start=1):
        if line.top > bottom and line.base - above.base > _GAP * line.size:
            return at
    return len(column)


def _without_false_columns(pieces: Sequence[_Piece], gutters: Sequence[tuple[float, float]]) -> list[_Piece]:
    lines: dict[int, dict[int, Lines]] = {}
    for piece in pieces:
        lines.setdefault(piece.band, {}).setdefault(piece.column, []).extend(piece.lines)
    edges = [0.0, *(edge for gutter in gutters for edge in gutter), 0.0]
    prose = {
        band: _is_prose(columns, edges)
        and not _is_rows_of_cells([piece for piece in pieces if piece.band == band])
        for band, columns in lines.items()
        if -1 not in columns
    }
    return [piece if prose.get(piece.band) else piece._replace(column=-1) for piece in pieces]


def _is_prose(columns: dict[int, Lines], edges: Sequence[float]) -> bool:
    if len(columns) < 2:
        return False
    wide = 0
    for column in columns.values():
        characters = sum(len(line.text) for line in column)
        width = max(line.right for line in column) - min(line.left for line in column)
        filled = sum(line.right - line.left for line in column)
        if len(column) < _FEWEST_LINES or filled < _LEAST_FILL * width * len(column):
            continue
        wide += characters >= _SHORTEST_LINE * len(column)
    return wide >= 2


def _is_rows_of_cells(pieces: Sequence[_Piece]) -> bool:
    pairs = [(first, second) for first, second in pairwise(pieces) if first.column < second.column]
    if len(pairs) < 2:
        return False
    several = sum(len(first.lines) > 1 or len(second.lines) > 1 for first, second in pairs)
    level = sum(
        abs(first.lines[0].base - second.lines[0].base) < 0.5 * second.lines[0].size
        for first, second in pairs
    )
    return several * 3 >= len(pairs) and level * 10 >= 7 * len(pairs)


def _column_changes(pieces: Sequence[_Piece], *, right_to_left: bool) -> int:
    cost = 0
    for first, second in pairwise(pieces):
        if first.column >= 0 <= second.column and first.column != second.column:
            cost += 1 if (first.column < second.column) != right_to_left else 3
    return cost
