from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.parsers.documents._pdf.lines import TextLine

_HYPHENS: Final = ("-", "\u00ad", "\u2010")
_SOFT: Final = "\u00ad"
_WIDE: Final = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_MARK: Final = re.compile(
    r"(?:[\u2022\u2023\u2043\u2219\u25aa\u25ab\u25a0\u25a1\u25cf\u25cb\u25e6\u2713\u2714\u27a2\u2794\uf0b7\uf0a7\uf0d8*\u2013-]"
    r"|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])(?:\s|$)"
)
_OPEN_ENDS: Final = ("\u2013", "/")
_ENDS: Final = frozenset((*_HYPHENS, *_OPEN_ENDS))
_SHORTEST: Final = 0.6
_FULL: Final = 0.95
"""Of the longest line, in characters of varying width."""
_JOINING: Final = frozenset(
    [
        "and",
        "or",
        "to",
        "und",
        "oder",
        "bzw",
        "bis",
        "et",
        "ou",
        "y",
        "o",
        "e",
        "ed",
        "och",
        "eller",
        "og",
        "en",
        "of",
        "ja",
        "tai",
        "i",
        "lub",
        "oraz",
    ]
)
"""Before these a hyphen at a line end stays: "pre- and post-war"."""


def is_mark(text: str) -> bool:
    found = _MARK.match(text)
    return found is not None and not text[found.end() :].strip()


def paragraph(lines: Sequence[TextLine], nearby: str = "") -> str:
    """Broken words rejoined, full lines joined. A hyphen stays if `nearby` has the word with it inside a line."""
    if len(lines) == 1:
        return lines[0].text.strip()
    longest = max(len(line.text) for line in lines)
    text = lines[0].text.strip()
    for before, line in pairwise(lines):
        following = line.text.strip()
        if before.turned == line.turned and (
            abs(before.base - line.base) < 0.4 * line.size if before.base else abs(before.top - line.top) < 2
        ):
            text = _beside(text, following)
        elif (not following[0].isalnum() or "." in following[:6] or ")" in following[:6]) and _MARK.match(
            following
        ):
            text = f"{text}\n{following}"
        else:
            full = _is_full(before.text.strip(), following, longest) or is_mark(before.text.strip())
            if full and text[-1] not in _ENDS and following[0].isascii():
                text = f"{text} {following}"
            else:
                text = continued(text, following, full=full, nearby=nearby)
    return text


def _is_full(text: str, following: str, longest: int) -> bool:
    if len(text) < longest * _SHORTEST:
        return False
    if following[0].islower() or len(text) >= longest * _FULL:
        return True
    return len(text) + 1 + len(following.partition(" ")[0]) > longest * _FULL or _is_wide(text[-1])


def _beside(text: str, following: str) -> str:
    if _is_wide(text[-1:]) and _is_wide(following[:1]):
        return text + following
    return f"{text} {following}"


def _is_wide(letter: str) -> bool:
    return not letter.isascii() and _WIDE.match(letter) is not None


def continued(text: str, following: str, *, full: bool, nearby: str = "") -> str:
    if text.endswith(_HYPHENS) and text[-2:-1].isalpha() and following[:1].isalnum():
        return _joined_word(text, following, nearby)
    if text.endswith(_OPEN_ENDS) and not text[-2:-1].isspace() and following[:1].isalnum():
        return text + following
    if not full:
        return f"{text}\n{following}"
    return _beside(text, following)


def _joined_word(text: str, following: str, nearby: str) -> str:
    first, second = text[:-1].split()[-1], following.split()[0]
    if text.endswith(_SOFT):
        return text[:-1] + following
    if not following[0].islower():
        return text + following
    if second.strip(".,;:") in _JOINING:
        return f"{text} {following}"
    if "-" in first or f"{first}-{second.rstrip('.,;:!?)')}" in nearby:
        return text + following
    return text[:-1] + following


def broken_word(text: str, following: str) -> str:
    if not text.endswith(_HYPHENS) or not text[-2:-1].isalpha() or not following[:1].islower():
        return ""
    rest = following.split(None, 1)[0]
    return "" if rest.strip(".,;:") in _JOINING else rest
