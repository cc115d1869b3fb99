"""What is stored of channels: events and pages in any order, threads, deletions, opting out."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.port import HistoryPage, IncomingMessage, Person, Place
from bot.store.channel_sources import ChannelSources
from bot.store.channel_talk import ChannelTalk
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from bot.store.channel_sources import ChannelSource

PLACE = Place(platform="slack", workspace="T1", channel="C1")
DAY = "day:2026-11-24"
BASE = 1_795_500_000


@dataclass(kw_only=True)
class Store:
    sources: ChannelSources
    talk: ChannelTalk
    source: ChannelSource
    now: list[float] = field(default_factory=lambda: [100.0])

    async def texts(self, document: str = DAY) -> list[str]:
        return [each.text for each in await self.sources.talk(self.source, document)]

    async def page(
        self,
        messages: Sequence[IncomingMessage],
        *,
        cursor: str = "",
        threads: Sequence[str] = (),
        as_of: float = 1000.0,
        seen: Sequence[str] | None = None,
    ) -> None:
        span = await self.sources.span(self.source)
        assert span is not None
        page = HistoryPage(
            messages=tuple(messages),
            seen=tuple(seen if seen is not None else [each.id for each in messages]),
            threads=tuple(threads),
            cursor=cursor,
        )
        await self.talk.put_page(self.source, span, page, messages, as_of=as_of)

    async def due(self) -> set[str]:
        return {each.document for each in await self.sources.due(self.source, live=False)}

    async def settle(self) -> None:
        for each in await self.sources.due(self.source, live=False):
            await self.sources.wrote(self.source, each)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with connect(tmp_path / "chat.sqlite", scripts=files("bot.store") / "sql") as database:
        sources = ChannelSources(database)
        now = [100.0]
        source = await sources.add(KnowledgeBaseId("kb"), PLACE, name="#general", asked="")
        assert source is not None
        yield Store(sources=sources, talk=ChannelTalk(database, clock=lambda: now[0]), source=source, now=now)


def said(number: int, text: str, *, person: str = "UBEN", thread: int = 0) -> IncomingMessage:
    root = f"{BASE + thread}.000000" if thread else ""
    identity = f"{BASE + number}.000000"
    return IncomingMessage(
        id=identity,
        place=Place(platform="slack", workspace="T1", channel="C1", thread=root or identity),
        person=Person(id=person, name=person.lower()),
        text=text,
        in_thread=bool(root),
        uri=f"https://x.slack.com/archives/C1/p{BASE + number}",
        at=float(BASE + number),
    )


async def test_a_channel_is_a_source_once(store: Store) -> None:
    again = await store.sources.add(KnowledgeBaseId("other"), PLACE, name="#general", asked="")
    assert again is None


async def test_a_first_version_never_replaces_an_edit_nor_brings_back_what_was_deleted(store: Store) -> None:
    await store.talk.put(store.source, said(1, "second"), edited=True)
    await store.talk.put(store.source, said(1, "first"), edited=False)
    assert await store.texts() == ["second"]
    await store.talk.delete(store.source, said(2, "").id)
    await store.talk.put(store.source, said(2, "late"), edited=False)
    await store.talk.put(store.source, said(2, "later"), edited=True)
    assert await store.texts() == ["second"]


async def test_a_page_that_was_requested_before_an_event_does_not_undo_it(store: Store) -> None:
    await store.talk.put(store.source, said(1, "old"), edited=False)
    await store.talk.put(store.source, said(2, "gone"), edited=False)
    store.now[0] = 500.0
    await store.talk.put(store.source, said(1, "new"), edited=True)
    await store.talk.delete(store.source, said(2, "").id)
    await store.talk.put(store.source, said(3, "just said"), edited=False)
    await store.page([said(2, "gone"), said(1, "old")], as_of=400.0)
    assert await store.texts() == ["new", "just said"]


async def test_a_later_page_removes_what_it_no_longer_has_and_only_within_its_bounds(store: Store) -> None:
    for number in range(1, 6):
        await store.talk.put(store.source, said(number, f"message {number}"), edited=False)
    await store.talk.put(store.source, said(9, "a reply", thread=5), edited=False)
    await store.page([said(5, "message 5"), said(3, "message 3")], cursor=said(3, "").id)
    assert await store.texts() == ["message 1", "message 2", "message 3"]
    assert await store.texts(f"thread:{said(5, '').id}") == ["message 5", "a reply"]
    await store.page([said(1, "message 1")])
    assert await store.texts() == ["message 1", "message 3"]
    assert await store.sources.span(store.source) is None


async def test_a_message_moves_from_its_day_to_its_thread_with_the_first_reply(store: Store) -> None:
    await store.talk.put(store.source, said(1, "question"), edited=False)
    await store.settle()
    await store.talk.put(store.source, said(2, "answer", thread=1), edited=False)
    thread = f"thread:{said(1, '').id}"
    assert await store.texts() == []
    assert await store.texts(thread) == ["question", "answer"]
    assert await store.due() == {DAY, thread}
    uris = await store.sources.documents(store.source)
    assert len(uris) == len(set(uris)) == 2


async def test_a_reply_that_comes_before_its_first_message_gathers_it(store: Store) -> None:
    await store.talk.put(store.source, said(2, "answer", thread=1), edited=False)
    await store.page([said(1, "question")], threads=[])
    assert await store.texts(f"thread:{said(1, '').id}") == ["question", "answer"]
    assert await store.sources.thread(store.source) == (said(1, "").id, "")


async def test_a_change_while_a_document_is_written_keeps_it_due(store: Store) -> None:
    await store.talk.put(store.source, said(1, "one"), edited=False)
    (due,) = await store.sources.due(store.source, live=True)
    await store.talk.put(store.source, said(2, "two"), edited=False)
    await store.sources.wrote(store.source, due)
    assert await store.due() == {DAY}
    assert await store.sources.has_live()
    await store.settle()
    assert await store.due() == set()
    assert not await store.sources.has_live()


async def test_who_opts_out_is_removed_and_never_stored_until_they_opt_in(store: Store) -> None:
    await store.talk.put(store.source, said(1, "mine"), edited=False)
    await store.talk.put(store.source, said(2, "theirs", person="UCLEO"), edited=False)
    await store.settle()
    await store.sources.opt_out("slack", "UBEN")
    assert await store.texts() == ["theirs"]
    assert await store.due() == {DAY}
    await store.talk.put(store.source, said(3, "again"), edited=True)
    await store.page([said(3, "again"), said(2, "theirs", person="UCLEO"), said(1, "mine")])
    assert await store.texts() == ["theirs"]
    await store.sources.opt_in("slack", "UBEN")
    await store.talk.put(store.source, said(4, "back"), edited=False)
    assert await store.texts() == ["theirs", "back"]


async def test_what_a_person_removed_is_not_stored_again(store: Store) -> None:
    await store.talk.put(store.source, said(1, "one"), edited=False)
    (due,) = await store.sources.due(store.source, live=True)
    await store.sources.give_up(store.source, due)
    await store.talk.put(store.source, said(2, "two"), edited=False)
    assert await store.texts() == []
    assert await store.due() == set()


async def test_news_are_read_back_to_a_day_before_the_newest_message_once(store: Store) -> None:
    await store.page([said(0, "old"), said(90_000, "newer")])
    await store.sources.see("slack")
    for _ in range(2):
        await store.sources.read_news("slack")
    span = await store.sources.span(store.source)
    assert span is not None
    assert (span.before, span.after) == ("", said(0, "").id)
    await store.page([said(90_000, "newer")])
    assert await store.sources.span(store.source) is None


async def test_its_knowledge_base_takes_it_along(store: Store) -> None:
    await store.talk.put(store.source, said(1, "one"), edited=False)
    await store.sources.forget_others({KnowledgeBaseId("kb")})
    assert await store.sources.all() != []
    await store.sources.forget_others(set())
    assert await store.sources.all() == []
    assert await store.texts() == []


DAY_SECONDS = 86_400


@pytest.mark.parametrize(
    ("away", "reaches"),
    [(60, 3), (2 * DAY_SECONDS, 2)],
)
async def test_after_a_long_downtime_more_is_compared_than_after_a_restart(
    store: Store, away: float, reaches: int
) -> None:
    for day in (0, 5, 38, 40):
        await store.talk.put(store.source, said(day * DAY_SECONDS + 1, f"day {day}"), edited=False)
    await store.page([], seen=[said(day * DAY_SECONDS + 1, "").id for day in (0, 5, 38, 40)])
    store.sources.clock = lambda: 1_000.0
    await store.sources.see("slack")
    store.sources.clock = lambda: 1_000.0 + away
    await store.sources.read_news("slack")
    span = await store.sources.span(store.source)
    assert span is not None
    ids = [said(day * DAY_SECONDS + 1, "").id for day in (0, 5, 38, 40)]
    assert span.after == ids[reaches - 1]


async def test_no_more_than_a_bound_is_compared(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.store.channel_sources._MOST_COMPARED", 2)
    for number in range(1, 6):
        await store.talk.put(store.source, said(number, f"message {number}"), edited=False)
    await store.page([], seen=[said(number, "").id for number in range(1, 6)])
    await store.sources.read_news("slack")
    span = await store.sources.span(store.source)
    assert span is not None
    assert span.after == said(3, "").id
