"""Everybody researches everywhere, with a model that plans questions about what all others hold: nothing foreign is read or shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.journeys.audience.test_matrix import check, everybody, leaks, learns, pytestmark, stage
from tests.journeys.audience.world import HOLDERS, QUESTION, SECRETS, Eyes, may_learn
from tests.unit.research.setup import ReplyingModel

if TYPE_CHECKING:
    from bot.port import Person
    from tests.journeys.audience.stage import Shown, Stage

__all__ = ["pytestmark", "stage"]

_PASSAGE = re.compile(r'<passage id="(\d+)"[^>]*>\n(.*?)\n</passage>', re.DOTALL)


def nosy(task: str, sent: str) -> object:
    """Asks for everything that anybody holds, and reports all that it is shown."""
    words = list(SECRETS.values())
    shown = {int(number): text.partition("\n")[0] for number, text in _PASSAGE.findall(sent)}
    if task == "subqueries":
        return {"questions": [QUESTION, *(f"What is the {word} launch code?" for word in words[:3])]}
    if task == "extract":
        return {"facts": [{"fact": text, "passages": [number]} for number, text in shown.items()]}
    if task == "sufficiency":
        asked = [f"Who keeps the {word} harbour code?" for word in words if f"the {word} " not in sent]
        return {"sufficient": False, "missing": ["more"], "questions": asked[:4]}
    return "\n\n".join(f"{text} [{number}]" for number, text in shown.items()) or "Nothing."


async def researched(stage: Stage, name: str, person: Person, line: str, eyes: Eyes) -> None:
    model = ReplyingModel(reply=nosy)
    usual = stage.engine.engine
    stage.engine.engine = replace(usual, models=[model])
    try:
        shown = await stage.types(name, person, "research", line)
    finally:
        stage.engine.engine = usual
    assert model.tasks.count("extract") > 1
    read = "\n".join(text for _, prompt in model.asked for text in _passages(prompt.messages[-1].content))
    foreign = [SECRETS[holder] for holder in HOLDERS if not may_learn(eyes, holder, bound=stage.bound)]
    assert [word for word in foreign if word in read] == []
    # The plan repeats what the model asked for, which is no secret of a file.
    answers = [replace(one, pages=[page for page in one.pages if page.text]) for one in shown]
    assert not leaks(answers, learns(stage), asked=json.dumps(stage.engine.queries[-1].text))
    check_audience(stage, answers, eyes)


def check_audience(stage: Stage, shown: list[Shown], eyes: Eyes) -> None:
    assert stage.engine.queries[-1].options.research
    check(stage, shown, eyes)


def _passages(sent: str) -> list[str]:
    return [text for _, text in _PASSAGE.findall(sent)]


@everybody
async def test_a_private_research(stage: Stage, name: str, person: Person) -> None:
    await researched(stage, name, person, QUESTION, Eyes(place=name, person=person))


@everybody
async def test_a_research_for_the_channel(stage: Stage, name: str, person: Person) -> None:
    await researched(stage, name, person, f"channel: {QUESTION}", Eyes(place=name))
