"""Each way in which a person's or a file's words reach the data directory has a word of its own; afterwards no file holds one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.maintenance.erasure import eraser
from bot.port import Command, MessageEdited
from bot.store.web_sessions import Visitor, WebSessions
from tests.unit.bot.asked import LEAVE, QUESTION
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, DIRECT, THREAD, Here, attachment, world

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bot.maintenance.erasure.eraser import ErasureOutcome
    from rag_engine.types import DocumentId, Hit, KnowledgeBaseId, Query
    from tests.unit.bot.chatting import World

pytestmark = pytest.mark.process

IN_THREAD = {"place": THREAD, "in_thread": True}
WORDS = [
    "zmentionz",
    "zanswerz",
    "zeditedz",
    "zdirectz",
    "zcommandz",
    "zheardz",
    "zrepeatedz",
    "zquotedz",
    "zfilenamez",
    "zcontentz",
    "zdroppednamez",
    "zdroppedz",
    "zbrokennamez",
    "zlinknamez",
    "zsessionnamez",
]


def holding(folder: Path, *words: str) -> dict[str, set[str]]:
    """Which words are in the bytes of which file."""
    found = {
        path.name: {word for word in words if word.encode() in path.read_bytes().lower()}
        for path in folder.rglob("*")
        if path.is_file()
    }
    return {name: held for name, held in found.items() if held}


def held(folder: Path, *words: str) -> set[str]:
    return set[str]().union(*holding(folder, *words).values())


async def erased(folder: Path, monkeypatch: pytest.MonkeyPatch, *what: str) -> ErasureOutcome:
    """`what` is a person's id, or a knowledge base and a document."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    chosen = settings.read().model_copy(update={"data_dir": folder})
    async with eraser.opened(chosen) as opened:
        finder = opened.finder
        marks = await (finder.person(what[0], files=True) if len(what) == 1 else finder.document(*what))
        return await opened.forget(marks)


async def asks(here: World) -> None:
    """Ben asks in every way."""
    here.says("28 days zanswerz [1].")
    mention = here.chat.message(f"{QUESTION} zmentionz", person=BEN)
    await here.send(mention)
    answer = here.last
    await here.press(answer, "feedback", person=BEN, ends=":down")
    await here.press(answer, "regenerate", person=BEN)
    edited = MessageEdited(message=replace(mention, text=f"{QUESTION} zeditedz"))
    await here.service.on_message(edited, Here(here.chat, mention.place, mention))
    await here.ask(f"{QUESTION} zdirectz", person=BEN, place=DIRECT)
    line = f"{QUESTION} zcommandz"
    command = Command(id="c-ask", name="ask", line=line, place=CHANNEL, person=BEN)
    await here.service.on_command(command, Here(here.chat, CHANNEL))
    here.says("28 days [1].")
    await here.ask(
        f"{QUESTION} zfilez",
        attachment("zfilenamez.md", "# Travel\n\nTaxis zcontentz are paid.", id="F1"),
        attachment("zbrokennamez.pdf", "%PDF-1.4 broken", id="F2"),
        person=BEN,
        **IN_THREAD,
    )


async def visits_the_page(here: World) -> None:
    sessions = WebSessions(here.stores.experts._database)
    ben = Visitor(platform=CHANNEL.platform, workspace=CHANNEL.workspace, person=BEN.id, name="zlinknamez")
    await sessions.link(ben)
    assert await sessions.begin(await sessions.link(replace(ben, name="zsessionnamez")))


async def is_used_by_others(here: World) -> None:
    """Ann asks where Ben was only heard, and about his message."""
    place = replace(CHANNEL, thread="t2")
    there = {"place": place, "in_thread": True}
    dropped = attachment("zdroppednamez.md", "# Visa\n\nA visa zdroppedz is paid.", id="F3")
    here.chat.message("We talk about zheardz.", dropped, person=BEN, addressed=False, **there)
    here.says("28 days, and Ben says zheardz [1].")
    await here.ask(f"annsfirst {QUESTION}", **there)
    here.says("28 days, zrepeatedz [1].")
    await here.ask(f"annssecond {QUESTION}", **there)
    quoted = here.chat.message(f"{QUESTION} zquotedz", person=BEN, addressed=False)
    await here.send(
        replace(
            quoted, id="shortcut", about=quoted.id, author=BEN.id, person=ANN, addressed=True, private=True
        )
    )
    here.says("28 days, annsanswer [1].")
    await here.ask(f"annsown {QUESTION}")


async def test_no_word_of_a_person_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as here:
        await here.file("leave.md", LEAVE)
        await asks(here)
        await visits_the_page(here)
        await is_used_by_others(here)
    before = held(tmp_path, *WORDS)
    assert before >= set(WORDS) - {"zmentionz", "zcontentz", "zdroppedz"}, before
    outcome = await erased(tmp_path, monkeypatch, BEN.id)
    assert outcome.left == ()
    assert holding(tmp_path, *WORDS) == {}
    # Ann's own questions stay, and the answer that never saw Ben's words.
    anns = ("annsfirst", "annssecond", "annsown", "annsanswer")
    assert held(tmp_path, *anns) == set(anns)


async def plan(here: World) -> tuple[KnowledgeBaseId, DocumentId]:
    base = await here.town.own(CHANNEL)
    [identity] = [
        one.document.id for one in await here.catalog.records(base.id) if "plan" in one.document.title
    ]
    return base.id, identity


async def test_no_title_of_a_document_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as here:
        await here.file("leave.md", LEAVE)
        await here.file("zsecret plan.md", "# Plan\n\nThe zinsidez is moved.\n")
        here.says("It is in zsecret plan.md, which zinferredz says.")
        await here.ask(f"annsfirst {QUESTION}", **IN_THREAD)
        await here.ingestion.forget(*await plan(here))
        here.says("28 days, as zlaterz, not zsecret plan.md.")
        await here.ask(f"annssecond {QUESTION}", **IN_THREAD)
    assert held(tmp_path, "zsecret", "zinferredz", "zlaterz") == {"zsecret", "zinferredz", "zlaterz"}
    outcome = await erased(tmp_path, monkeypatch, "general", "zsecret plan.md")
    assert outcome.left == ()
    assert holding(tmp_path, "zsecret", "zinsidez", "zinferredz", "zlaterz") == {}
    assert held(tmp_path, "annsfirst", "annssecond") == {"annsfirst", "annssecond"}


async def test_no_question_that_a_model_made_of_a_document_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def suggest(query: Query, answer: str, passages: Sequence[Hit]) -> tuple[str, ...]:
        return ("Where is the zpressedz plan kept?", "Who wrote the zofferedz plan?")

    async with world(tmp_path, suggest=suggest) as here:
        await here.file("zsecret plan.md", "# Plan\n\nThe parental leave plan is moved by 28 days.\n")
        here.says("28 days, it seems.")
        post = await here.ask(f"annsfirst {QUESTION}")
        await here.chat.until(lambda: "choice" in post.buttons)
        await here.press(post, "choice", ends=":1")
        await here.service.runner.answers.follow_ups.close()
    words = ("zpressedz", "zofferedz")
    assert held(tmp_path, *words) == set(words)
    outcome = await erased(tmp_path, monkeypatch, "general", "zsecret plan.md")
    assert outcome.left == ()
    assert holding(tmp_path, *words) == {}
    assert held(tmp_path, "annsfirst") == {"annsfirst"}
