"""Pure: running headers, footers and page numbers, told by what stands in the same place on pages nearby."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._pdf_tables import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.parsers._pdf_lines import PageText, TextLine

_MARGIN: Final = 0.09
"""Share of the page's height at its top and bottom where running headers and footers stand."""
_MOST_PIECES: Final = 3
"""A header has a left, a middle and a right part; a row of more is the head of a table."""
_SAME_PLACE: Final = 4.0
"""Points by which the height of a header may differ from page to page."""
_BEFORE: Final = 2
"""Headers of left and right pages alternate."""
_DIGITS: Final = re.compile(r"\d+", re.ASCII)
_PAGE_NUMBER: Final = re.compile(
    r"(?P<first>\d{1,4})(?P<after>\D.*)?|(?P<before>.*\D)(?P<last>\d{1,4})", re.ASCII
)
_PAGE_WORDS: Final = re.compile(
    r"[\W_]*(?:(?:page|pag|pg|p|seite|s|página|pagina|pág|sida|side|strona|str|strana|стр|страница|第|صفحة|עמוד)[\W_]*)?"
    r"#(?:\s*(?:of|von|/|\||de|sur|di|van|av|af|z|ze|из|od|-|\u2013)\s*\d+)?\s*[页頁쪽]?[\W_]*",
    re.IGNORECASE,
)
_NUMBER_ALONE: Final = re.compile(r"[\W_]*#[\W_]*")
_WORDS: Final = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS: Final = 2
"""In "Section 3" the number is no page number, whatever the page is."""
_ROMAN: Final = re.compile(r"[\W_]*[ivxlc]{1,7}[\W_]*", re.ASCII)


@dataclass(slots=True)
class Margins:
    """What stood in the margins of the last pages: text without its page number -> its height."""

    before: deque[Mapping[str, float]] = field(default_factory=lambda: deque(maxlen=_BEFORE))

    def without(self, page: PageText, number: int, following: PageText | None = None) -> list[list[TextLine]]:
        """The blocks without page numbers, and without headers and footers that one of the pages just before had already."""
        rows = _margin_rows(page)
        if not rows:
            self.before.append({})
            return page.blocks
        seen: dict[str, float] = {}
        dropped: set[int] = set()
        after: Mapping[str, float] | None = None
        for row in rows:
            for line in row:
                key = _key(" ".join(line.text.split()), number)
                known = any(abs(earlier.get(key, -99.0) - line.top) < _SAME_PLACE for earlier in self.before)
                seen.setdefault(key, line.top)
                if key.startswith("@") and after is None:
                    after = _keys(following, number + 1) if following is not None else {}
                if key == "#" or known or (after and _is_number(key, after, line)):
                    dropped.add(id(line))
        self.before.append(seen)
        if not dropped:
            return page.blocks
        kept = [
            left for block in page.blocks if (left := [line for line in block if id(line) not in dropped])
        ]
        # A page of nothing else is no page of margins.
        return kept or page.blocks


def _margin_rows(page: PageText) -> list[list[TextLine]]:
    top, bottom = page.height * _MARGIN, page.height * (1 - _MARGIN)
    lines = [line for block in page.blocks for line in block if line.bottom < top or line.top > bottom]
    return [row for row in rows_of(lines) if len(row) <= _MOST_PIECES]


def _keys(page: PageText, number: int) -> dict[str, float]:
    return {_key(" ".join(line.text.split()), number): line.top for row in _margin_rows(page) for line in row}


def _is_number(key: str, after: Mapping[str, float], line: TextLine) -> bool:
    """Whether it is a page number that is off by as much on the next page, and stands there in the same place."""
    return key.startswith("@") and abs(after.get(key, -99.0) - line.top) < _SAME_PLACE


def _key(text: str, number: int) -> str:
    """The text without its page number, which may be off by as much on every page; "#" when it is nothing but that."""
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
