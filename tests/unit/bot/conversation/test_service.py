"""What a person sees of the service: one message that becomes the answer, and one plain sentence where it cannot."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from bot.messages.refusals import Phrase, Refusal
from bot.messages.workspace_names import sentence_on
from bot.port import WriteRefused
from bot.store.places import PlaceSettings
from rag_engine.errors import IndexUnavailable, ModelUnavailable, NotAllowed
from tests.unit.bot.asked import IN_THREAD, LEAVE, QUESTION, WITH_ID, here, prompt
from tests.unit.bot.chatting import ANN, CHANNEL, THREAD, attachment, world

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from bot.access.permissions import Scope
    from tests.unit.bot.chatting import World

__all__ = ["here"]  # a fixture


# --- the plain path


async def test_a_mention_becomes_a_cited_answer_in_one_message(here: World) -> None:
    here.says("You have 28 days", " [1", "].")
    post = await here.ask(QUESTION)
    assert len(here.chat.posts) == 1
    assert post.statuses[0] == "Looking…"
    assert post.text == "You have 28 days [1]."
    assert [source.title for source in post.reply.sources] == ["leave.md"]
    assert post.buttons == ["sources", "regenerate", "dig_deeper", "why", "feedback", "feedback"]


async def test_the_status_says_how_many_knowledge_bases_are_searched(here: World) -> None:
    here.says("28 days [1].")
    assert "Searching 1 knowledge base…" in (await here.ask(QUESTION, **IN_THREAD)).statuses
    await here.file("notice.md", "# Notice\n\nFour weeks.\n", place=THREAD)
    assert "Searching 2 knowledge bases…" in (await here.ask(QUESTION, **IN_THREAD)).statuses


async def test_the_status_counts_the_hits_of_both_legs_as_the_trace_does(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    trace = await here.history.trace()
    assert trace is not None
    found = cast("dict[str, int]", trace.details["found"])
    read = len(cast("list[object]", trace.details["passages"]))
    assert (
        f"Found {found['lexical']} by words, {found['dense']} by meaning; writing from {read}…"
        in post.statuses
    )


async def test_the_footer_says_in_a_word_how_good_the_evidence_is(tmp_path: Path) -> None:
    async with world(tmp_path, judges=True) as here:
        await here.file("leave.md", LEAVE)
        await _asks_with_each_evidence(here)


async def _asks_with_each_evidence(here: World) -> None:
    here.says("You have 28 days [1].")
    assert "Evidence: strong" in (await here.ask(QUESTION)).reply.notices
    here.says("You have 28 days and 12 apples [1].")
    assert "Evidence: weak" in (await here.ask(QUESTION)).reply.notices
    asked = await here.ask("Who won the 1990 World Cup in Rome?")
    assert "Evidence: none" in asked.reply.notices


async def test_the_placeholder_is_posted_before_anything_slow(here: World) -> None:
    gate = asyncio.Event()
    real = here.town.scope

    async def slow(*arguments: Any, **named: Any) -> Scope:
        await gate.wait()
        return await real(*arguments, **named)

    here.town.scope = slow
    here.says("28 days [1].")
    asking = asyncio.create_task(here.send(here.chat.message(QUESTION)))
    await here.chat.until(lambda: bool(here.chat.posts))
    assert here.last.statuses == ["Looking…"]
    assert here.last.buttons == ["stop"]
    gate.set()
    await asking
    assert here.last.text == "28 days [1]."


async def test_only_addresses_of_the_passages_and_the_conversation_may_be_links(here: World) -> None:
    here.says("See https://intranet.example/leave and https://evil.example/x [1].")
    post = await here.ask(f"{QUESTION} I found https://wiki.example/a.")
    assert {"https://intranet.example/leave", "https://wiki.example/a"} <= (post.reply.links or set())
    assert "https://evil.example/x" not in (post.reply.links or set())


async def test_the_answer_uses_the_settings_of_the_place(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(knowledge="blended", language="de")
    here.says("28 Tage [1].")
    post = await here.ask(QUESTION)
    assert post.statuses[0] == "Ich sehe nach …"
    assert "German" in prompt(here)


async def test_general_knowledge_is_called_so(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(knowledge="blended")
    here.says("The capital of France is Paris.")
    post = await here.ask("What is the capital of France?")
    assert post.reply.notices == ("From general knowledge: this is not from your files.",)


async def test_nothing_found_says_where_it_looked_and_what_to_do(here: World) -> None:
    post = await here.ask("Quantum chromodynamics lattice?")
    assert post.text.startswith("I did not find this in #general.")
    assert any("/kb show" in notice for notice in post.reply.notices)
    assert "sources" not in post.buttons


async def test_where_nothing_may_be_seen_nothing_is_searched(here: World) -> None:
    here.town.empty = True
    post = await here.ask(QUESTION)
    assert "no files here that everyone" in post.text
    assert "/kb bind" in post.text
    assert not here.model.prompts


async def test_why_a_file_is_refused_is_reported_in_the_language_of_its_message(here: World) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise Refusal("add_refused", who=Phrase(sentence_on("slack", "an_admin")))

    here.town.check = refuse
    here.says("28 Tage [1].")
    question = "Wie viele Tage Urlaub sind es denn noch in diesem Jahr?"
    await here.ask(question, attachment("other.md", "# Other\n"), place=CHANNEL)
    (refused,) = here.chat.private
    assert refused.text.startswith("other.md: Nur ein Administrator dieses Arbeitsbereichs kann Dateien")


async def test_what_the_scope_had_to_leave_out_is_said(here: World) -> None:
    real = here.town.scope

    async def left_out(*arguments: Any, **named: Any) -> Scope:
        return replace(await real(*arguments, **named), notices=("left_out",))

    here.town.scope = left_out
    here.says("28 days [1].")
    (notice,) = (await here.ask(QUESTION)).reply.notices
    assert notice.startswith("Part of this search was left out")
    here.says("28 Tage [1].")
    german = await here.ask("Wie viele Tage Urlaub sind es denn noch in diesem Jahr?")
    assert german.reply.notices[0].startswith("Etwas wurde bei dieser Suche ausgelassen")


async def test_a_follow_up_sees_the_conversation_of_its_thread_and_no_other(here: World) -> None:
    here.says("28 days [1].")
    first = await here.ask(QUESTION)
    here.says("They end in March [1].")
    await here.ask("And when do they end?", place=first.place, in_thread=True)
    assert "28 days" in prompt(here)
    await here.ask("When does leave end?", place=replace(CHANNEL, thread="other"))
    assert "28 days [1]" not in prompt(here)


# --- failures


async def test_an_index_that_is_away_ends_as_one_sentence_with_an_id(here: World) -> None:
    async def away(*arguments: Any, **named: Any) -> Scope:
        raise IndexUnavailable("The search index is away.")

    here.town.scope = away
    post = await here.ask(QUESTION)
    assert post.text.startswith("The search index is away.")
    assert WITH_ID.search(post.text)
    assert post.buttons == ["regenerate"]


async def test_a_failure_is_reported_in_the_language_of_the_question(here: World) -> None:
    async def away(*arguments: Any, **named: Any) -> Scope:
        raise IndexUnavailable("The search index is away.")

    here.town.scope = away
    post = await here.ask("Wie viele Urlaubstage haben wir denn?", person=replace(ANN, language="en"))
    assert post.text.startswith("Der Suchindex antwortet nicht")
    other = await here.ask("Xyzzy 42", person=replace(ANN, language="fr"))
    assert other.text.startswith("L’index de recherche ne répond pas")


async def test_a_bug_is_a_sentence_with_an_id_and_not_a_word_of_the_question_in_the_log(
    here: World, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*arguments: Any, **named: Any) -> Scope:
        raise ValueError("a bug")

    here.town.scope = broken
    with caplog.at_level("INFO"):
        post = await here.ask("What is the secret-word-42?")
    identity = re.search(r"\(id ([0-9a-f]{4})\)", post.text)
    assert identity
    assert identity[1] in caplog.text
    assert "secret-word" not in caplog.text


async def test_what_the_asker_can_fix_is_shown_as_it_is(here: World) -> None:
    async def refused(*arguments: Any, **named: Any) -> Scope:
        raise NotAllowed("I do not answer in this workspace.")

    here.town.scope = refused
    assert (await here.ask(QUESTION)).text == "I do not answer in this workspace."


async def test_a_stream_that_is_cut_keeps_its_text(here: World) -> None:
    here.says("28 days", " [1]", " and", fault=ModelUnavailable("The language model broke off."))
    post = await here.ask(QUESTION)
    assert post.text.startswith("28 days [1] and")
    assert any("broke off" in notice for notice in post.reply.notices)


async def test_where_it_cannot_write_only_the_asker_is_notified(here: World) -> None:
    here.chat.fault = WriteRefused("The channel is archived.")
    await here.ask(QUESTION)
    assert not here.chat.public
    (told,) = here.chat.private
    assert told.private == ANN
    assert "cannot write" in told.text


async def test_a_workspace_that_is_not_served_gets_a_private_notice(here: World) -> None:
    await here.ask(QUESTION, place=replace(CHANNEL, workspace="elsewhere"))
    assert not here.chat.public
    (told,) = here.chat.private
    assert (told.private, told.text) == (ANN, "This workspace is not served.")
    assert not here.model.prompts


async def test_what_was_read_and_not_cited_is_one_line(here: World) -> None:
    for number in range(5):
        await here.file(f"leave{number}.md", f"Leave of team {number} is 28 days.")
    here.says("It is 28 days [1].", task="answer")
    post = await here.ask("How many days of leave are there for a team?")
    (notice,) = post.reply.notices
    assert notice.startswith("Consulted, not cited: leave")
    assert notice.endswith(" · 2 more")
    assert notice.count(".md") == 3
    assert post.reply.sources[0].title not in notice
