"""Everybody asks with tools everywhere, and the model asks them for all that others hold, by name and by id: nothing foreign is read or shown."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot.composition import loader
from rag_engine.agent.agent import Agent
from rag_engine.agent.tool import ToolPorts
from tests.journeys.audience.test_matrix import check, everybody, leaks, learns, pytestmark, stage
from tests.journeys.audience.world import HOLDERS, PLACES, QUESTION, SECRETS, TITLES, Eyes, may_learn
from tests.unit.research.setup import ReplyingModel

if TYPE_CHECKING:
    from bot.port import Person
    from tests.journeys.audience.stage import Stage

__all__ = ["pytestmark", "stage"]

_PASSAGE = re.compile(r'<passage id="(\d+)"[^>]*>\n(.*?)\n</passage>', re.DOTALL)


@dataclass
class Nosy:
    """Reads and searches every document that there is, by its id."""

    documents: list[str]
    read: list[str] = field(default_factory=list[str])
    steps: int = 0

    def __call__(self, task: str, sent: str) -> object:
        self.read.append(sent)
        if task == "agent":
            self.steps += 1
            return {"calls": self._calls()} if self.steps < 7 else "done"
        shown = {int(number): text.partition("\n")[0] for number, text in _PASSAGE.findall(sent)}
        return "\n\n".join(f"{text} [{number}]" for number, text in shown.items()) or "Nothing."

    def _calls(self) -> list[object]:
        if self.steps == 1:
            return [
                {"tool": "list", "arguments": {}},
                {"tool": "compute", "arguments": {"question": "How many launch codes are there?"}},
                *({"tool": "search", "arguments": {"query": word}} for word in list(SECRETS.values())[:2]),
            ]
        chosen = self.documents[(self.steps - 2) * 4 :][:4]
        if self.steps % 2:
            return [{"tool": "search", "arguments": {"query": "code", "document": one}} for one in chosen]
        return [{"tool": "read", "arguments": {"document": one}} for one in chosen]


async def used(stage: Stage, name: str, person: Person, line: str, eyes: Eyes) -> None:
    ids = [
        record.document.id
        for base in await stage.catalog.knowledge_bases()
        for record in await stage.catalog.records(base.id)
    ]
    usual, nosy = stage.engine.engine, Nosy(documents=sorted(ids))
    assert usual.research is not None
    assert usual.computation is not None
    ports = ToolPorts(
        contents=usual.research.contents,
        records=stage.catalog.records,
        compute=usual.computation.passages,
    )
    stage.engine.engine = replace(
        usual, models=[ReplyingModel(reply=nosy)], agent=Agent(tools=loader.tools(ports))
    )
    await stage.places.change(PLACES[name], lambda settings: replace(settings, tools="on"))
    try:
        shown = await stage.types(name, person, "ask", f"tools:yes {line}")
    finally:
        stage.engine.engine = usual
    assert nosy.steps > 3
    foreign = [holder for holder in HOLDERS if not may_learn(eyes, holder, bound=stage.bound)]
    sent = "\n".join(text for each in nosy.read for text in _shown(each))
    assert [SECRETS[one] for one in foreign if SECRETS[one] in sent] == []
    assert [TITLES[one] for one in foreign if TITLES[one] in sent] == []
    own = [SECRETS[one] for one in HOLDERS if one not in foreign]
    assert not own or any(secret in sent for secret in own)
    answers = [replace(one, pages=[page for page in one.pages if page.text]) for one in shown]
    assert not leaks(answers, learns(stage), asked=json.dumps(stage.engine.queries[-1].text))
    check(stage, answers, eyes)


def _shown(sent: str) -> list[str]:
    """What tools gave: the calls themselves repeat what the model asked for."""
    return re.findall(r"<(?:tool|passages)\b.*?</(?:tool|passages)>", sent, re.DOTALL)


@everybody
async def test_tools_everywhere(stage: Stage, name: str, person: Person) -> None:
    """For oneself in half of the places, for the channel in the others."""
    if [*PLACES].index(name) % 2:
        await used(stage, name, person, QUESTION, Eyes(place=name, person=person))
    else:
        await used(stage, name, person, f"channel: {QUESTION}", Eyes(place=name))
