from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INLINE: Final = re.compile(
    r"`?\+(?P<literal>[^+\n]{1,300})\+`?(?!\w)"
    r"|(?P<url>(?:https?|ftp|irc)://[^\s\[\]<>]{1,500})\[(?P<label>[^\]\n]{0,300})\]"
    r"|(?:link|mailto|xref):(?P<target>[^\s\[\]]{0,500})\[(?P<text>[^\]\n]{0,300})\]"
    r"|<<(?P<anchor>[^<>,\n]{1,200})(?:,\s*(?P<caption>[^<>\n]{1,300}))?>>"
    r"|(?:image|icon):[^\s\[\]:]{1,300}\[(?P<alternative>[^\]\n]{0,300})\]"
    r"|footnote:(?:[\w-]{0,60})\[(?P<note>[^\]\n]{0,1000})\]"
    r"|(?:kbd|btn|stem|latexmath|asciimath|pass):(?:[a-z]{0,4})\[(?P<macro>[^\]\n]{0,500})\]"
    r"|\(\(\([^()\n]{1,200}\)\)\)|\(\((?P<term>[^()\n]{1,200})\)\)"
    r"|\{(?P<attribute>[\w-]{1,60})\}"
    r"|\[\[[\w:., -]{1,100}\]\]|\[#[\w-]{1,60}\](?=\S)"
    r"|(?P<mark>\*\*|__|``|##)(?=\S)(?P<unbound>[^\n]{1,500}?)(?P=mark)"
    r"|(?:\[[\w.#%-]{0,60}\])?(?<![\w*_`#^~])(?P<sign>[*_`#])(?=\S)(?P<bound>[^\n]{0,500}?\S)(?P=sign)(?!\w)"
)
_NAMED_CHARACTERS: Final = {
    "nbsp": " ",
    "sp": " ",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "plus": "+",
    "vbar": "|",
}
_CELL: Final = re.compile(
    r"(?:(?:^|\s)(?P<span>\d{0,3})(?:\.\d+)?\+)?(?:(?:^|\s)?[<^>.]{0,3}[aehlmsdv]?)?(?<!\\)\|"
)
_COLUMNS: Final = re.compile(r"cols\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\d+))")
_COLUMN: Final = re.compile(r"(\d{1,3})\*")


def plain(text: str, attributes: Mapping[str, str], depth: int = 0) -> str:

    def replacement(match: re.Match[str]) -> str:
        found = {name: value for name, value in match.groupdict().items() if value is not None}
        if "attribute" in found:
            name = found["attribute"].lower()
            return attributes.get(name, _NAMED_CHARACTERS.get(name, match[0]))
        if "note" in found:
            return f" ({found['note']})"
        if (label := found.get("label", found.get("text"))) is not None:
            label = label.removesuffix("^").partition(",window=")[0].strip('"')
            return label or found.get("url", found.get("target", ""))
        if "anchor" in found:
            return found.get("caption") or found["anchor"].lstrip("#_").replace("_", " ")
        if "alternative" in found:
            return found["alternative"].partition(",")[0].strip('"')
        names = ("literal", "macro", "term", "unbound", "bound")
        inner = next((found[name] for name in names if name in found), "")
        is_code = "literal" in found or found.get("sign") == "`"
        return inner if is_code or depth >= 4 else plain(inner, attributes, depth + 1)

    return _INLINE.sub(replacement, text)


def table(lines: Sequence[str], options: str, attributes: Mapping[str, str]) -> str:
    cells, in_first_line = _cells(lines)
    columns = _column_count(options) or in_first_line
    if not columns:
        return "\n".join(lines)
    by_line = [_cells([line])[0] for line in lines if line.strip()]
    if all(len(row) > 1 for row in by_line) and columns == in_first_line:
        rows = by_line
    else:
        rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    return table_text([[plain(cell, attributes) for cell in row] for row in rows])


def _cells(lines: Sequence[str]) -> tuple[list[str], int]:
    cells: list[str] = []
    in_first_line = 0
    for line in lines:
        parts = list(_CELL.finditer(line))
        before = line[: parts[0].start()] if parts else line
        if cells and before.strip():
            cells[-1] += f" {before.strip()}"
        for number, part in enumerate(parts, 1):
            end = parts[number].start() if number < len(parts) else len(line)
            cells += [line[part.end() : end].strip(), *([""] * (min(int(part["span"] or 1), 100) - 1))]
        in_first_line = in_first_line or len(cells)
    return [cell.replace("\\|", "|") for cell in cells], in_first_line


def _column_count(options: str) -> int:
    found = _COLUMNS.search(options)
    if found is None:
        return 0
    if found[3]:
        return min(int(found[3][:3]), 500)
    repeats = (_COLUMN.match(column.strip()) for column in re.split(r"[,;]", found[1] or found[2] or ""))
    return sum(min(int(repeat[1]), 500) if repeat is not None else 1 for repeat in repeats)
