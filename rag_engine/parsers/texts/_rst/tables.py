from __future__ import annotations

import re
from typing import Final

from rag_engine.parsers._shared.tables import table_text

_RULE: Final = re.compile(r"=+(?:[ ]+=+)*\s*$")
_GRID_LINE: Final = re.compile(r"\+[-=+]+\+\s*$")


def grid(lines: list[str]) -> str:
    """A spanning cell is only in its first."""
    edges = sorted(
        {at for line in lines if _GRID_LINE.match(line) for at, sign in enumerate(line) if sign == "+"}
    )
    rows: list[list[str]] = []
    row: list[list[str]] = [[] for _ in edges[1:]]
    for line in lines:
        if _GRID_LINE.match(line):
            if any(map(any, row)):
                rows.append([" ".join(cell) for cell in row])
            row = [[] for _ in edges[1:]]
            continue
        start = 0
        for column in range(1, len(edges)):
            at = edges[column]
            if at < len(line) and line[at] in "|+":
                content = line[edges[start] + 1 : at].strip()
                if content and not set(content) <= {"-", "="}:
                    row[start].append(content)
                start = column
    if any(map(any, row)):
        rows.append([" ".join(cell) for cell in row])
    return table_text(rows)


def simple(lines: list[str]) -> str:
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    ends = [*starts[1:], None]
    rows: list[list[str]] = []
    for line in lines[1:]:
        if _RULE.match(line) or not line.strip() or set(line.strip()) <= {"-", " "}:
            continue
        cells = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        if rows and not cells[0]:
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return table_text(rows)


def is_rule(line: str) -> bool:
    return _RULE.match(line) is not None and " " in line.strip()


def is_grid_line(line: str) -> bool:
    return _GRID_LINE.match(line) is not None
