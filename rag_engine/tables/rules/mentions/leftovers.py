from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.column_names import header
from rag_engine.tables.rules.language.lexicon import concepts, concepts_at

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.tables.rules.mentions.cell_values import ValueMention
    from rag_engine.tables.rules.question import Question, Sign

_ACTIVE: Final = frozenset(
    [
        "did",
        "do",
        "does",
        "has",
        "have",
        "had",
        "hat",
        "habe",
        "haben",
        "hatte",
        "hatten",
        "hast",
        "ha",
        "han",
        "he",
        "hemos",
        "habia",
        "a",
        "ont",
        "avons",
    ]
)
_DETERMINERS: Final = frozenset(
    [
        "the",
        "all",
        "any",
        "our",
        "of",
        "a",
        "an",
        "der",
        "die",
        "das",
        "den",
        "alle",
        "aller",
        "unsere",
        "unser",
        "los",
        "las",
        "el",
        "la",
        "todos",
        "todas",
        "les",
        "le",
        "nos",
        "tous",
        "toutes",
        "des",
    ]
)
_PREPOSITIONS: Final = frozenset({"in", "with", "for", "to", "at", "by", "from", "on", "under", "as"})
_CLASSES: Final = frozenset(
    {
        "department",
        "team",
        "category",
        "kind",
        "region",
        "location",
        "country",
        "city",
        "status",
        "product",
        "company",
        "class",
        "course",
    }
)
_ALIKE: Final = (
    frozenset({"department", "team"}),
    frozenset({"category", "kind", "product", "class", "course"}),
)
_OF: Final = frozenset({"of", "de", "von", "des", "der"})
_ANCHORS: Final = frozenset({"groups", "asked", "superlatives"})


def leftovers(
    question: Question,
    free: Sequence[bool],
    *,
    signs: Sequence[Sign],
    things: Collection[int],
    headers: Collection[str],
    values: Collection[ValueMention],
    has_periods: bool,
) -> list[tuple[int, int]]:
    """`things`: places of columns and titles."""
    found: list[tuple[int, int]] = []
    at = 0
    is_anchored = bool(values) or any(sign.group in _ANCHORS for sign in signs)
    while at < len(question.words):
        end, _ = question.lexicon.at(question.words, at, "filler", "nouns")
        if free[at] and _is_asked_for(question, signs, things, at):
            end = at
        elif end == at and question.is_loose and free[at] and not _is_counted(signs, at):
            end = _linking(question, free, at, things, is_anchored=is_anchored, has_periods=has_periods)
        if end == at and free[at] and question.is_loose:
            end = _apposed(question, values, at)
        if free[at] and end == at and not _is_hyphened(question, free, at, headers):
            if found and found[-1][1] == at:
                found[-1] = (found[-1][0], at + 1)
            else:
                found.append((at, at + 1))
        at = max(end, at + 1)
    return found


def _is_counted(signs: Sequence[Sign], at: int) -> bool:
    return any(sign.name == "count" and sign.end == at for sign in signs)


def _is_asked_for(question: Question, signs: Sequence[Sign], things: Collection[int], at: int) -> bool:
    words = question.words
    end, names = concepts_at(words, at)
    if not names & _CLASSES or (end < len(words) and words[end].folded in _OF and end + 1 in things):
        return False
    return any(sign.name in {"which", "per"} and question.is_beside(sign.end, at) for sign in signs)


def _apposed(question: Question, values: Collection[ValueMention], at: int) -> int:
    end, names = concepts_at(question.words, at)
    is_named = any(
        _is_one_class(names, header(column.name, question.language).concepts)
        for value in values
        if at == value.end or end == value.start
        for column, _ in value.choices
    )
    return end if is_named and names & _CLASSES else at


def _is_one_class(said: frozenset[str], own: frozenset[str]) -> bool:
    places = frozenset(name for name, one in concepts()[0].items() if one.is_place)
    return not own or bool(said & own) or any(said & alike and own & alike for alike in (places, *_ALIKE))


def _is_hyphened(question: Question, free: Sequence[bool], at: int, headers: Collection[str]) -> bool:
    if not question.is_loose or not at or free[at - 1]:
        return False
    between = question.text[question.words[at - 1].end : question.words[at].start]
    return between == "-" and question.words[at].folded.removesuffix("s") in headers


def _linking(
    question: Question,
    free: Sequence[bool],
    at: int,
    things: Collection[int],
    *,
    is_anchored: bool,
    has_periods: bool,
) -> int:
    """`at` for what may be a condition: "rented flats"."""
    end, meaning = question.lexicon.at(question.words, at, "loose", free=free)
    words = question.words
    if meaning in {"", "loose always"}:
        return end
    if meaning == "loose verbs":
        is_verb = at > 0 and not free[at - 1] and end < len(words) and words[end].folded in _PREPOSITIONS
        return end if is_verb and not has_periods else at
    before = words[at - 1].folded if at else ""
    is_attribute = (not at or not free[at - 1] or before in _DETERMINERS) and end in things
    if has_periods or (is_attribute and question.language != "zh"):
        return at
    is_active = any(word.folded in _ACTIVE for word in words[:at])
    return end if is_anchored or is_active or question.language == "zh" else at
