"""Who the experts are, what they may read, and what their answers carry, on both platforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.chat_server import Upload
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.expert_scenes import HANDBOOK, experts_of, posts, preview, quiet, sent
from tests.journeys.chat.scenario import file, has, words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_file_and_a_link_are_the_answer(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "library")
    asked = await scene.post(experts)
    plan = file("plan.md", "# Plan\n\nThe blue ladder of the library leads to the key.\n")
    await scene.says(experts, asked, "See https://keys.example.org/library too.", files=(plan,))
    answer = await scene.comes("plan.md [2]")
    assert "https://keys.example.org/library" in words(answer)
    town.model.on(streamed("To the key [1]."), task="answer", matching="blue ladder")
    await town.says("ben", room, "@footnote Where does the blue ladder lead?", thread=scene.question)
    await town.until(lambda: any("plan.md" in words(each) for each in scene.back("To the key")))


async def test_thirty_thousand_characters(town: Scenario) -> None:
    """Slack takes them as a message; Discord's client makes a file of them."""
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "bakery")
    asked = await scene.post(experts)
    text = "Ada has it. " + "Ask her kindly. " * 1_874 + "Marker."
    if town.chat.platform == "slack":
        await scene.says(experts, asked, text)
        await scene.comes("Ada has it.")
        await scene.comes("was shortened")
        assert sum(len(words(each)) for each in scene.back("Ask her kindly.")) < 4_500
        return
    await scene.says(experts, asked, "", files=(Upload(name="message.txt", content=text.encode()),))
    answer = await scene.comes("message.txt [2]")
    assert "cleo answers" in words(answer)


async def test_an_asker_who_left_is_not_written_to(town: Scenario) -> None:
    room, experts = town.room("ada", "ben", private=True), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "tower")
    asked = await scene.post(experts)
    before = len(scene.back(""))
    town.chat.leaves(town.chat.people["ben"], room)
    await scene.says(experts, asked, "Ada has it.")
    await town.until(lambda: "is closed" in words(posts(town, experts, "tower")[0]))
    seen = [each for each in town.ours("ada", room, scene.question) if "Ada has it." in words(each)]
    assert (seen, before > 0) == ([], True)


async def test_experts_who_may_not_read_the_file_get_no_quote(town: Scenario) -> None:
    room, experts = town.room("ada", "ben", private=True), town.room()
    await experts_of(town, room, experts, text="# Vault\n\nThe vault opens with 4711 and a wink.\n")
    town.model.on(streamed("It opens with 4711 [1]."), task="answer", matching="open the vault")
    question = await town.says("ben", room, "@footnote How does one open the vault?")
    answer = await town.answered("ben", room, question)
    await town.chat.dislikes(town.chat.people["ben"], answer[-1].id)
    why = await town.written("ben", room, question, "What was wrong")
    await town.clicks("ben", why, "Ask an expert")
    shown = await town.written("ben", room, question, "goes to the experts")
    assert "4711" not in words(shown)
    await town.clicks("ben", shown, "Send")
    await town.until(lambda: posts(town, experts, "open the vault"))
    assert not [each for each in town.ours("cleo", experts) if "4711" in words(each)]


async def test_one_person_is_asked_directly(town: Scenario) -> None:
    room, direct = town.room(), town.direct("cleo")
    await experts_of(town, room, town.chat.mention("cleo"))
    scene = await sent(town, room, "harbour")
    asked = await scene.post(direct)
    await scene.says(direct, asked, "Ada has it.")
    answer = await scene.comes("Ada has it.")
    assert "cleo answers" in words(answer)
    assert "[1]" in words(answer)
    await scene.heard(direct, asked, "Sent to ben as your answer.")


async def test_each_of_a_group_is_asked_and_one_answers(town: Scenario) -> None:
    room = town.room()
    group = town.chat.add_group("keepers", [town.chat.people[name] for name in ("ada", "ben", "cleo")])
    await experts_of(town, room, group)
    question, shown = await preview(town, room, "stable")
    assert "@keepers" in words(shown)
    await town.clicks("ben", shown, "Send")
    places = {name: town.direct(name) for name in ("ada", "ben", "cleo")}
    for name in ("ada", "cleo"):
        await town.until(lambda name=name: posts(town, places[name], "stable", name))
    assert not [each for each in town.ours("ben", places["ben"]) if "asks the experts" in words(each)]
    await quiet(town)
    asked = posts(town, places["cleo"], "stable")[0]
    thread, reply_to = (asked.id, "") if town.chat.platform == "slack" else ("", asked.id)
    cleo = town.chat.people["cleo"]
    await town.chat.says(cleo, places["cleo"], "Ada has it.", thread=thread, reply_to=reply_to)
    await town.written("ben", room, question, "Ada has it.")
    await town.until(lambda: "is closed" in words(posts(town, places["ada"], "stable", "ada")[0]))
    assert has(posts(town, places["cleo"], "stable")[0], "I cannot answer")


async def test_nothing_is_sent_without_consent(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts, text=HANDBOOK)
    _, shown = await preview(town, room, "chapel")
    await town.clicks("ben", shown, "Cancel")
    await quiet(town)
    assert posts(town, experts, "chapel") == []


async def test_talk_among_experts_is_not_the_answer(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "boathouse")
    asked = await scene.post(experts)
    await scene.says(experts, asked, f"{town.chat.mention('ada')} do you know this one?")
    await scene.says(experts, asked, f"Ask {town.chat.mention('ada')}, she has it.", expert="ada")
    answer = await scene.comes("she has it.")
    assert "ada answers" in words(answer)
    assert scene.back("do you know this one") == []


async def test_a_private_rooms_question_is_not_shared_with_a_public_room(town: Scenario) -> None:
    room, private, experts = town.room(), town.room("ada", "ben", private=True), town.room()
    await experts_of(town, room, experts)
    await town.commands("ada", private, f"kb bind <#{room}>")
    await town.until(
        lambda: [each for each in town.ours("ada", private) if "From now on I search" in words(each)]
    )
    hidden = await sent(town, private, "pantry")
    asked = await hidden.post(experts)
    scene = await sent(town, room, "pantry", "cleo")
    assert "already on this question" not in words(scene.told)
    await town.until(lambda: len(posts(town, experts, "pantry")) == 2)
    await hidden.says(experts, asked, "Behind the violet wall.")
    await hidden.comes("Behind the violet wall.")
    await quiet(town)
    assert scene.back("violet") == []
