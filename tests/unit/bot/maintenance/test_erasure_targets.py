"""Who, which channel and which document is meant, and what would go with them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.composition import application as composition
from bot.composition.chat_service import service
from bot.maintenance.data_files import CATALOG, CHAT
from bot.maintenance.erasure import eraser
from bot.maintenance.erasure.marks import ErasedPerson, interrupted, save
from bot.port import Person as Asker
from bot.port import Place
from bot.store.event_inbox import EventInbox
from bot.store.message_files import MessageFile, MessageFiles
from bot.store.places import Places, StoredAudience
from bot.store.turns import ChatTurn, Turns
from rag_engine.errors import UnknownDocument, UserError
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.storage.concurrency.worker_liveness import working
from rag_engine.types import ConversationId, DocumentId, Query

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.maintenance.erasure.eraser import Eraser
    from rag_engine.storage.sqlite.database import Database

pytestmark = pytest.mark.process

PLACE = Place(platform="slack", workspace="T1", channel="C1", thread="1.0")
OTHER = Place(platform="slack", workspace="T2", channel="C1")
ANN, TWIN = Asker(id="U1", name="Ann"), Asker(id="U2", name="ann")


@pytest.fixture
async def forgetter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Eraser]:
    """A data directory with two documents and an answer from one of them, and three questions of Ann, Ben and another Ann."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    chosen = settings.read()
    async with composition.application(chosen) as application, service(application):
        base = await application.catalog.open("handbook", model=application.library.embedder.model)
        for name, text in (("leave", "The leave is 28 days."), ("notice", "The notice is 30 days.")):
            path = tmp_path / f"{name}.md"
            path.write_text(text, encoding="utf-8")
            await application.library.ingestion.ingest(await blob_from_path(path), knowledge_base=base.id)
        query = Query(
            text="How many days is the leave?",
            knowledge_bases=frozenset({base.id}),
            conversation=ConversationId("slack:T1:C1:1.0"),
            limit=1,
        )
        async with aclosing(application.engine.answer(query)) as events:
            async for _ in events:
                pass
    async with eraser.opened(chosen) as opened:
        chat = opened.databases[CHAT]
        asked = [(PLACE, ANN, "1"), (PLACE, Asker(id="U9", name="Ben"), "2"), (OTHER, TWIN, "3")]
        for place, person, message in asked:
            await Turns(chat).claim(ChatTurn(place=place, message=message, person=person, question="What?"))
        yield opened


async def record(forgetter: Eraser, title: str) -> DocumentId:
    [base] = await forgetter.library.catalog.knowledge_bases()
    records = await forgetter.library.catalog.records(base.id)
    return next(each.document.id for each in records if each.document.title == title)


@pytest.mark.parametrize("wanted", ["U9", "slack:U9", "Ben", "ben"])
async def test_a_person_by_id_or_name(forgetter: Eraser, wanted: str) -> None:
    marks = await forgetter.finder.person(wanted, files=False)
    assert (marks.people, len(marks.answers)) == ((ErasedPerson(platform="slack", id="U9"),), 1)


async def test_people_of_one_name_are_distinguished_by_their_ids(forgetter: Eraser) -> None:
    with pytest.raises(
        UserError, match=r"2 people are called 'Ann': say which by the id \(slack:U1, slack:U2\)"
    ):
        await forgetter.finder.person("Ann", files=False)
    with pytest.raises(UserError, match="Nothing is stored of a person 'Zoe'"):
        await forgetter.finder.person("Zoe", files=False)


@pytest.mark.parametrize("wanted", ["slack:T1:C1"])
async def test_a_channel_by_its_full_name(forgetter: Eraser, wanted: str) -> None:
    marks = await forgetter.finder.channel(wanted)
    assert (marks.subject, len(marks.answers)) == ("channel slack:T1:C1", 2)
    counts = {(count.store, count.what): count.count for count in await forgetter.survey(marks)}
    assert counts[CATALOG, "turns of conversations"] == 2
    assert counts[CHAT, "questions"] == 2


async def test_channels_of_one_id_are_distinguished(forgetter: Eraser) -> None:
    with pytest.raises(UserError, match="There are several channels 'C1': slack:T1:C1, slack:T2:C1"):
        await forgetter.finder.channel("C1")
    with pytest.raises(
        UserError, match="Nothing is stored of a channel 'C7'; there are: slack:T1:C1, slack:T2:C1"
    ):
        await forgetter.finder.channel("C7")


