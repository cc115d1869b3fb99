from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.pointing_back import points_back

if TYPE_CHECKING:
    from rag_engine.models.extractive.candidates import Candidate
    from rag_engine.types import Chunk

_ENTRY = lazy(
    lambda: re.compile(
        r"(?:^|: )(?:total|sum|overall|gesamt|summe|total général|suma|totale|totaal|итого|合计|总计|合計|합계)\b",
        re.IGNORECASE,
    )
)
_NOTE = lazy(lambda: re.compile(r"(?:.*, )?(?:foot|end)note \d+"))
_ASIDE = lazy(
    lambda: re.compile(
        r"(?:page )?(?:header|footer)s?|(?:table of )?contents|inhalt(?:sverzeichnis)?|table des matières|sommaire|índice|indice|sumário|"
        r"inhoudsopgave|содержание|оглавление|目录|目錄|目次|차례|목차",
        re.IGNORECASE,
    )
)
_LONG_SENTENCE, _VERY_LONG = 250, 420
_FEWEST_TOKENS = 4
_OPENING, _NEXT, _LAST = 0.2, 0.08, 0.05
_BACK, _SHORT, _LONGER, _QUESTION, _COLON, _UNENDED = 0.1, 0.25, 0.08, 0.15, 0.1, 0.1
_ENDS, _CLOSERS = (*".!?…。！？।۔",), " \"'”’»)]」』"
_TOTAL = 0.3
_NAMES, _ROW, _NO_NEWS = 0.3, 0.25, 1.0
_LETTERHEAD = lazy(lambda: re.compile(r"(?:From|To|Cc|Bcc|Sent|Date|Attachments): "))
_FEWEST_WORDS, _MOSTLY = 3, 0.7
_FIELD, _FIELDS = re.compile(r"\w: \S[^;]*;"), 2
_WORD = lazy(lambda: re.compile(r"[^\W\d_]{2,}"))


def is_aside(chunk: Chunk) -> bool:
    is_named = any(_ASIDE.fullmatch(heading.strip()) for heading in chunk.headings)
    return is_named or _NOTE.fullmatch(chunk.anchor) is not None


def form(candidate: Candidate, own: frozenset[str], *, place: int, of: int) -> float:
    text = candidate.text
    return (
        (_OPENING if place == 0 else _NEXT if place == 1 else _LAST if place == of - 1 else 0.0)
        + (_TOTAL if _ENTRY.search(text) else 0.0)
        - (_BACK if points_back(text) else 0.0)
        - (_SHORT if len(own) < _FEWEST_TOKENS else 0.0)
        - (_LONGER if len(text) > _LONG_SENTENCE else 0.0)
        - (_LONGER if len(text) > _VERY_LONG else 0.0)
        - (_QUESTION if text.rstrip().endswith(("?", "？", "؟")) else 0.0)
        - (_NAMES if _is_names(text) else 0.0)
        - (_NO_NEWS if _LETTERHEAD.match(text) else 0.0)
        - (_ROW if len(_FIELD.findall(text)) >= _FIELDS else 0.0)
        - (_COLON if text.rstrip().endswith((":", "：")) else 0.0)
        - (0.0 if text.rstrip(_CLOSERS).endswith(_ENDS) else _UNENDED)
    )


def _is_names(text: str) -> bool:
    words = [word for word in _WORD.findall(text) if word[0].isupper() or word[0].islower()]
    return len(words) >= _FEWEST_WORDS and sum(word[0].isupper() for word in words) > _MOSTLY * len(words)
