from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.column_names import header
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.mentions.columns import ColumnMention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.types import TypedTable

_SHORTEST_ROOT: Final = 4
_VERB_ENDINGS: Final = {
    "en": frozenset({"", "s", "es", "ed", "d", "ing", "e"}),
    "de": frozenset({"t", "et", "en", "n", "te", "ete", "ten", "eten", "st"}),
    "es": frozenset({"a", "an", "e", "en", "o", "aron", "ieron", "io", "ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas"}),
}  # fmt: skip
_HEADER_ENDINGS: Final = {
    "en": frozenset({"", "e", "s", "es", "ed", "d", "ing", "er", "ers", "or", "ors", "ee", "ment", "ure", "ion", "al", "ity", "y", "t", "ts"}),
    "de": frozenset({"", "e", "t", "et", "en", "er", "erin", "ung", "ungen", "ant", "ende", "ender"}),
    "es": frozenset({"", "a", "o", "as", "os", "e", "ado", "ada", "ido", "ida", "ador", "adora", "edor", "edora", "idor", "acion", "icion", "ante", "ente"}),
}  # fmt: skip
_SURE_ENDINGS: Final = frozenset({"ed", "ing", "te", "ete", "ten", "eten", "aron", "ieron", "ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas"})  # fmt: skip
"""Nouns have none of them, or rarely."""
_AUXILIARIES: Final = frozenset({"do", "does", "did", "who", "wer", "quien", "quienes", "se"})


def rooted(
    words: Sequence[QuestionWord], free: Sequence[bool], table: TypedTable, language: str
) -> list[ColumnMention]:
    """Nouns do not count: "contracts" are no "Contractor"."""
    if language not in _VERB_ENDINGS:
        return []
    found: list[ColumnMention] = []
    for at, word in enumerate(words):
        if not free[at] or not _is_verb(words, at, language):
            continue
        columns = tuple(
            column
            for column in table.columns
            if any(
                _have_one_root(
                    _plain(word.folded, language), header(column.name, language).words[place].folded, language
                )
                for place in header(column.name, language).required
            )
        )
        if columns:
            found.append(ColumnMention(start=at, end=at + 1, columns=columns, share=0.0))
    return found


def of_title(
    words: Sequence[QuestionWord], free: Sequence[bool], table: TypedTable, language: str
) -> list[int]:
    """ "Complained" of "complaints.csv"."""
    if language not in _VERB_ENDINGS:
        return []
    titled = {word.folded for text in (table.title, table.caption) for word in header_words(text, language)}
    titled |= {word.removesuffix("s") for word in titled}
    return [
        at
        for at, word in enumerate(words)
        if free[at]
        and _is_verb(words, at, language)
        and any(_have_one_root(_plain(word.folded, language), name, language) for name in titled)
    ]


def _is_verb(words: Sequence[QuestionWord], at: int, language: str) -> bool:
    word = words[at]
    if not word.text.isalpha() or (word.text[0].isupper() and (at or language == "de")):
        return False
    if language == "de":
        return True
    if any(word.folded.endswith(end) for end in _SURE_ENDINGS):
        return True
    return any(one.folded in _AUXILIARIES for one in words[:at])


def _plain(word: str, language: str) -> str:
    is_participle = language == "de" and word.startswith("ge") and len(word) > _SHORTEST_ROOT + 3
    return word.removeprefix("ge") if is_participle else word


def _have_one_root(verb: str, named: str, language: str) -> bool:
    same = next((at for at, (one, other) in enumerate(zip(verb, named, strict=False)) if one != other), None)
    root = verb[: min(len(verb), len(named)) if same is None else same]
    while len(root) >= _SHORTEST_ROOT:
        ends = verb[len(root) :], named[len(root) :]
        if ends[0] in _VERB_ENDINGS[language] and ends[1] in _HEADER_ENDINGS[language]:
            return True
        root = root[:-1]
    return False
