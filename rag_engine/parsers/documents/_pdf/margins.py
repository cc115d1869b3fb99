from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers.documents._pdf.tables import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.parsers.documents._pdf.lines import PageText, TextLine

_MARGIN: Final = 0.09
_NUMBER_MARGIN: Final = 0.16
"""Page numbers may be further in, with nothing beyond them."""
_MOST_PIECES: Final = 3
_SAME_PLACE: Final = 4.0
"""In points, because a header's height varies."""
_BEFORE: Final = 2
"""Headers alternate between left and right pages."""
_DIGITS: Final = re.compile(r"\d+", re.ASCII)
_PAGE_NUMBER: Final = re.compile(
    r"(?P<first>\d{1,6})(?P<after>\D.*)?|(?P<before>.*\D)(?P<last>\d{1,6})", re.ASCII
)
_PAGE_WORDS: Final = re.compile(
    r"[\W_]*(?:(?:page|pag|pg|p|seite|s|página|pagina|pág|sida|side|strona|str|strana|стр|страница|第|صفحة|עמוד)[\W_]*)?"
    r"#(?:\s*(?:of|von|/|\||de|sur|di|van|av|af|z|ze|из|od|-|\u2013)\s*\d+)?\s*[页頁쪽]?[\W_]*",
    re.IGNORECASE,
)
_NUMBER_ALONE: Final = re.compile(r"[\W_]*#[\W_]*")
_WORDS: Final = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS: Final = 2
_ROMAN: Final = re.compile(r"[\W_]*[ivxlc]{1,7}[\W_]*", re.ASCII)


@dataclass(slots=True)
class Margins:
    before: deque[Mapping[str, float]] = field(default_factory=lambda: deque(maxlen=_BEFORE))
    upcoming: tuple[int, list[tuple[str, TextLine, bool]]] = (0, [])

    def without(self, page: PageText, number: int, following: PageText | None = None) -> list[list[TextLine]]:
        """A header seen first counts as small text, not as a heading."""
        known, keyed = self.upcoming
        if known != number:
            keyed = _keyed(page, number)
        self.upcoming = (number + 1, _keyed(following, number + 1) if following is not None else [])
        after = _heights(self.upcoming[1])
        changed: dict[int, TextLine | None] = {}
        for key, line, numbered in keyed:
            words = " ".join(line.text.split())
            repeated = any(
                _is_near(earlier, key, line) or _is_near(earlier, words, line) for earlier in self.before
            )
            if key == "#" or repeated or (key.startswith("@") and _is_near(after, key, line)):
                changed[id(line)] = None
            elif numbered or _is_near(after, key, line) or _is_near(after, words, line):
                changed[id(line)] = line._replace(size=0.0, bold=False)
        self.before.append(_heights(keyed))
        if not changed:
            return page.blocks
        blocks: list[list[TextLine]] = []
        for block in page.blocks:
            if changed.keys().isdisjoint(map(id, block)):
                blocks.append(block)
                continue
            left = [new for line in block if (new := changed.get(id(line), line)) is not None]
            if left:
                blocks.append(left)
        return blocks or page.blocks


def _heights(keyed: Sequence[tuple[str, TextLine, bool]]) -> dict[str, float]:
    heights = {" ".join(line.text.split()): line.top for _, line, _ in keyed}
    heights.update((key, line.top) for key, line, _ in keyed)
    return heights


def _is_near(places: Mapping[str, float], key: str, line: TextLine) -> bool:
    return key in places and abs(places[key] - line.top) < _SAME_PLACE


def _keyed(page: PageText, number: int) -> list[tuple[str, TextLine, bool]]:
    keyed: list[tuple[str, TextLine, bool]] = []
    for row in _margin_rows(page):
        keys = [_key(" ".join(line.text.split()), number) for line in row]
        numbered = any(key == "#" or "@" in key for key in keys)
        keyed += ((key, line, numbered) for key, line in zip(keys, row, strict=True))
    return keyed


def _margin_rows(page: PageText) -> list[list[TextLine]]:
    top, bottom = page.height * _MARGIN, page.height * (1 - _MARGIN)
    number_top = page.height * (1 - _NUMBER_MARGIN)
    lines: list[TextLine] = []
    number: TextLine | None = None
    lowest = 0.0
    for block in page.blocks:
        for line in block:
            if line.base > lowest:
                lowest = line.base
            if line.bottom < top or line.top > bottom:
                lines.append(line)
            elif line.top > number_top and line.text.strip().isdecimal():
                number = line
    rows = [row for row in rows_of(lines) if len(row) <= _MOST_PIECES] if lines else []
    if number is not None and number.base >= lowest:
        rows.append([number])
    return rows


def _key(text: str, number: int) -> str:
    own = next((found for found in _DIGITS.finditer(text) if found.group() == str(number)), None)
    if own is not None:
        around, off = f"{text[: own.start()]}#{text[own.end() :]}", 0
    elif match := _PAGE_NUMBER.fullmatch(text):
        around = f"{match['before'] or ''}#{match['after'] or ''}"
        off = number - int(match["first"] or match["last"])
    else:
        return "#" if _ROMAN.fullmatch(text) else text
    if _NUMBER_ALONE.fullmatch(around):
        return f"@{off}" if off else "#"
    if len(_WORDS.findall(around)) < _FEWEST_WORDS and not _PAGE_WORDS.fullmatch(around):
        return text
    return f"{around}@{off}"
