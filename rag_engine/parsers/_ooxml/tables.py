from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._shared.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LONGEST_REPEATED: Final = 120
_LARGEST: Final = 6_000
_LONGEST_HEADER: Final = 1_000
_MOST_COLUMNS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OoxmlCell:
    text: str
    columns: int = 1
    continues: bool = False
    begins: bool = False


def plain_rows(rows: Iterable[Sequence[OoxmlCell]], headers: int = 1) -> Iterator[list[str]]:
    """A cell merged over rows is repeated in each; one merged over columns only in the header."""
    above: list[str] = []
    for at, row in enumerate(rows):
        texts: list[str] = []
        for cell in row:
            columns = cell.columns if 0 < cell.columns <= _MOST_COLUMNS else 1
            if cell.continues:
                texts += _continued(above, len(texts), columns)
            else:
                text = one_line(cell.text)
                repeats = at < headers and len(row) > 1 and len(text) <= _LONGEST_REPEATED
                texts += [text, *([text if repeats else ""] * (columns - 1))]
        above = texts
        yield texts


def _continued(above: Sequence[str], start: int, columns: int) -> list[str]:
    texts = [*above[start : start + columns], *([""] * columns)][:columns]
    return [text if len(text) <= _LONGEST_REPEATED else "" for text in texts]


def header_rows(first: Sequence[OoxmlCell], marked: int) -> int:
    if marked:
        return min(marked, 3)
    groups = len(first) > 1 and any(cell.columns > 1 for cell in first)
    return 2 if groups and any(cell.begins for cell in first) else 1


def table_parts(rows: Iterable[Sequence[str]], headers: int = 1) -> Iterator[str]:
    """Of passage size, each with the header."""
    rows = iter(rows)
    header = table_text([one_header(list(islice(rows, headers)))])
    lines: list[str] = [header] if header else []
    size = len(header)
    for row in chain(rows):
        line = table_text([row])
        if not line:
            continue
        if size + len(line) > _LARGEST and len(lines) > 1:
            yield "\n".join(lines)
            lines = [header] if len(header) <= _LONGEST_HEADER and header else []
            size = len(header)
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield "\n".join(lines)


def one_header(rows: Sequence[Sequence[str]]) -> list[str]:
    width = max((len(row) for row in rows), default=0)
    columns = ([row[at] for row in rows if at < len(row) and row[at]] for at in range(width))
    return [" ".join(dict.fromkeys(column)) for column in columns]