async def test_a_channels_knowledge_bases_go_with_their_documents(forgetter: Eraser) -> None:
    [base] = await forgetter.library.catalog.knowledge_bases()
    audience = StoredAudience(knowledge_base=base.id, platform="slack", workspace="T2", channel="C1")
    await Places(forgetter.databases[CHAT]).admit(audience)
    marks = await forgetter.finder.channel("slack:T2:C1")
    assert len(marks.documents) == 2
    # The answer in another channel was made from one of them.
    assert len(marks.turns) == 1
    outcome = await forgetter.forget(marks)
    # The other workspace's channel has the same id.
    assert (outcome.left, outcome.bytes_in) == ((), {CHAT: 1})
    assert await forgetter.library.catalog.knowledge_bases() == []
    assert await forgetter.databases[CATALOG].fetch("SELECT count(*) FROM turns") == [(0,)]
    assert await forgetter.databases[CHAT].fetch("SELECT message FROM answers ORDER BY 1") == [("1",), ("2",)]


async def test_searching_the_bytes_keeps_the_locks_on_the_open_databases(forgetter: Eraser) -> None:
    """Without them another program that ends removes the log, with what is written later."""
    chat = forgetter.databases[CHAT]
    assert (await forgetter.forget(await forgetter.finder.person("Ben", files=False))).left == ()
    reads = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM answers').fetchall(); c.close()"
    await chat.fetch("SELECT count(*) FROM answers")
    command = [sys.executable, "-c", reads, str(chat.path)]
    await asyncio.to_thread(subprocess.run, command, check=True, timeout=30)
    assert chat.path.with_name(f"{CHAT}-wal").exists()


async def test_the_files_that_a_person_brought_go_when_that_is_said(forgetter: Eraser) -> None:
    document = await record(forgetter, "notice.md")
    [base] = await forgetter.library.catalog.knowledge_bases()
    turn = await Turns(forgetter.databases[CHAT]).of_message(PLACE, "1")
    assert turn is not None
    taken = MessageFile(
        place=PLACE,
        attachment="F1",
        answer=turn.id,
        name="notice.md",
        uri="",
        knowledge_base=base.id,
        document=document,
        message="1",
    )
    await MessageFiles(forgetter.databases[CHAT]).keep([taken])
    assert (await forgetter.finder.person("U1", files=False)).documents == ()
    marks = await forgetter.finder.person("U1", files=True)
    assert [each.document for each in marks.documents] == [document]
    assert (await forgetter.forget(marks)).left == ()
    # That it was dealt with is still known: it is not taken in again.
    known = await MessageFiles(forgetter.databases[CHAT]).known(PLACE, ["F1"])
    assert (known["F1"].name, known["F1"].document) == ("", None)


async def test_a_document_that_was_removed_before_is_known_by_the_answers_from_it(
    forgetter: Eraser,
) -> None:
    document = await record(forgetter, "leave.md")
    [base] = await forgetter.library.catalog.knowledge_bases()
    await forgetter.library.forget(base.id, document)
    marks = await forgetter.finder.document("handbook", "leave.md")
    assert ([each.document for each in marks.documents], len(marks.turns)) == ([document], 1)
    assert (await forgetter.forget(marks)).verified
    with pytest.raises(UnknownDocument):
        await forgetter.finder.document("handbook", "leave.md")
    assert await record(forgetter, "notice.md")


async def test_erasing_waits_for_an_answer_being_written(forgetter: Eraser) -> None:
    data_dir, chat = forgetter.settings.data_dir, forgetter.databases[CHAT]
    marks = await forgetter.finder.person("U1", files=False)
    with working(data_dir / "workers"):
        outcome = await forgetter.forget(marks, writing_seconds=0)
        assert [(count.what, count.count) for count in outcome.left] == [
            ("answers that are being written", 3)  # anybody's, because it may have heard the person
        ]
    # The next one goes on, and finds by the question's id what came of it meanwhile.
    again = interrupted(data_dir)
    assert again is not None
    late = f"{again.answers[0]}-1"
    async with forgetter.databases[CATALOG].transaction() as transaction:
        await transaction.execute(
            "INSERT INTO turns (id, conversation, role, text, at) VALUES (?, 'slack:T1:C1:1.0', 'assistant', 'late', 0)",
            (late,),
        )
    assert (await forgetter.forget(again)).left == ()
    turns = await forgetter.databases[CATALOG].fetch("SELECT id FROM turns WHERE id = ?", (late,))
    assert (turns, interrupted(data_dir)) == ([], None)
    assert await chat.fetch("SELECT person FROM answers ORDER BY 1") == [("U2",), ("U9",)]


