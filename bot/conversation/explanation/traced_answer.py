from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rag_engine.types import Trace

_UNSEARCHED = frozenset({"chat", "clarify"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedPassage:
    document: DocumentId
    anchor: str
    kind: Literal["used", "closest"]
    number: int

    legs: tuple[tuple[str, int, float], ...]
    """Leg, rank and score."""
    score: float
    shortened: bool
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedAnswer:
    question: str
    understood_as: str
    further_queries: tuple[str, ...]
    knowledge_bases: frozenset[str]
    scope: str
    filter: str
    filter_by_model: bool
    filter_left_out: tuple[str, ...]
    searched: bool
    found: Mapping[str, int]
    weights: Mapping[str, float]
    reranked: bool
    probability: tuple[float, float] | None
    """Of an answer in the passages, and the least that is needed."""
    passages: tuple[TracedPassage, ...]
    left_out: int
    model: str
    research: Mapping[str, object]
    agent: Mapping[str, object]
    sql: str
    """Of a computed answer."""


def traced_answer(trace: Trace) -> TracedAnswer:
    details = dict(trace.details)
    question, searched_for = str(details.get("question", "")), str(details.get("searched_for", ""))
    judged = _table(details.get("evidence_judged"))
    understood = _table(details.get("understanding"))
    filter_ = _table(details.get("filter"))
    found = {name: int(_number(count)) for name, count in _table(details.get("found")).items()}
    return TracedAnswer(
        question=question,
        understood_as="" if searched_for in ("", question) else searched_for,
        further_queries=tuple(dict.fromkeys(_further(understood))),
        knowledge_bases=frozenset(str(one) for one in _items(details.get("knowledge_bases"))),
        scope=str(details.get("scope", "")),
        filter=str(filter_.get("used", "")),
        filter_by_model=filter_.get("by") == "model",
        filter_left_out=tuple(str(one) for one in _items(filter_.get("left_out"))),
        searched=bool(found) and details.get("route") not in _UNSEARCHED,
        found=found,
        weights={name: _number(share) for name, share in _table(details.get("shares")).items()},
        reranked="reranked" in details,
        probability=(_number(judged.get("probability")), _number(judged.get("line"))) if judged else None,
        passages=(*_passages(details, "passages", "used"), *_passages(details, "closest", "closest")),
        left_out=int(_number(details.get("passages_left_out"))),
        model=str(details.get("model", "")),
        research=_table(details.get("research")),
        agent=_table(details.get("agent")),
        sql=str(_table(details.get("computed")).get("sql", "")),
    )


def _further(understood: Mapping[str, object]) -> Iterator[str]:
    for name in ("queries", "keywords"):
        yield from (str(one) for one in _items(understood.get(name)))
    yield from (str(one) for one in _table(understood.get("translations")).values())


def _passages(
    details: Mapping[str, object], name: str, kind: Literal["used", "closest"]
) -> Iterator[TracedPassage]:
    cut = _items(details.get("passages_cut")) if kind == "used" else []
    shortened = {int(_number(one)) for one in cut}
    citations = [_table(one) for one in _items(details.get("citations"))]
    for number, one in enumerate(_items(details.get(name)), 1):
        passage = _table(one)
        cited = [int(_number(each.get("number"))) for each in citations if _is_same(each, passage)]
        legs = (_table(leg) for leg in _items(passage.get("legs")))
        yield TracedPassage(
            document=DocumentId(str(passage.get("document", ""))),
            anchor=str(passage.get("anchor", "")),
            kind=kind,
            number=number,
            legs=tuple(
                (str(leg.get("leg")), int(_number(leg.get("rank"))), _number(leg.get("score")))
                for leg in legs
            ),
            score=_number(passage.get("score")),
            shortened=number in shortened,
            cited=tuple(dict.fromkeys(cited)),
        )


def _is_same(citation: Mapping[str, object], passage: Mapping[str, object]) -> bool:
    return bool(passage.get("chunk")) and citation.get("chunk") == passage.get("chunk")


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
