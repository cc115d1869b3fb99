"""From new traces, so that a killed process loses none."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from bot.port import NO_WORKSPACE, Place
from bot.store.feedback import is_direct
from bot.store.gaps import NOT_FOUND, OPERATOR, UNGROUNDED, AskedTurn, GapQuestion, Gaps
from rag_engine.errors import RagError
from rag_engine.steps.fuse import judge_of
from rag_engine.types import TurnId
from rag_engine.verified.best_match import QuestionMatcher
from rag_engine.verified.question_groups import GroupedQuestion, by_typicality, group_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.store.gaps import Gap
    from rag_engine.ports import Embedder
    from rag_engine.storage.history import AskedQuestion, SqliteHistory
    from rag_engine.storage.sqlite.database import Database

    NameGap: TypeAlias = Callable[[Sequence[str]], Awaitable[str]]

_BATCH: Final = 200
_UNFINISHED: Final = frozenset({"received", "placeholder", "streaming"})
_WITHOUT_SEARCH: Final = frozenset({"", "summarise", "chat", "clarify", "edit"})
_LOCAL: Final = Place(platform=OPERATOR, workspace="local", channel="")
_SINGLE: Final = "single:"
_LEAST_NAMED: Final = 2
_MOST_IN_NAME: Final = 8
_NAMED_AT_ONCE: Final = 5

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    asked: AskedQuestion
    question: str
    place: Place
    person: str
    private: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GapIntake:
    gaps: Gaps
    history: SqliteHistory
    embedder: Embedder
    matcher: QuestionMatcher
    name: NameGap | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    @classmethod
    def over(
        cls, database: Database, history: SqliteHistory, embedder: Embedder, name: NameGap | None = None
    ) -> GapIntake:
        matcher = QuestionMatcher(embedder=embedder, contrast=judge_of(embedder).contrast)
        return cls(gaps=Gaps(database), history=history, embedder=embedder, matcher=matcher, name=name)

    async def update(self) -> None:
        async with self._lock:
            await self._tidy()
            while await self._read_batch():
                pass
            await self._read_ratings()
            await self._name_gaps()

    async def _tidy(self) -> None:
        await self.gaps.tidy()
        known = await self.gaps.questions()
        texts = await self.history.asked({each.turn for each in known})
        await self.gaps.tidy([each.id for each in known if each.turn not in texts])
        old = [each for each in known if each.model != self.embedder.model and each.turn in texts]
        for start in range(0, len(old), _BATCH):
            batch = old[start : start + _BATCH]
            rows = await self.embedder.embed([texts[each.turn].text for each in batch], side="query")
            vectors = {each.id: row for each, row in zip(batch, rows, strict=True)}
            await self.gaps.replace_vectors(vectors, self.embedder.model)

    async def _read_batch(self) -> bool:
        progress = await self.gaps.progress()
        batch = await self.history.asked_since(progress, limit=_BATCH)
        rows = await self.gaps.answers({each.turn.rpartition("-")[0] for each in batch})
        found: list[_Found] = []
        answered: list[str] = []
        reached = progress
        for asked in batch:
            row = rows.get(asked.turn.rpartition("-")[0])
            if row is not None and row.state in _UNFINISHED:
                break
            reached = asked.ordinal
            if asked.route in _WITHOUT_SEARCH or not asked.text.strip():
                continue
            if row is None and asked.conversation.startswith(_SINGLE):
                row = _operators(asked)
            if row is None or row.turn != asked.turn or row.state == "withdrawn":
                continue
            if asked.grounded:
                answered.append(row.id)
            else:
                found.append(await self._found(asked, row, UNGROUNDED if asked.cited else NOT_FOUND))
        if reached == progress:
            return False
        moved = await self.gaps.advance(
            progress, reached, found=await self._grouped(found), answered=answered
        )
        return moved and len(batch) == _BATCH

    async def _read_ratings(self) -> None:
        rated = await self.gaps.rated_down()
        asked = await self.history.asked({_turn(each) for each in rated})
        found = [
            await self._found(asked[_turn(each)], each, each.reason) for each in rated if _turn(each) in asked
        ]
        if found:
            progress = await self.gaps.progress()
            await self.gaps.advance(progress, progress, found=await self._grouped(found))

    async def _found(self, asked: AskedQuestion, row: AskedTurn, why: str) -> _Found:
        place = row.place
        direct = is_direct(place.platform, place.workspace, place.channel)
        if place.workspace == NO_WORKSPACE:
            others = [each for each in await self.gaps.workspaces(place.platform) if each != NO_WORKSPACE]
            place = replace(place, workspace=others[0]) if len(others) == 1 else place
        return _Found(
            asked=asked,
            question=row.id,
            place=place,
            person=row.person,
            private=row.private or direct,
            why=why,
        )

    async def _grouped(self, found: Sequence[_Found]) -> list[GapQuestion]:
        if not found:
            return []
        known = await self._known({(each.place.platform, each.place.workspace) for each in found})
        vectors = await self.embedder.embed([each.asked.text for each in found], side="query")
        grouped: list[GapQuestion] = []
        for each, vector in zip(found, vectors, strict=True):
            others = known[each.place.platform, each.place.workspace]
            others[:] = [(identity, other) for identity, other in others if identity != each.question]
            group = (
                await group_of(each.asked.text, vector, [other for _, other in others], self.matcher)
                or new_gap_id()
            )
            others.append((each.question, GroupedQuestion(text=each.asked.text, group=group, vector=vector)))
            grouped.append(
                GapQuestion(
                    id=each.question,
                    turn=each.asked.turn,
                    gap=group,
                    place=each.place,
                    person=each.person,
                    private=each.private,
                    why=each.why,
                    knowledge_bases=each.asked.knowledge_bases,
                    at=each.asked.at,
                    model=self.embedder.model,
                    vector=vector,
                )
            )
        return grouped

    async def _known(
        self, buckets: set[tuple[str, str]]
    ) -> dict[tuple[str, str], list[tuple[str, GroupedQuestion]]]:
        known = [each for each in await self.gaps.questions() if each.bucket in buckets]
        texts = await self.history.asked({each.turn for each in known})
        grouped: dict[tuple[str, str], list[tuple[str, GroupedQuestion]]] = {one: [] for one in buckets}
        for each in known:
            if each.turn in texts:
                question = GroupedQuestion(text=texts[each.turn].text, group=each.gap, vector=each.vector)
                grouped[each.bucket].append((each.id, question))
        return grouped

    async def _name_gaps(self) -> None:
        if self.name is None:
            return
        of_gaps: dict[str, list[GapQuestion]] = {}
        for each in await self.gaps.questions():
            of_gaps.setdefault(each.gap, []).append(each)
        named = 0
        for identity, gap in (await self.gaps.all()).items():
            chosen = _named_from(of_gaps.get(identity, []))
            if named < _NAMED_AT_ONCE and _needs_name(gap, chosen):
                named += 1
                await self._name(gap, chosen, self.name)

    async def _name(self, gap: Gap, chosen: Sequence[GapQuestion], write: NameGap) -> None:
        asked = await self.history.asked({each.turn for each in chosen})
        try:
            name = await write([each.text for each in asked.values()])
        except (RagError, TimeoutError) as error:
            _log.warning("a gap stays without a name: %s", type(error).__name__)
            return
        await self.gaps.rename(gap.id, name, sorted(asked))


def _needs_name(gap: Gap, chosen: Sequence[GapQuestion]) -> bool:
    known = {each.turn for each in chosen}
    if len(chosen) < _LEAST_NAMED:
        return False
    return not gap.name or len(chosen) >= 2 * len(gap.named_from) or not set(gap.named_from) & known


def _named_from(questions: Sequence[GapQuestion]) -> list[GapQuestion]:
    places: dict[tuple[str, ...], list[GapQuestion]] = {}
    for each in questions:
        if not each.private:
            key = (*each.bucket, each.place.channel)
            places.setdefault(key, []).append(each)
    if not places:
        return []
    most = max(places.values(), key=len)
    order = by_typicality(np.stack([each.vector for each in most]))
    return [most[place] for place in order[:_MOST_IN_NAME]]


def _operators(asked: AskedQuestion) -> AskedTurn:
    return AskedTurn(id=asked.turn, place=_LOCAL, person="", private=False, state="final", turn=asked.turn)


def _turn(row: AskedTurn) -> TurnId:
    return TurnId(row.turn)


def new_gap_id() -> str:
    """No button takes it for a page."""
    return f"g{secrets.token_hex(6)}"
