from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.port import Person, Place
from bot.store.message_files import MessageFile, MessageFiles
from bot.store.processed_interactions import ProcessedInteractions
from bot.store.turns import ChatTurn, Turns
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import ChunkId, Citation, ConversationId, DocumentId, KnowledgeBaseId, TurnId
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database

PLACE = Place(platform="slack", workspace="T1", channel="C1", thread="1.5")
ANN = Person(id="U1", name="Ann", language="de")
CITATION = Citation(
    number=1,
    title="a.pdf",
    anchor="p. 3",
    uri="https://x/1",
    quote="„Zitat“",
    document=DocumentId("d"),
    chunk=ChunkId("c"),
)
DAY = 86_400.0
_OLD_ANSWER = """
    INSERT INTO answers VALUES (?, 'slack', 'T1', 'C1', '1.5', '1.7', '', 'U1', 'Ann', 'de', 0, 0, '?', 5.0, ?, '[]', '', '', '[]', 5.0)
"""


class Clock:
    now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with connect(new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql") as opened:
        yield opened


def turn(message: str = "1.5", **values: object) -> ChatTurn:
    return ChatTurn(**{"place": PLACE, "message": message, "person": ANN, "asked_at": 5.0, **values})


async def test_a_message_is_claimed_once_also_by_many_at_the_same_time(database: Database) -> None:
    turns = Turns(database)
    assert sum(await asyncio.gather(*(turns.claim(turn()) for _ in range(8)))) == 1
    assert await turns.claim(turn("1.6"))
    elsewhere = (
        replace(PLACE, workspace="T2"),
        replace(PLACE, channel="C2"),
        replace(PLACE, platform="discord"),
    )
    for place in elsewhere:
        assert await turns.claim(turn(place=place))
    assert not await turns.claim(turn(place=replace(PLACE, thread="other"))), "a message stands in one thread"


async def test_what_was_saved_is_found_after_a_restart(tmp_path: Path) -> None:
    whole = turn(
        uri="https://x/2",
        private=True,
        by_bot=True,
        question="Wie viele?",
        state="final",
        messages=("m1", "m2"),
        conversation=ConversationId("conversation"),
        turn=TurnId("t"),
        citations=(CITATION,),
    )
    for opening in range(2):
        async with connect(
            new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql"
        ) as database:
            turns = Turns(database)
            if not opening:
                assert await turns.claim(
                    replace(whole, state="received", messages=(), citations=(), turn=None)
                )
                await turns.save(whole)
                continue
            found = await turns.of_message(PLACE, "1.5")
            assert found == await turns.find(whole.id)
            assert found
            assert replace(found, updated_at=0) == whole
            assert not await turns.claim(turn())


async def test_who_takes_part_and_which_questions_are_in_the_history(database: Database) -> None:
    turns = Turns(database)
    assert not await turns.takes_part(PLACE)
    asked = turn()
    await turns.claim(asked)
    assert await turns.takes_part(PLACE)
    assert not await turns.takes_part(PLACE.parent)
    assert await turns.answered(PLACE, ["1.5", "1.6"]) == frozenset()
    await turns.save(replace(asked, turn=TurnId("t"), state="final"))
    assert await turns.answered(PLACE, ["1.5", "1.6"]) == {"1.5"}
    await turns.save(replace(asked, turn=TurnId("t"), state="withdrawn"))
    assert await turns.answered(PLACE, ["1.5"]) == frozenset()
    assert not await turns.takes_part(PLACE)
    await turns.claim(turn("1.7", place=replace(PLACE, thread="9"), private=True))
    assert not await turns.takes_part(replace(PLACE, thread="9")), "nobody else saw it"


async def test_turns_of_bots_are_counted_by_thread_or_in_the_last_while(database: Database) -> None:
    turns = Turns(database)
    for number in range(3):
        await turns.claim(turn(f"a{number}", by_bot=True))
        await turns.claim(turn(f"b{number}", place=PLACE.parent, by_bot=True, asked_at=float(number)))
    await turns.claim(turn("person"))
    assert await turns.bot_turns(PLACE, since=100) == 3
    assert await turns.bot_turns(PLACE.parent, since=0.5) == 2


async def test_a_command_is_started_once_and_who_ends_it_is_remembered(database: Database) -> None:
    claims = ProcessedInteractions(database)
    assert await claims.begin(PLACE, "command:1") == "new"
    assert await claims.begin(PLACE, "command:1") == "started"
    await claims.finish(PLACE, "command:1")
    assert await claims.begin(PLACE, "command:1") == "finished"
    assert await claims.begin(replace(PLACE, workspace="T2"), "command:1") == "new"


async def test_commands_are_kept_for_two_days(database: Database) -> None:
    clock = Clock()
    claims = ProcessedInteractions(database, clock=clock)
    await claims.begin(PLACE, "e")
    clock.now += 1.9 * DAY
    assert await claims.begin(PLACE, "e") == "started"
    clock.now += 0.2 * DAY
    assert await claims.begin(PLACE, "e") == "new"


async def test_what_nobody_saw_the_end_of_is_found_the_latest_question_first(database: Database) -> None:
    turns = Turns(database)
    for number, state in enumerate(("received", "placeholder", "streaming", "final", "stopped", "failed")):
        await turns.claim(turn(state, asked_at=float(number)))
        asked = await turns.of_message(PLACE, state)
        assert asked is not None
        await turns.save(replace(asked, state=state, messages=(f"m{number}",)))
    await turns.claim(turn("elsewhere", place=replace(PLACE, platform="discord")))
    found = await turns.unfinished("slack")
    assert [each.message for each in found] == ["streaming", "placeholder", "received"]
    assert await turns.messages_in(PLACE) == {"m0", "m1", "m2", "m3", "m4", "m5"}
    assert await turns.messages_in(PLACE.parent) == frozenset()


async def test_a_key_to_where_an_answer_goes_does_not_outlive_it(database: Database) -> None:
    turns = Turns(database)
    asked = turn(handle="https://slack/response/secret", attempts=2, starts=3, unprompted=True, about="1.4")
    await turns.claim(asked)
    assert await turns.find(asked.id) == replace(
        asked, updated_at=(await turns.unfinished("slack"))[0].updated_at
    )
    for state in ("final", "stopped", "failed", "withdrawn"):
        await turns.save(replace(asked, state=state))
        found = await turns.find(asked.id)
        assert found is not None
        assert found.handle == ""


async def test_old_turns_are_forgotten_and_what_people_thought_of_them_is_not(database: Database) -> None:
    clock = Clock()
    turns = Turns(database, clock=clock)
    old = turn(turn=TurnId("t"))
    await turns.claim(old)
    await turns.rate(old, "U1", "up")
    clock.now += 89 * DAY
    await turns.claim(turn("2"))
    assert await turns.find(old.id)
    clock.now += 2 * DAY
    await turns.claim(turn("3"))
    assert await turns.find(old.id) is None
    assert await turns.ratings(old) == {"U1": "up"}


async def test_files_are_known_in_their_place_and_by_their_turn(database: Database) -> None:
    taken = MessageFiles(database)
    asked = turn()
    file = MessageFile(
        place=PLACE,
        attachment="F1",
        answer=asked.id,
        name="a.pdf",
        uri="https://x/1",
        knowledge_base=KnowledgeBaseId("kb"),
        document=DocumentId("d"),
    )
    bad = replace(file, attachment="F2", document=None)
    await taken.keep([file, bad])
    assert set(await taken.known(PLACE, ["F1", "F2", "F3"])) == {"F1", "F2"}
    assert await taken.known(replace(PLACE, thread="9"), ["F1"]) == {}
    assert await taken.of_turn(asked) == [file, bad]
    moved = replace(file, place=PLACE.parent, knowledge_base=KnowledgeBaseId("channel"))
    await taken.move(file, moved)
    assert set(await taken.of_turn(asked)) == {bad, moved}
    assert set(await taken.known(PLACE, ["F1"])) == {"F1"}, "it is not taken into the thread again"


async def test_files_that_an_older_program_took_in_are_known_by_their_message(tmp_path: Path) -> None:
    older = tmp_path / "sql"
    older.mkdir()
    for script in (files("bot.store") / "sql").iterdir():
        if script.name < "0003":
            (older / script.name).write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    asked = turn("1.7")
    async with (
        connect(tmp_path / "chat.sqlite", scripts=older) as database,
        database.transaction() as transaction,
    ):
        await transaction.execute(_OLD_ANSWER, (asked.id, "received"))
        await transaction.execute(
            "INSERT INTO taken_files VALUES ('slack', 'T1', 'C1', '1.5', 'F1', ?, 'a.pdf', 'https://x/1', 'kb', 'd', 5.0)",
            (asked.id,),
        )
    async with connect(
        new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql"
    ) as database:
        taken = MessageFiles(database)
        assert await Turns(database).unfinished("slack") == [], "nobody waits for it any more"
        (file,) = await taken.brought_by(PLACE, "1.7")
        assert (file.attachment, file.source, file.document, file.settled) == (
            "F1",
            "https://x/1",
            "d",
            True,
        )
        await taken.drop(file)
        assert await taken.brought_by(PLACE, "1.7") == []
        assert await taken.known(PLACE, ["F1"]) == {}


async def test_the_channels_of_a_workspace_the_latest_first(database: Database) -> None:
    clock = Clock()
    turns = Turns(database, clock=clock)
    for channel in ("D1", "D2", "D3", "D1"):
        await turns.claim(turn(f"m{clock.now}", place=replace(PLACE, channel=channel, thread="")))
        clock.now += 1.0
    await turns.claim(turn("m", place=replace(PLACE, workspace="elsewhere", channel="D4")))
    assert await turns.channels("slack", PLACE.workspace, limit=2) == ["D1", "D3"]
