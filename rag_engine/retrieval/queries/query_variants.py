from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from rag_engine.metadata.reply import filter_of_reply
from rag_engine.retrieval.queries.understood_message import Understanding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rag_engine.types import Leg, Route

MOST_QUERIES: Final = 4
_MOST_KEYWORDS: Final = 6
_MOST_TRANSLATIONS: Final = 3
_LONGEST_QUERY: Final = 300
_LONGEST_KEYWORD: Final = 60
_LONGEST_COUNTER_QUESTION: Final = 300
_LONGEST_OPTION: Final = 75
_MOST_OPTIONS: Final = 4
_UNSURE: Final = 0.35
_OWN_WORDS, _FURTHER, _TRANSLATED, _KEYWORDS = 0.3, 0.7, 0.8, 0.3
_QUOTES: Final = "\"'“”„«»「」`"
_ADDRESS: Final = re.compile(
    r"\w://|www\.|[\[\]<>`@#]|\b[\w-]+\.(?:com|net|org|io|de|cn|ru)\b", re.IGNORECASE
)
_ROUTES: Final[Mapping[str, Route]] = {
    "search": "search",
    "chat": "chat",
    "clarify": "clarify",
    "edit": "edit",
    "summarise": "summarise",
    "summarize": "summarise",
    "research": "research",
    "compute": "compute",
    "agent": "agent",
}


def _route(value: object) -> object:
    return _ROUTES.get(str(value).strip().lower(), "search")


def _share(value: object) -> object:
    try:
        share = float(cast("str", value))
    except (TypeError, ValueError):
        return 0.5
    return 0.5 if math.isnan(share) else min(max(share, 0.0), 1.0)


def _text(value: object) -> object:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> object:
    listed = cast("list[object]", value if isinstance(value, list) else [value])
    return [text for text in listed if isinstance(text, str)]


def _by_language(value: object) -> object:
    found = cast("dict[object, object]", value if isinstance(value, dict) else {})
    return {str(code): text for code, text in found.items() if isinstance(text, str)}


class UnderstandingReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    route: Annotated[
        Literal["search", "chat", "clarify", "edit", "summarise", "research", "compute", "agent"],
        BeforeValidator(_route),
    ] = "search"
    confidence: Annotated[float, BeforeValidator(_share)] = 1.0
    question: Annotated[str, BeforeValidator(_text)] = ""
    queries: Annotated[list[str], BeforeValidator(_texts)] = []
    keywords: Annotated[list[str], BeforeValidator(_texts)] = []
    translations: Annotated[dict[str, str], BeforeValidator(_by_language)] = {}
    counter_question: Annotated[str, BeforeValidator(_text)] = ""
    filter: object = None
    options: Annotated[list[str], BeforeValidator(_texts)] = []

    @model_validator(mode="before")
    @classmethod
    def _says_something(cls, value: object) -> object:
        known = {"route", "question", "queries"}
        if not isinstance(value, dict) or not known & cast("dict[object, object]", value).keys():
            raise ValueError("an object with route and question is needed")
        return cast("object", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryVariant:
    text: str
    weight: float
    legs: tuple[Leg, ...] = ("lexical", "dense")


def understanding_of(reply: UnderstandingReply, asked: str) -> Understanding:
    question = cleaned(reply.question)
    queries = _distinct(reply.queries, longest=_LONGEST_QUERY)[:MOST_QUERIES]
    translations = {
        code.strip().lower(): text
        for code, said in reply.translations.items()
        if is_plausible(text := cleaned(said), asked) and len(code.strip()) == 2
    }
    filter_, left_out = filter_of_reply(reply.filter)
    understood = Understanding(
        filter=filter_,
        left_out=left_out,
        route=reply.route,
        confidence=reply.confidence,
        question=question if is_plausible(question, asked) else "",
        queries=queries,
        keywords=_distinct(reply.keywords, longest=_LONGEST_KEYWORD)[:_MOST_KEYWORDS],
        translations=dict(list(translations.items())[:_MOST_TRANSLATIONS]),
        counter_question=" ".join(reply.counter_question.split()),
        options=plain_texts(reply.options, longest=_LONGEST_OPTION)[:_MOST_OPTIONS],
    )
    return replace(understood, route=_decided(understood))


def _decided(understood: Understanding) -> Route:
    if understood.confidence < _UNSURE:
        return "search"
    if understood.route == "clarify" and not _is_counter_question(understood.counter_question):
        return "search"
    return understood.route


def _is_counter_question(text: str) -> bool:
    return (
        0 < len(text) <= _LONGEST_COUNTER_QUESTION
        and text.endswith(("?", "？"))
        and _ADDRESS.search(text) is None
    )


def is_plausible(question: str, asked: str) -> bool:
    return bool(question) and len(question) <= 3 * len(asked) + 200


def readings(searched: str, beside: str, asked: str) -> list[QueryVariant]:
    """Earlier words count less if the question may need no context."""
    found = [QueryVariant(text=searched, weight=1.0)]
    if beside:
        found.append(QueryVariant(text=beside, weight=1.0 if beside == asked else _FURTHER))
    return found


def own_words(variant: QueryVariant, understood: Understanding) -> QueryVariant:
    if not understood.question or is_same(variant.text, understood.question):
        return variant
    return replace(variant, weight=_OWN_WORDS)


def further_variants(understood: Understanding, asked: Sequence[QueryVariant]) -> tuple[QueryVariant, ...]:
    """A second reading only if no question was understood."""
    found = [QueryVariant(text=understood.question, weight=1.0)] if understood.question else [*asked[1:]]
    found += [QueryVariant(text=text, weight=_FURTHER) for text in understood.queries]
    found += [QueryVariant(text=text, weight=_TRANSLATED) for text in understood.translations.values()]
    if understood.keywords:
        words = " ".join(understood.keywords)
        found.append(QueryVariant(text=words, weight=_KEYWORDS, legs=("lexical",)))
    distinct = {normal(asked[0].text): asked[0]}
    for variant in found:
        distinct.setdefault(normal(variant.text), variant)
    return tuple(distinct.values())[1:]


def is_same(text: str, other: str) -> bool:
    return normal(text) == normal(other)


def normal(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def cleaned(text: str) -> str:
    return " ".join(text.split()).strip(_QUOTES + " ")


def plain_texts(texts: Iterable[str], *, longest: int) -> tuple[str, ...]:
    return tuple(text for text in _distinct(texts, longest=longest) if _ADDRESS.search(text) is None)


def _distinct(texts: Iterable[str], *, longest: int) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for text in map(cleaned, texts):
        if 0 < len(text) <= longest and normal(text):
            found.setdefault(normal(text), text)
    return tuple(found.values())