async def test_what_a_killed_bot_left_is_not_waited_for(forgetter: Eraser) -> None:
    marks = await forgetter.finder.person("U1", files=False)
    assert (await forgetter.forget(marks, writing_seconds=0)).left == ()


async def test_an_event_that_is_being_handled_is_waited_for(forgetter: Eraser) -> None:
    """What it stores goes, too."""
    data_dir, chat = forgetter.settings.data_dir, forgetter.databases[CHAT]
    inbox = EventInbox(chat)
    await finish_answers(chat)
    await inbox.add("slack", "Ev1", {"user": "U1", "text": "a late question"})
    marks = await forgetter.finder.person("U1", files=False)

    async def handle() -> None:
        """As late as it can."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                while not interrupted(data_dir):  # noqa: ASYNC110
                    await asyncio.sleep(0)
                while interrupted(data_dir):  # noqa: ASYNC110
                    await asyncio.sleep(0)
        late = ChatTurn(place=PLACE, message="9", person=ANN, question="a late question", state="final")
        await Turns(chat).claim(late)
        await inbox.remove("slack", "Ev1")

    with working(data_dir / "workers"):
        handling = asyncio.create_task(handle())
        outcome = await forgetter.forget(marks, writing_seconds=30)
        await handling
    assert outcome.left == ()
    assert await chat.fetch("SELECT question FROM answers WHERE person = 'U1'") == []


async def test_an_event_that_a_killed_bot_left_goes(forgetter: Eraser) -> None:
    chat = forgetter.databases[CHAT]
    await EventInbox(chat).add("slack", "Ev1", {"user": "U1", "text": "a late question"})
    marks = await forgetter.finder.person("U1", files=False)
    assert (await forgetter.forget(marks, writing_seconds=30)).left == ()
    assert await chat.fetch("SELECT event FROM inbox") == []


async def finish_answers(chat: Database) -> None:
    async with chat.transaction() as transaction:
        await transaction.execute("UPDATE answers SET state = 'final'")


def test_what_another_version_wrote_down_is_let_go(tmp_path: Path) -> None:
    (tmp_path / "forgetting.json").write_text('{"subject": 7}', encoding="utf-8")
    assert interrupted(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


async def test_what_is_written_down_is_read_again(tmp_path: Path, forgetter: Eraser) -> None:
    marks = await forgetter.finder.document("handbook", "leave.md")
    folder = tmp_path / "kept"
    folder.mkdir()
    save(marks, folder)
    assert interrupted(folder) == marks


@pytest.mark.parametrize("what", ["channel", "document"])
async def test_the_title_of_a_conversation_goes_with_what_was_said_in_it(
    forgetter: Eraser, what: str
) -> None:
    catalog = forgetter.databases[CATALOG]
    async with catalog.transaction() as transaction:
        for number, title in enumerate(("Zleave rules", "About leave.md", "Zother rules")):
            conversation = "slack:T1:C1:1.0" if number == 0 else f"slack:T5:C5:{number}"
            row = (f"turn{number}", conversation, "user", "Where?", 1.0, number + 100)
            await transaction.execute(
                "INSERT INTO turns (id, conversation, role, text, at, position) VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
            await transaction.execute(
                "INSERT INTO conversation_titles VALUES (?, ?, 1.0)", (conversation, title)
            )
            await transaction.execute(
                "INSERT INTO conversation_tags VALUES (?, ?, ?, 1.0)", (conversation, title, title)
            )
    finder = forgetter.finder
    is_channel = what == "channel"
    found = finder.channel("slack:T1:C1") if is_channel else finder.document("handbook", "leave.md")
    marks = await found
    counts = {count.what: count.count for count in await forgetter.survey(marks)}
    assert counts["titles of conversations"] == (1 if is_channel else 2)
    assert counts["tags of conversations"] == counts["titles of conversations"]
    outcome = await forgetter.forget(marks)
    assert outcome.left == ()
    left = await catalog.fetch("SELECT title FROM conversation_titles ORDER BY 1")
    assert left == ([("About leave.md",), ("Zother rules",)] if is_channel else [("Zother rules",)])
    assert await catalog.fetch("SELECT tag FROM conversation_tags ORDER BY 1") == left
    assert b"Zleave" not in catalog.path.read_bytes()
