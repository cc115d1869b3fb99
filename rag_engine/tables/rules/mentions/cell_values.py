from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.language.question_words import words as words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.types import TypedColumn, TypedTable

_LONGEST: Final = 12
_SHORTEST_PART: Final = 3
_SHORTEST_HEAD: Final = 4
_LONG_NUMBER: Final = len("1043")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueMention:
    """`choices`: texts by column; `exact`: they are the whole cell."""

    start: int
    end: int
    choices: tuple[tuple[TypedColumn, tuple[str, ...]], ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class _Values:
    by_form: Mapping[str, tuple[tuple[tuple[QuestionWord, ...], str], ...]]
    by_word: Mapping[str, tuple[str, ...]]
    by_head: tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]


@lru_cache(maxsize=4_096)
def _index(values: tuple[str, ...], language: str) -> _Values:
    by_form: dict[str, list[tuple[tuple[QuestionWord, ...], str]]] = {}
    by_word: dict[str, dict[str, None]] = {}
    heads: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
    for text in values:
        found = words_of(text, language)
        for at, head in enumerate(heads if len(found) > 1 else ()):
            for form in found[-at].forms:
                head.setdefault(form, set()).add(text)
        if not found or len(found) > _LONGEST:
            continue
        for form in found[0].forms:
            by_form.setdefault(form, []).append((found, text))
        for word in found:
            by_word.setdefault(word.folded, {})[text] = None
    for core, text in _cores(values, language):
        for form in core[0].forms:
            by_form.setdefault(form, []).append((core, text))
    return _Values(
        {form: tuple(entries) for form, entries in by_form.items()},
        {word: tuple(texts) for word, texts in by_word.items()},
        (_frozen(heads[0]), _frozen(heads[1])),
    )


def _cores(values: Sequence[str], language: str) -> Iterator[tuple[tuple[QuestionWord, ...], str]]:
    named: dict[tuple[str, ...], list[tuple[tuple[QuestionWord, ...], str]]] = {}
    for text in values:
        for core in (_core(words_of(text, language)), _turned(text, language)):
            if core:
                named.setdefault(tuple(word.folded for word in core), []).append((core, text))
    return (found[0] for found in named.values() if len(found) == 1)


def _turned(text: str, language: str) -> tuple[QuestionWord, ...]:
    last, comma, first = text.partition(", ")
    is_name = bool(comma) and all(part.replace("-", "").replace(" ", "").isalpha() for part in (last, first))
    return words_of(f"{first} {last}", language) if is_name else ()


def _core(found: tuple[QuestionWord, ...]) -> tuple[QuestionWord, ...]:
    end = next((at for at, word in enumerate(found) if any(map(str.isdigit, word.text))), 0)
    core = found[:end]
    is_name = (
        all(word.text.isalpha() for word in core)
        and max((len(word.text) for word in core), default=0) > _SHORTEST_HEAD
    )
    return core if is_name else ()


