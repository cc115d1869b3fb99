"""Replies when a file is ambiguous, not read yet, or not visible to every reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.types import ConversationId
from rag_engine.wrappers.hidden_documents import HiddenDocumentsIndex
from tests.doubles.model_servers.openai_server import streamed
from tests.unit.summaries.setup import HANDBOOK, desk

if TYPE_CHECKING:
    from pathlib import Path


async def test_what_is_not_clear_is_asked_back_with_the_names(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.add("leave policy.md", HANDBOOK)
        await here.add("travel policy.md", HANDBOOK)
        answer = await here.ask("summarise the policy")
        assert answer.text == "Which file do you mean? There are: leave policy.md, travel policy.md."
        assert answer.route == "summarise"
        assert not answer.grounded
        assert here.tasks() == []
        trace = await here.history.trace(answer.turn)
        assert trace is not None
        named = ["kb/leave policy.md", "kb/travel policy.md"]
        assert trace.details["documents"] == named, "`footnote forget` finds the answer by them"
        assert [turn.role for turn in await here.history.read(ConversationId("c"), limit=5)] == [
            "user",
            "assistant",
        ]


async def test_a_file_that_is_still_read_or_could_not_be(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.add("new.pdf", "", state="embedding")
        await here.add("bad.pdf", "", state="failed", reason="the file is damaged.")
        await here.add("handbook.md", HANDBOOK)
        assert (await here.ask("summarise new.pdf")).text == (
            "new.pdf is still being read; ask again in a moment."
        )
        assert (await here.ask("Fasse bad.pdf zusammen")).text == (
            "bad.pdf konnte nicht gelesen werden: the file is damaged."
        )
        here.server.on(streamed("28 days [2]."))
        both = await here.ask("summarise handbook.md and new.pdf")
        assert both.text == "28 days [1]."
        assert both.notices == ("new.pdf is still being read; ask again in a moment.",)


async def test_another_audiences_file_is_as_one_that_is_not_there(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.add("handbook.md", HANDBOOK)
        secret = await here.add("merger.md", "# Merger\n\nThe merger is secret.", base="board")
        await here.add("merger plan.md", "# Merger\n\nThe plan is secret.", base="board")
        hidden = await here.ask("summarise merger.md", "kb")
        nowhere = await here.ask("summarise nowhere.md", "kb")
        assert hidden.text == nowhere.text.replace("nowhere", "merger")
        here.server.on(streamed("Something [1]."))
        # "This file" is not found here, and "the whole base" means its visible part.
        pointed = await here.ask("summarise this file", "kb", files=(secret,))
        assert "merger" not in pointed.text
        await here.ask("summarise everything", "kb")
        await here.ask("summarise everything in board", "kb")
        assert "secret" not in here.shown()
        seen = await here.ask("summarise merger.md", "board")
        assert "The merger is secret" in here.shown()
        assert seen.grounded


async def test_what_is_to_go_is_not_read_any_more(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.add("handbook.md", HANDBOOK)
        document = await here.add("old.md", "# Old\n\nThe old rules are these.")
        await here.catalog.unfinished.withdraw(document.knowledge_base, document.id)
        answer = await here.ask("summarise old.md")
        assert answer.text == "I see no file called old.md here."
        hiding = HiddenDocumentsIndex(here.index, here.catalog.unfinished)
        assert await hiding.chunks(document.knowledge_base, document.id, limit=9) == []
        assert await here.index.chunks(document.knowledge_base, document.id, limit=9)


async def test_everything_is_each_document(tmp_path: Path) -> None:
    async with desk(tmp_path, documents=2) as here:
        for name in ("a.md", "b.md", "c.md"):
            await here.add(name, f"# {name}\n\nThe rules of {name} are these.")
        here.server.on(streamed("A [1]. B [2]."))
        answer = await here.ask("summarise everything")
        assert [citation.title for citation in answer.citations] == ["a.md", "b.md"]
        assert answer.notices == ("1 more document was left out; name it to have it summarised.",)


async def test_a_question_about_a_part_is_searched_for(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.add("handbook.md", HANDBOOK)
        here.server.on(streamed("28 days [1]."))
        answer = await here.ask("summarise what handbook.md says about leave")
        assert answer.route == "search"
        await here.ask("summarise handbook.md")
        after = await here.ask("And the notice period of section 4?")
        assert after.route == "search"


async def test_of_a_very_long_document_the_beginning_is_read_and_that_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path, passages=2) as here:
        await here.add("handbook.md", HANDBOOK)
        here.server.on(streamed("28 days [2]."))
        answer = await here.ask("summarise this file")
        assert answer.notices == ("handbook.md is very long: only its first 2 passages were read.",)
        assert "four weeks" not in here.shown()


async def test_shorter_means_the_summary_before_it_and_nothing_else(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.add("handbook.md", HANDBOOK)
        here.server.on(streamed("28 days [2]."))
        await here.ask("summarise handbook.md")
        shorter = await here.ask("shorter")
        assert shorter.route == "summarise"
        assert "Length: short" in here.server.requests[-1].text
        assert (await here.ask("How long is the notice period?")).route == "search"
        assert (await here.ask("shorter")).route == "edit"
