"""Untrusted text cannot close its block, forge a source or imitate a system message: characters that models read as
structure change, also full-width, small and invisible ones.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

from rag_engine.citations.markers.grammar import LONGEST_MARKER, OPENERS, is_begun, read_token
from rag_engine.text.lazy_pattern import lazy

_RESERVED = (
    "passages?|notes?|sources?|documents?|contexts?|question|conversation|history|instructions?|rules?|system|developer|user|human|"
    "assistant|model|message|tool|function|prompt|answer|think|thinking|inst|sys|persona|propert(?:y|ies)"
)
_TAG = lazy(
    lambda: re.compile(
        rf"(?<!<)<++(?=\s*+/?+\s*+(?:{_RESERVED})\b|/?+s>|\s*+\|)|\[(?=\s*+/?+\s*+(?:inst|sys|system)\s*+\])",
        re.IGNORECASE,
    )
)
_ROLE_LINE = lazy(
    lambda: re.compile(
        r"^[ \t#>*_-]*+(?=(?:system|developer|assistant|instructions?|human|user)(?:[ ](?:message|prompt|note))?[ \t*_]*+:)",
        re.IGNORECASE | re.MULTILINE,
    )
)
_MARKER = lazy(
    lambda: re.compile(r"(?<![A-Za-z0-9_\])])[\[［【](\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,5})[\]］】](?!\()")
)
_MARKER_AFTER_WORD = lazy(
    lambda: re.compile(
        r"(?<=[A-Za-z]{3})\[([1-9]\d{0,2}(?:, ?\d{1,3}){0,5})\](?=[\s.,;:!?)]|\[|$)(?!\s*[=+*/<>-])"
    )
)
_OPENER = lazy(lambda: re.compile(f"[{re.escape(OPENERS)}]"))
_JOINER: Final = "\u2060"
_ATTRIBUTE_LENGTH = 200
_LINE_BREAKS = dict.fromkeys(map(ord, "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
_BRACKETS = frozenset("<＜﹤[［【")


def neutral(text: str, *, keep_markers: bool) -> str:
    """`keep_markers` leaves `[1]` alone, as code needs. Otherwise `[1]` becomes `(1)`, and a word joiner splits other markers."""
    text = _visible(text.replace("\r\n", "\n").translate(_LINE_BREAKS))
    if not _BRACKETS.isdisjoint(text):
        text = _without_tags(text)
        if not keep_markers:
            text = _MARKER_AFTER_WORD.sub(r"(\1)", _MARKER.sub(r"(\1)", text))
    text = _without_role_lines(text)
    return text if keep_markers else _without_markers(text)


def attribute(text: str) -> str:
    """One line, no quotes or tags, at most 200 characters."""
    line = " ".join(_visible(text.translate(_LINE_BREAKS)).split())
    if len(line) > _ATTRIBUTE_LENGTH:
        line = line[: _ATTRIBUTE_LENGTH - 1] + "…"
    folded = line.replace("＂", '"').replace("＜", "<").replace("＞", ">")
    return folded.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _visible(text: str) -> str:
    """Invisible tag characters can hide ASCII text."""
    hidden = [sign for sign in set(text) if _is_hidden(sign)]
    return text.translate(dict.fromkeys(map(ord, hidden))) if hidden else text


def _is_hidden(sign: str) -> bool:
    if sign in "\n\t":
        return False
    return unicodedata.category(sign) == "Cc" or "\U000e0000" <= sign <= "\U000e007f"


def _without_tags(text: str) -> str:
    folded = text.translate(_FOLDING)
    if not _TAG.search(folded):
        return text
    origin = _origin(text)
    harmless = list(text)
    for match in _TAG.finditer(folded):
        for position in range(match.start(), match.end()):
            harmless[origin[position]] = "&lt;" if folded[position] == "<" else "&#91;"
    return "".join(harmless)


def _without_markers(text: str) -> str:
    while places := _marker_places(text):
        cuts = [0, *sorted(places), len(text)]
        text = _JOINER.join(text[start:end] for start, end in pairwise(cuts))
    return text


def _marker_places(text: str) -> set[int]:
    places: set[int] = set()
    for opener in _OPENER.finditer(text):
        at = opener.start()
        is_read = read_token(text, at, closed=True) != "text"
        if is_read or (len(text) - at < LONGEST_MARKER and is_begun(text[at:])):
            is_tag = text[at] == "<"
            places.add(at + 1 if is_tag else next(i for i in range(at, len(text)) if text[i].isdecimal()))
    return places


def _without_role_lines(text: str) -> str:
    starts = [match.start() for match in _ROLE_LINE.finditer(text.translate(_FOLDING))]
    if starts:
        origin = _origin(text)
        for start in reversed(starts):
            place = origin[start]
            text = f"{text[:place]}> {text[place:]}"
    return text


class _Folding(dict[int, str]):
    """Lazy; resolves compatibility forms and drops invisible characters."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        plain = sign if code < 128 else "" if _is_invisible(sign) else unicodedata.normalize("NFKC", sign)
        self[code] = plain
        return plain


_FOLDING = _Folding()


def _origin(text: str) -> list[int]:
    return [position for position, sign in enumerate(text) for _ in _FOLDING[ord(sign)]]


def _is_invisible(sign: str) -> bool:
    return unicodedata.category(sign) == "Cf" or sign in _FILLERS or "\ufe00" <= sign <= "\ufe0f"


_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
