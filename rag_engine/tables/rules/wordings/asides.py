"""Parts of a question that change nothing: "I need the numbers", "out of curiosity", "(open or waiting)"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import lexicon
from rag_engine.tables.rules.language.question_words import words
from rag_engine.tables.rules.mentions import cell_values, periods

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.types import TypedTable

_BRACKETS: Final = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_ENDS: Final = re.compile(r"(?<=[?!;；？！])\s*|(?<=[^\W\d_]:)\s+|(?<=[^\W\d_]{2}\.)\s+|\s+[-–—]\s+")
_COMMAS: Final = re.compile(r"[,，、]\s*")
_FEWEST_WORDS: Final = 3
_COUNTING: Final = frozenset(
    {
        "only",
        "just",
        "total",
        "number",
        "count",
        "figure",
        "anzahl",
        "zahl",
        "numero",
        "cantidad",
        "nombre",
        "多少",
    }
)
_INCLUDING: Final = frozenset(
    {"also", "whatever", "regardless", "including", "even", "irrespective", "auch", "egal", "inklusive", "einschließlich", "unabhängig"}
    | {"también", "incluso", "incluidos", "incluidas", "independientemente", "aussi", "quel", "quelle", "quels", "compris", "même"}
)  # fmt: skip
_CHANGING: Final = ("comparisons", "operations", "superlatives", "ordinals", "groups", "links")
_HARMLESS: Final = frozenset({"", "links and", "groups year", "groups month", "groups quarter", "groups day"})
_ASKING: Final = frozenset({"operations count", "operations much"})


def without_asides(question: str, tables: Sequence[TypedTable], language: str) -> Iterator[str]:
    """Shorter wordings, the longest first; none has less to compute."""
    plain = _BRACKETS.sub("", question).strip()
    inside = " ".join(_BRACKETS.findall(question))
    is_same = bool(periods.within(words(inside, language)) and periods.within(words(plain, language)))
    if plain != question and (is_same or not _computes(inside, language)):
        yield plain
    for text in dict.fromkeys((question, plain)):
        sentences = _kept(text, _ENDS, " ", tables, language)
        for shorter in dict.fromkeys((sentences, _kept(sentences, _COMMAS, ", ", tables, language))):
            if shorter != text and len(words(shorter, language)) >= _FEWEST_WORDS:
                yield shorter


def _kept(text: str, ends: re.Pattern[str], joint: str, tables: Sequence[TypedTable], language: str) -> str:
    parts = [part.strip() for part in ends.split(text) if part.strip()]
    kept = [part for part in parts if not _is_aside(part, tables, language)]
    return joint.join(kept) if 0 < len(kept) < len(parts) else text


def _is_aside(part: str, tables: Sequence[TypedTable], language: str) -> bool:
    found = words(part, language)
    if any(word.folded in _INCLUDING or word.text.casefold() in _INCLUDING for word in found):
        return True
    if _asks(part, language) or _computes(part, language) or any(word.is_number for word in found):
        return False
    free = [True] * len(found)
    return not any(
        cell_values.whole(found, free, table, language, lambda word: lexicon(language).has(word, "filler"))
        or cell_values.parts(found, free, table, language)
        for table in tables
    )


def _asks(part: str, language: str) -> bool:
    found, known = words(part, language), lexicon(language)
    said = {word.folded for word in found if not known.has(word, "filler", "asked")}
    if said and said <= _COUNTING:
        return True
    meant = {known.at(found, at, "asked", "operations")[1] for at in range(len(found))}
    return bool(meant & (_ASKING | {"asked who", "asked when", "asked where", "asked which"}))


def _computes(part: str, language: str) -> bool:
    found, known = words(part, language), lexicon(language)
    meant = {known.at(found, at, *_CHANGING, "periods")[1] for at in range(len(found))}
    changes = any(not one.startswith("periods") or one == "periods relative" for one in meant - _HARMLESS)
    return changes or bool(periods.within(found))
