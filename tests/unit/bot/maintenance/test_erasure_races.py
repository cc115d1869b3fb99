"""Writers that began before `footnote forget`, interleaved with it at random: no table keeps a word or an id of the person."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from bot import settings
from bot.composition import application as composition
from bot.composition.chat_service import service
from bot.conversation.turn.recorder import FailureTraces, TurnRecorder
from bot.maintenance.data_files import CATALOG, CHAT
from bot.maintenance.erasure import eraser
from bot.port import IncomingMessage, Person, Place
from bot.store.channel_sources import ChannelSources
from bot.store.channel_talk import ChannelTalk
from bot.store.expert_requests import ExpertPost, ExpertRequest, ExpertRequests
from bot.store.gaps import GapQuestion, Gaps
from bot.store.turns import ChatTurn, Turns
from rag_engine.storage.concurrency.worker_liveness import working
from rag_engine.storage.history import SqliteHistory
from rag_engine.types import ConversationId, KnowledgeBaseId, Trace, Turn, TurnId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.maintenance.erasure.eraser import Eraser
    from bot.store.channel_sources import ChannelSource
    from rag_engine.storage.sqlite.database import Database, Row, Transaction

    Step = Callable[[], Awaitable[object]]

pytestmark = pytest.mark.process

SEEDS = 200
PLACE = Place(platform="slack", workspace="T1", channel="C1", thread="1.0")
ANN = Person(id="UANN", name="Ann")


@dataclass
class Interleaved:
    """Before each call of the database, some steps of the writers are taken."""

    database: Database
    take: Callable[[], Awaitable[None]]

    @property
    def path(self) -> Path:
        return self.database.path

    async def fetch(self, sql: str, parameters: tuple[object, ...] = ()) -> list[Row]:
        await self.take()
        return await self.database.fetch(sql, parameters)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction]:
        await self.take()
        async with self.database.transaction() as transaction:
            yield transaction


@dataclass
class Scene:
    """Everything of one person, `number` in each id and word."""

    number: int
    chat: Database
    engine: Database
    source: ChannelSource
    chance: random.Random
    writers: list[list[Step]] = field(default_factory=list["list[Step]"])

    def __post_init__(self) -> None:
        self.word, self.ben = (
            f"zword{self.number}z",
            Person(id=f"UBEN{self.number}X", name=f"Zben{self.number}z"),
        )
        self.turns, self.history = Turns(self.chat), SqliteHistory(self.engine)
        self.gaps, self.experts = Gaps(self.chat), ExpertRequests(self.chat)
        self.conversation = ConversationId(f"slack:T1:C1:{self.number}")
        self.rate = self.chance.choice((0.02, 0.1, 0.5))
        self.old = self.asked("old", self.ben)

    def asked(self, name: str, person: Person) -> ChatTurn:
        text = self.word if person is self.ben else "What?"
        message = f"{name}{self.number}"
        return ChatTurn(
            id=f"{name}{self.number}", place=PLACE, message=message, person=person, question=text,
            conversation=self.conversation,
        )  # fmt: skip

    async def take(self) -> None:
        if self.chance.random() < self.rate:
            await self.step()

    async def step(self) -> bool:
        waiting = [writer for writer in self.writers if writer]
        if waiting:
            await self.chance.choice(waiting).pop(0)()
        return bool(waiting)

    async def begin(self) -> None:
        """What is there before, and what each writer has read."""
        await self.turns.claim(self.old)
        await self.answer(self.old, [])
        await self.turns.save(replace(self.old, state="final", turn=self.old.engine_turn))
        gap = GapQuestion(
            id=self.old.id, turn=self.old.engine_turn, gap=f"g{self.number}", place=PLACE, person=self.ben.id,
            private=False, why="not_found", knowledge_bases=(), at=1.0, model="m",
            vector=np.zeros(2, dtype=np.float32),
        )  # fmt: skip
        request = ExpertRequest(
            id=f"r{self.number}", knowledge_base=KnowledgeBaseId("kb"), platform="slack", workspace="T1",
            channel="C1", thread="1.0", message=self.old.message, answer_id=self.old.id, private=False,
            person=self.ben.id, name=self.ben.name, language="en", question=self.word, body=self.word,
            state="draft", expert_channel="C9",
        )  # fmt: skip
        of_ann = replace(request, id=f"a{self.number}", person=ANN.id, name=ANN.name, question="", body="",
                         answer_id=f"ann{self.number}")  # fmt: skip
        to_ben = ExpertPost(request=of_ann.id, hop=0, person=self.ben.id, platform="slack", workspace="T1",
                            channel="D1")  # fmt: skip
        said = IncomingMessage(
            id=f"m{self.number}", place=PLACE.parent, person=self.ben, text=self.word, at=1.0, addressed=False,
        )  # fmt: skip
        ann = self.asked("ann", ANN)
        for turn in (ann, self.asked("new", self.ben), self.asked("bad", self.ben)):
            await self.turns.claim(turn)
        await self.experts.add(of_ann)
        await self.experts.keep_post(to_ben)
        talk = ChannelTalk(self.chat)
        await talk.put(self.source, replace(said, id=f"n{self.number}"), edited=False)
        self.writers = [
            self.turn(ann, [self.old.engine_turn]),
            self.turn(self.asked("new", self.ben), []),
            [lambda: self.fails(self.asked("bad", self.ben))],
            [lambda: self.turns.rate(self.old, self.ben.id, "down"),
             lambda: self.turns.explain_rating(self.old, self.ben.id, "wrong", note=self.word)],
            [lambda: self.notes(gap), lambda: self.gaps.rename(gap.gap, self.word, [gap.turn])],
            [lambda: self.experts.add(request),
             lambda: self.experts.change(request, replace(request, state="sending"))],
            [lambda: self.experts.keep_post(replace(to_ben, post="p", state="open")),
             lambda: self.experts.keep_post(replace(to_ben, post="p", state="asked"))],
            [lambda: self.history.rename(self.conversation, self.word),
             lambda: self.history.tag(self.conversation, [self.word])],
        ]  # fmt: skip
        self.chance.shuffle(self.writers)

    async def notes(self, gap: GapQuestion) -> None:
        progress = await self.gaps.progress()
        await self.gaps.advance(progress, progress, found=[gap])

    async def answer(self, turn: ChatTurn, history: list[TurnId]) -> None:
        texts = (("user", f"{turn.engine_turn}-question"), ("assistant", turn.engine_turn))
        written = [
            Turn(
                id=TurnId(name),
                conversation=self.conversation,
                role=cast("Any", role),
                text=self.word,
                at=1.0,
            )
            for role, name in texts
        ]
        trace = Trace(
            turn=turn.engine_turn, conversation=self.conversation, at=1.0, seconds={},
            details={"question": self.word, "history": history},
        )  # fmt: skip
        await self.history.write(written, trace)

    def turn(self, turn: ChatTurn, history: list[TurnId]) -> list[Step]:
        """As the answer writer stores it."""
        recorder = TurnRecorder(self.turns, turn)

        async def ends() -> None:
            await recorder.save(turn=turn.engine_turn)
            if recorder.forgotten:
                await self.history.forget([turn.engine_turn, TurnId(f"{turn.engine_turn}-question")])

        return [
            lambda: recorder.save("streaming"),
            lambda: self.answer(turn, history),
            ends,
            lambda: recorder.save("final"),
        ]

    async def fails(self, turn: ChatTurn) -> None:
        async def forget(identity: TurnId) -> None:
            await self.history.forget([identity])

        async def keep(trace: Trace) -> None:
            await self.step()  # `forget` may run between
            await self.history.keep(trace)

        recorder = TurnRecorder(self.turns, turn)
        await recorder.save("failed")
        await FailureTraces(keep=keep, turns=self.turns, forget=forget).note_turn(recorder)


@pytest.fixture
async def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Eraser]:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    chosen = settings.read()
    async with composition.application(chosen) as application, service(application):
        pass
    async with eraser.opened(chosen) as made:
        yield made


async def tables(database: Database) -> dict[str, str]:
    """The content of each table, as one text."""
    named = await database.fetch(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return {name: str(await database.fetch(f'SELECT * FROM "{name}"')) for (name,) in named}  # noqa: S608


async def test_no_writer_that_began_before_brings_anything_back(opened: Eraser) -> None:
    chat, engine = opened.databases[CHAT], opened.databases[CATALOG]
    sources = ChannelSources(chat)
    await sources.add(KnowledgeBaseId("kb"), PLACE.parent, name="general", asked="1")
    (source,) = await sources.all()
    left: list[str] = []
    with working(opened.settings.data_dir / "workers"):
        for seed in range(SEEDS):
            scene = Scene(
                number=1000 + seed, chat=chat, engine=engine, source=source, chance=random.Random(seed)
            )
            await scene.begin()
            for _ in range(scene.chance.randrange(12)):
                await scene.step()
            marks = await opened.finder.person(scene.ben.id, files=False)
            interleaved = cast(
                "Any", {CHAT: Interleaved(chat, scene.take), CATALOG: Interleaved(engine, scene.take)}
            )
            running = replace(opened, databases=interleaved, poll_seconds=0.0)
            await running._exclude(marks)
            _, writing = await running.erase_rows(marks, writing_seconds=30)
            assert not writing
            while await scene.step():
                pass
            for name, content in {**await tables(chat), **await tables(engine)}.items():
                left += [
                    f"{seed}: {name}"
                    for each in (scene.word, scene.ben.id, scene.ben.name)
                    if each in content
                ]
    assert left == []
