from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_engine.retrieval.queries.query_variants import normal
from rag_engine.text.analyzer import query_tokens
from rag_engine.types import ChunkId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Hit

StepState: TypeAlias = Literal["waiting", "running", "done", "failed"]
Ending: TypeAlias = Literal[
    "sufficient", "rounds", "searches", "tokens", "seconds", "nothing_new", "no_questions", "unreadable", ""
]
"""Why no further search follows; empty: one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    text: str
    state: StepState = "waiting"
    tool: str = ""
    """The tool that is called; `text` is then what for."""

    @property
    def shown(self) -> str:
        return ": ".join(filter(None, (self.tool, self.text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    text: str
    passages: tuple[ChunkId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuestion:
    text: str
    round: int = 1
    state: StepState = "waiting"
    passages: tuple[ChunkId, ...] = ()
    """Best first."""
    facts: tuple[Fact, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    question: str
    parts: tuple[SubQuestion, ...] = ()
    passages: Mapping[ChunkId, Hit] = field(default_factory=dict[ChunkId, "Hit"])
    missing: tuple[str, ...] = ()
    """After the last round."""
    contradictions: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Queries that were asked before."""
    faults: tuple[str, ...] = ()
    ending: Ending = ""

    @property
    def round(self) -> int:
        return max((part.round for part in self.parts), default=0)

    @property
    def open_parts(self) -> tuple[SubQuestion, ...]:
        return tuple(part for part in self.parts if part.state in ("waiting", "running"))

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        return tuple(PlanStep(text=part.text, state=part.state) for part in self.parts)

    @property
    def unanswered(self) -> tuple[str, ...]:
        if self.ending == "sufficient":
            return ()
        last = [part for part in self.parts if part.round == self.round]
        return self.missing or tuple(part.text for part in last if not part.facts)

    def with_part(self, part: SubQuestion, hits: Sequence[Hit] = ()) -> Findings:
        """Replaces the one with the same text."""
        parts = tuple(part if each.text == part.text else each for each in self.parts)
        known = {hit.chunk.id: hit for hit in hits}
        return replace(self, parts=parts, passages={**known, **self.passages})

    def asking(self, questions: Sequence[str], *, most: int) -> Findings:
        asked, fresh, refused = [_words(part.text) for part in self.parts], list[str](), list[str]()
        for question in questions:
            words = _words(question)
            if any(_is_repeated(words, before) for before in asked):
                refused.append(question)
            elif len(fresh) < most:
                asked.append(words)
                fresh.append(question)
        number = self.round + 1
        parts = (*self.parts, *(SubQuestion(text=text, round=number) for text in fresh))
        missing = () if fresh else self.missing
        return replace(self, parts=parts, missing=missing, refused=(*self.refused, *refused))

    def found_nothing_new(self) -> bool:
        before = {one for part in self.parts if part.round < self.round for one in part.passages}
        last = [part for part in self.parts if part.round == self.round]
        return not any(set(part.passages) - before for part in last)

    def best(self, most: int) -> tuple[Hit, ...]:
        """What facts rest on first, then the best of each sub-question."""
        ranked: dict[ChunkId, None] = {}
        for part in self.parts:
            ranked.update(dict.fromkeys(one for fact in part.facts for one in fact.passages))
        for place in range(max((len(part.passages) for part in self.parts), default=0)):
            ranked.update(
                dict.fromkeys(part.passages[place] for part in self.parts if place < len(part.passages))
            )
        known = [self.passages[one] for one in ranked if one in self.passages][:most]
        return tuple(replace(hit, rank=rank) for rank, hit in enumerate(known, 1))


def _words(text: str) -> frozenset[str]:
    return frozenset(query_tokens(text)) or frozenset({normal(text)})


def _is_repeated(words: frozenset[str], before: frozenset[str]) -> bool:
    return words == before