def _frozen(heads: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {form: frozenset(texts) for form, texts in heads.items()}


def whole(
    words: Sequence[QuestionWord],
    free: Sequence[bool],
    table: TypedTable,
    language: str,
    is_common: Callable[[QuestionWord], bool],
) -> list[ValueMention]:
    """The longest at each place; `is_common` words must be as in the cell."""
    found: list[ValueMention] = []
    at = 0
    while at < len(words):
        mention = _longest(words, free, at, table, language, is_common) if free[at] else None
        if mention is not None:
            found.append(mention)
        at = mention.end if mention is not None else at + 1
    return found


def parts(
    words: Sequence[QuestionWord], free: Sequence[bool], table: TypedTable, language: str
) -> list[ValueMention]:
    """ "ACME" for "ACME Corp."."""
    found: list[ValueMention] = []
    at = 0
    while at < len(words):
        end = at
        texts: dict[int, frozenset[str]] = {}
        while end < len(words) and free[end]:
            here = _holding(words[end], table, language) if _is_name(words[end], end) else {}
            here = here or (_headed(words[end], table, language) if end == at else {})
            narrowed = (
                {number: texts[number] & here[number] for number in texts.keys() & here.keys()}
                if texts
                else here
            )
            narrowed = {number: kept for number, kept in narrowed.items() if kept}
            if not narrowed:
                break
            texts, end = narrowed, end + 1
        if texts:
            choices = tuple(
                (table.columns[number], tuple(sorted(kept))) for number, kept in sorted(texts.items())
            )
            found.append(ValueMention(start=at, end=end, choices=choices, exact=False))
        at = max(end, at + 1)
    return found


def _headed(word: QuestionWord, table: TypedTable, language: str) -> dict[int, frozenset[str]]:
    if len(word.text) < _SHORTEST_HEAD or word.is_han or language == "zh":
        return {}
    head = 0 if language in {"es", "fr"} else 1
    return {
        number: texts
        for number, column in enumerate(table.columns)
        if column.kind == "text"
        and column.has_all_values
        and len(column.values) == column.filled == table.row_count
        and (texts := _headed_by(word, _index(column.values, language).by_head[head]))
    }


def _headed_by(word: QuestionWord, heads: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*(heads.get(form, ()) for form in word.forms))


def _holding(word: QuestionWord, table: TypedTable, language: str) -> dict[int, frozenset[str]]:
    return {
        number: frozenset(texts)
        for number, column in enumerate(table.columns)
        if column.kind == "text" and (texts := _index(column.values, language).by_word.get(word.folded))
    }


def _is_name(word: QuestionWord, at: int) -> bool:
    if any(map(str.isdigit, word.text)) and not word.is_number:
        return True
    return len(word.text) >= _SHORTEST_PART and word.text[0].isupper() and at > 0


def _longest(
    words: Sequence[QuestionWord],
    free: Sequence[bool],
    start: int,
    table: TypedTable,
    language: str,
    is_common: Callable[[QuestionWord], bool],
) -> ValueMention | None:
    best = start
    choices: dict[int, list[str]] = {}
    for number, column in enumerate(table.columns):
        if column.kind != "text":
            continue
        index = _index(column.values, language)
        entries = {id(entry): entry for form in words[start].forms for entry in index.by_form.get(form, ())}
        for value, text in entries.values():
            end = start + len(value)
            if end < best or end > len(words) or not all(free[start:end]):
                continue
            if not _is_same(words[start:end], value, is_common):
                continue
            if value[0].is_number and len(value) == 1 and not _may_name(words, start, column, language):
                continue
            if _is_another_size(words, end, text, len(value), language):
                continue
            if end > best:
                best, choices = end, {}
            choices.setdefault(number, []).append(text)
    if not choices:
        return None
    exact = {number: _closest(words[start:best], texts, language) for number, texts in choices.items()}
    named = tuple((table.columns[number], texts) for number, texts in sorted(exact.items()))
    return ValueMention(start=start, end=best, choices=named, exact=True)


def _is_another_size(words: Sequence[QuestionWord], end: int, text: str, length: int, language: str) -> bool:
    is_core = len(words_of(text, language)) > length
    return is_core and end < len(words) and any(map(str.isdigit, words[end].text))


def _may_name(words: Sequence[QuestionWord], at: int, column: TypedColumn, language: str) -> bool:
    if not column.is_number_read_as_text:
        return True
    number = words[at].text
    if len(number) >= _LONG_NUMBER and not (len(number) == _LONG_NUMBER and number[:2] in {"19", "20"}):
        return True
    before = words[max(at - 2, 0) : at]
    own = {form for word in header_words(column.name, language) for form in word.forms}
    return any(not own.isdisjoint(word.forms) for word in before)


def _closest(said: Sequence[QuestionWord], texts: Sequence[str], language: str) -> tuple[str, ...]:
    folded = [word.folded for word in said]
    same = [text for text in texts if [word.folded for word in words_of(text, language)] == folded]
    return tuple(dict.fromkeys(same or texts))


def _is_same(
    said: Sequence[QuestionWord], value: Sequence[QuestionWord], is_common: Callable[[QuestionWord], bool]
) -> bool:
    if not all(not one.forms.isdisjoint(other.forms) for one, other in zip(said, value, strict=True)):
        return False
    if all(map(is_common, said)) or (len(said) == 1 and len(said[0].text) == 1 and not said[0].is_han):
        if len(said) > 1 and [word.folded for word in said] == [word.folded for word in value]:
            return True
        return [word.text for word in said] == [word.text for word in value] and not said[0].text.islower()
    return True
