"""Unknown verbs between the rows and a value that is a condition: "claims that Declan Byrne handed in"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.units import UNITS
from rag_engine.tables.rules.language.lexicon import concepts_at
from rag_engine.tables.rules.mentions.comparisons import CURRENCIES

if TYPE_CHECKING:
    from rag_engine.tables.rules.interpretation import Interpretation

_LONGEST: Final = 2
_AUXILIARIES: Final = {
    "en": frozenset({"did", "does", "do", "have", "has", "had"}),
    "de": frozenset({"hat", "haben", "hatte", "hatten", "wurden", "wurde", "sind", "ist"}),
    "es": frozenset({"ha", "han", "hemos", "nos", "se", "habia"}),
    "fr": frozenset({"a", "ont", "avons", "est", "sont"}),
}
_PREPOSITIONS: Final = {
    "en": frozenset({"to", "by", "from", "in", "at", "with", "for", "through", "via", "on", "under"}),
    "de": frozenset({"von", "bei", "durch", "mit", "aus", "uber", "im", "in", "an", "fur"}),
    "es": frozenset({"por", "de", "en", "con", "para", "a", "desde"}),
    "fr": frozenset({"par", "de", "en", "avec", "pour", "a", "chez", "dans"}),
}
_ARTICLES: Final = frozenset({"the", "our", "der", "die", "das", "el", "la", "los", "las", "le", "les"})
_ASKING: Final = frozenset({"count", "which", "per", "sum", "average", "median", "most", "least", "much"})


def are_relations(reading: Interpretation) -> bool:
    """Whether what is left over only relates rows to a value."""
    found = reading.leftovers
    if reading.numbers:
        return False
    if names_counted_rows(reading):
        return True
    return bool(found) and all(_is_relation(reading, start, end) for start, end in found)


def names_counted_rows(reading: Interpretation) -> bool:
    """The shows, of "how many shows in the Studio"."""
    if not reading.question.is_loose or len(reading.leftovers) != 1:
        return False
    question, (start, end) = reading.question, reading.leftovers[0]
    counts = any(sign.name == "count" and _is_close(reading, sign.end, start) for sign in reading.signs)
    is_measured = question.words[start].folded in UNITS or bool(concepts_at(question.words, start)[1])
    if is_measured or question.words[start].folded in CURRENCIES or _has_owner(reading):
        return False
    is_plain = (
        end == start + 1 and question.words[start].text.islower() and question.words[start].text.isalpha()
    )
    return counts and is_plain and (_is_grouped(reading) or any(one.exact for one in reading.values))


def _has_owner(reading: Interpretation) -> bool:
    words, known = reading.question.words, _AUXILIARIES.get(reading.question.language, frozenset[str]())
    return any(
        word.folded in known and all(one.folded in _ARTICLES for one in words[at + 1 : value.start])
        for value in reading.values
        for at, word in enumerate(words[: value.start])
    )


def _is_close(reading: Interpretation, end: int, start: int) -> bool:
    taken = {at for one in (*reading.values, *reading.titles) for at in range(one.start, one.end)}
    return end <= start and all(at in taken for at in range(end, start))


def _is_grouped(reading: Interpretation) -> bool:
    return any(
        sign.name == "per" and reading.question.is_beside(sign.end, one.start) and one.share == 1
        for sign in reading.signs
        for one in reading.columns
    )


def _is_relation(reading: Interpretation, start: int, end: int) -> bool:
    question = reading.question
    said = question.words[start:end]
    if question.language not in _AUXILIARIES or end - start > _LONGEST:
        return False
    if not all(word.text.isalpha() and word.text.islower() for word in said):
        return False
    if any(not one.exact and (one.end == start or one.start == end) for one in reading.values):
        return False
    if any(sign.name in _ASKING and question.is_beside(sign.end, start) for sign in reading.signs):
        return False
    is_inverted = start > 0 and question.words[start - 1].folded in _AUXILIARIES[question.language]
    return (
        _has_subject(reading, start)
        or _leads_to_value(reading, end)
        or (is_inverted and any(question.is_beside(end, value.start) for value in reading.values))
    )


def _has_subject(reading: Interpretation, start: int) -> bool:
    question = reading.question
    known = _AUXILIARIES[question.language]
    return any(
        question.is_beside(value.end, start)
        and any(word.folded in known for word in question.words[: value.start])
        for value in reading.values
    )


def _leads_to_value(reading: Interpretation, end: int) -> bool:
    question = reading.question
    if end >= len(question.words) or question.words[end].folded not in _PREPOSITIONS[question.language]:
        return False
    return any(question.is_beside(end, value.start) for value in reading.values)
