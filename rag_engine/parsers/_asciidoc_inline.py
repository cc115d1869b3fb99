"""Inline markup of AsciiDoc, and its tables."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._tables import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INLINE: Final = re.compile(
    r"`?\+(?P<literal>[^+\n]{1,300})\+`?(?!\w)"
    r"|(?P<bare>(?:https?|ftp|irc)://[^\s\[\]<>]{1,500})\[(?P<label>[^\]\n]{0,300})\]"
    r"|(?:link|mailto|xref):(?P<url>[^\s\[\]]{0,500})\[(?P<text>[^\]\n]{0,300})\]"
    r"|<<(?P<anchor>[^<>,\n]{1,200})(?:,\s*(?P<caption>[^<>\n]{1,300}))?>>"
    r"|(?:image|icon):(?P<picture>[^\s\[\]:]{1,300})\[(?P<alt>[^\]\n]{0,300})\]"
    r"|footnote:(?:[\w-]{0,60})\[(?P<note>[^\]\n]{0,1000})\]"
    r"|(?:kbd|btn|stem|latexmath|asciimath|pass):(?:[a-z]{0,4})\[(?P<macro>[^\]\n]{0,500})\]"
    r"|menu:(?P<menu>[^\[\]\n]{1,60})\[(?P<entry>[^\]\n]{0,100})\]"
    r"|\(\(\((?P<hidden>[^()\n]{1,200})\)\)\)|\(\((?P<term>[^()\n]{1,200})\)\)"
    r"|\{(?P<attribute>[\w-]{1,60})\}"
    r"|\[\[(?P<id>[\w:., -]{1,100})\]\]|\[#(?P<short_id>[\w-]{1,60})\](?=\S)"
    r"|(?P<mark>\*\*|__|``|##)(?=\S)(?P<unbound>[^\n]{1,500}?)(?P=mark)"
    r"|(?:\[[\w.#%-]{0,60}\])?(?<![\w*_`#^~])(?P<sign>[*_`#])(?=\S)(?P<bound>[^\n]{0,500}?\S)(?P=sign)(?!\w)"
)
_KNOWN: Final = {
    "nbsp": " ",
    "sp": " ",
    "empty": "",
    "blank": "",
    "zwsp": "",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "plus": "+",
    "vbar": "|",
    "asterisk": "*",
    "tilde": "~",
    "startsb": "[",
    "endsb": "]",
    "apos": "'",
    "quot": '"',
}
_CELL: Final = re.compile(
    r"(?:(?:^|\s)(?P<span>\d*(?:\.\d+)?)[+*])?(?:(?:^|\s)?[<^>.]{0,3}[aehlmsdv]?)?(?<!\\)\|"
)
_COLUMN: Final = re.compile(r"(?:(\d+)\*)?")


def plain(text: str, attributes: Mapping[str, str], depth: int = 0) -> str:
    """The words without markup; attributes stand for their values."""

    def replaced(match: re.Match[str]) -> str:
        found = {name: value for name, value in match.groupdict().items() if value is not None}
        if "attribute" in found:
            name = found["attribute"].lower()
            return attributes.get(name, _KNOWN.get(name, match[0]))
        if "hidden" in found or "id" in found or "short_id" in found:
            return ""
        if "literal" in found:
            return found["literal"]
        if "note" in found:
            return f" ({found['note']})"
        if "menu" in found:
            return f"{found['menu']} > {found['entry']}" if found["entry"] else found["menu"]
        label = found.get("label", found.get("text"))
        if label is not None:
            label = label.removesuffix("^").partition(",window=")[0].strip('"')
            return label or found.get("bare", found.get("url", ""))
        if "anchor" in found:
            return found.get("caption") or found["anchor"].lstrip("#_").replace("_", " ")
        if "picture" in found:
            return found["alt"].partition(",")[0].strip('"')
        inner = next((found[name] for name in ("macro", "term", "unbound", "bound") if name in found), "")
        return plain(inner, attributes, depth + 1) if depth < 4 and found.get("sign") != "`" else inner

    return _INLINE.sub(replaced, text)


def table(lines: Sequence[str], options: str, attributes: Mapping[str, str], *, separator: str = "|") -> str:
    """The rows of a table from the lines between its marks."""
    if (
        separator != "|"
        or "format=csv" in options.replace('"', "")
        or "format=dsv" in options.replace('"', "")
    ):
        delimiter = ":" if separator == ":" or "dsv" in options else "," if separator == "|" else separator
        try:
            rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
        except csv.Error:
            rows = [[line] for line in lines]
        return table_text([[plain(cell, attributes) for cell in row] for row in rows])
    cells, in_first_line = _cells(lines)
    columns = _columns(options) or in_first_line
    if not columns:
        return ""
    by_line = [_cells([line])[0] for line in lines if line.strip()]
    if all(len(row) > 1 for row in by_line) and columns == in_first_line:
        # People write a row a line, whatever the number of bars at its end.
        rows = by_line
    else:
        rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    return table_text([[plain(cell, attributes) for cell in row] for row in rows])


def _cells(lines: Sequence[str]) -> tuple[list[str], int]:
    """All cells in order, one that spans columns followed by empty ones; and how many are in the first line that has any."""
    cells: list[str] = []
    in_first_line = 0
    for line in lines:
        parts = list(_CELL.finditer(line))
        before = line[: parts[0].start()] if parts else line
        if cells and before.strip():
            cells[-1] += f" {before.strip()}"
        for number, part in enumerate(parts, 1):
            end = parts[number].start() if number < len(parts) else len(line)
            content = line[part.end() : end].strip()
            repeat = part["span"] or ""
            is_copy = part[0].rstrip("|aehlmsdv<^>.").endswith("*")
            count = int(repeat.partition(".")[0] or 1) if len(repeat) < 4 else 1
            cells += [content, *([content if is_copy else ""] * (min(count, 100) - 1))]
        if not in_first_line:
            in_first_line = len(cells)
    return [cell.replace("\\|", "|") for cell in cells], in_first_line


def _columns(options: str) -> int:
    """How many columns the table says it has; 0 when it does not."""
    found = re.search(r"cols\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\d+))", options)
    if found is None:
        return 0
    value = (found[1] or found[2] or found[3] or "").strip()
    if value.isdigit() and len(value) < 4:
        return int(value) if "," not in value and found[3] else max(int(value), 1) if found[3] else 1
    count = 0
    for column in re.split(r"[,;]", value):
        times = _COLUMN.match(column.strip())
        count += min(int(times[1]), 500) if times is not None and times[1] and len(times[1]) < 5 else 1
    return count
