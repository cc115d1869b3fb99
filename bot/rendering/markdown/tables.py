from __future__ import annotations

from typing import TYPE_CHECKING, Final

import regex
from rich.cells import cell_len

from bot.rendering.markdown import line_prefixes
from bot.rendering.markdown.inline import RenderedText, inline
from bot.rendering.markdown.line import Border, RenderedLine
from bot.rendering.safety import pings
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.rendering.dialect import Dialect
    from bot.rendering.markdown.blocks import SourceLine
    from bot.rendering.safety.links import Links

_BAR: Final = lazy(lambda: regex.compile(r"(?<!\\)\|"))
_LINK: Final = lazy(lambda: regex.compile(r"!?\[([^\[\]]*)\]\(\s*+<?([^\s()<>]*+)>?[^()]*+\)"))
_MARKS: Final = lazy(lambda: regex.compile(r"\*\*|__|~~|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)"))
_BREAK: Final = lazy(lambda: regex.compile(r"<br\s*/?>", regex.IGNORECASE))


def table(
    lines: Sequence[SourceLine], dialect: Dialect, links: Links, border: Border
) -> Iterator[RenderedLine]:
    columns = len(cells(lines[0].content))
    if dialect.tables == "aligned":
        rows = [_plain(line, columns) for line in lines if line.kind != "delimiter"]
        widths = [max(cell_len(row[column]) for row in rows) for column in range(columns)]
        if sum(widths) + 3 * (columns - 1) <= dialect.columns:
            yield from _aligned(lines, rows, widths, dialect, border)
            return
    elif columns <= dialect.columns:
        yield from _written(lines, dialect, links, border)
        return
    yield from _listed(lines, dialect, links, border)


def cells(row: str) -> list[str]:
    row = row.strip().removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return [cell.strip() for cell in _BAR.split(row)]


def _row(line: SourceLine, columns: int) -> list[str]:
    row = [cell.replace("\\|", "|") for cell in cells(line.content)]
    if len(row) > columns:
        row[columns - 1 :] = [" | ".join(row[columns - 1 :])]
    return row + [""] * (columns - len(row))


def _plain(line: SourceLine, columns: int) -> list[str]:
    return [_text(cell) for cell in _row(line, columns)]


def _text(cell: str) -> str:
    cell = _LINK.sub(lambda found: _named(found.group(1), found.group(2)), _BREAK.sub(" ", cell))
    return pings.without_pings(_MARKS.sub("", cell).replace("\\", "").replace("```", ""))


def _named(label: str, address: str) -> str:
    return f"{label} ({address})" if address and label != address else label


def _written(
    lines: Sequence[SourceLine], dialect: Dialect, links: Links, border: Border
) -> Iterator[RenderedLine]:
    header, rule = (
        line_prefixes.before(line, dialect) + _bars(line, dialect, links).text for line in lines[:2]
    )
    reopened = line_prefixes.reopened(lines[1], dialect)
    again = f"{header}\n{rule}\n"
    inside = line_prefixes.inside(lines[0], dialect)
    if reopened:
        again = f"{reopened}{inside}{_bars(lines[0], dialect, links).text}\n{rule}\n"
    for number, line in enumerate(lines):
        prefix, bars = line_prefixes.before(line, dialect), _bars(line, dialect, links)
        row = number - 2
        if row > 0 and row % dialect.rows == 0:
            yield RenderedLine(text=inside.rstrip(), border=Border.PART)
            yield RenderedLine(text=inside + _bars(lines[0], dialect, links).text, border=Border.NEVER)
            yield RenderedLine(text=rule, border=Border.NEVER)
        yield RenderedLine(
            text=prefix + bars.text,
            border=border if number == 0 else Border.NEVER if row <= 0 else Border.LINE,
            opened=line_prefixes.reopened(line, dialect) if number == 0 else again,
            resumed=line_prefixes.resumed(line, dialect),
            whole=((0, len(prefix)), *((s + len(prefix), e + len(prefix)) for s, e in bars.whole)),
        )


def _bars(line: SourceLine, dialect: Dialect, links: Links) -> RenderedText:
    if line.kind == "delimiter":
        return RenderedText(text=line.content)
    row = RenderedText()
    for number, cell in enumerate(_BAR.split(line.content)):
        shown = inline(cell, dialect, links)
        row.text += "|" if number else ""
        row.whole += [(start + len(row.text), end + len(row.text)) for start, end in shown.whole]
        row.text += shown.text
    return row


def _aligned(
    lines: Sequence[SourceLine],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    dialect: Dialect,
    border: Border,
) -> Iterator[RenderedLine]:
    prefix = line_prefixes.quoted(lines[0], dialect)
    right = [cell.endswith(":") and not cell.startswith(":") for cell in cells(lines[1].content)]
    rule = prefix + "-+-".join("-" * width for width in widths)
    header = prefix + _aligned_row(rows[0], widths, right)
    fence = prefix + "```"
    again, closing = f"{fence}\n{header}\n{rule}\n", f"\n{fence}"
    yield RenderedLine(text=fence, border=border, closing=closing, code=True)
    for text in (header, rule):
        yield RenderedLine(text=text, border=Border.NEVER, opened=f"{fence}\n", closing=closing, code=True)
    for number, row in enumerate(rows[1:]):
        yield RenderedLine(
            text=prefix + _aligned_row(row, widths, right),
            border=Border.LINE if number else Border.NEVER,
            opened=again,
            resumed=f"{fence}\n{prefix}",
            closing=closing,
            code=True,
        )
    yield RenderedLine(text=fence, border=Border.NEVER, code=True)


def _aligned_row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded: list[str] = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        room = " " * (width - cell_len(cell))
        padded.append(room + cell if column < len(right) and right[column] else cell + room)
    return " | ".join(padded).rstrip()


def _listed(
    lines: Sequence[SourceLine], dialect: Dialect, links: Links, border: Border
) -> Iterator[RenderedLine]:
    prefix = line_prefixes.quoted(lines[0], dialect)
    columns = len(cells(lines[0].content))
    headers = [inline(cell, dialect, links).text for cell in _row(lines[0], columns)]
    if len(lines) == 2:
        yield RenderedLine(text=prefix + ", ".join(headers), border=border)
    for number, line in enumerate(lines[2:]):
        mark, mark_border = "- ", Border.ITEM if number else border
        for header, cell in zip(headers, _row(line, columns), strict=True):
            if not cell:
                continue
            shown = inline(cell, dialect, links)
            begin = prefix + mark + (f"{header}: " if header else "")
            yield RenderedLine(
                text=begin + shown.text,
                border=mark_border,
                resumed=prefix,
                whole=((0, len(begin)), *((s + len(begin), e + len(begin)) for s, e in shown.whole)),
            )
            mark, mark_border = "  - ", Border.LINE
