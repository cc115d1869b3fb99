"""What ben, who asks, and cleo, an expert, do and see, on both platforms."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import has, words

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown, Upload
    from tests.journeys.chat.scenario import Scenario

HANDBOOK = "# Logs\n\nAccess logs are kept for two weeks.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One question; its subject tells it apart."""

    town: Scenario
    room: str
    subject: str
    question: str
    person: str
    told: Shown
    """That the question is with the experts, with a button to withdraw it."""

    async def post(self, experts: str, expert: str = "cleo") -> Shown:
        """The question as an expert sees it, once it asks for an answer there."""
        town = self.town
        found = await town.until(lambda: posts(town, experts, self.subject, expert))
        if self.has_threads(experts):
            await town.until(lambda: town.ours(expert, experts, found[0].id)[1:])
        return found[0]

    def has_threads(self, experts: str) -> bool:
        """Direct messages on Discord have none."""
        directs = {self.town.direct(name) for name in self.town.chat.people}
        return self.town.chat.platform == "slack" or experts not in directs

    async def says(
        self, experts: str, post: Shown, text: str, *, expert: str = "cleo", files: tuple[Upload, ...] = ()
    ) -> str:
        chat = self.town.chat
        below = {"thread": post.id} if self.has_threads(experts) else {"reply_to": post.id}
        return await chat.says(chat.people[expert], experts, text, files=files, **below)

    def back(self, text: str) -> list[Shown]:
        """What the asker sees under the question."""
        ours = self.town.ours(self.person, self.room, self.question)
        return [each for each in ours if text in words(each).replace("`", "")]

    async def comes(self, text: str) -> Shown:
        try:
            return (await self.town.until(lambda: self.back(text)))[0]
        except AssertionError as error:
            seen = "\n".join(repr(words(each)) for each in self.back(""))
            raise AssertionError(f"{text!r} is not among\n{seen}\n{error}") from None

    async def heard(self, experts: str, post: Shown, text: str, expert: str = "cleo") -> Shown:
        """What the expert sees below the question, or beside it."""
        town = self.town

        def found() -> list[Shown]:
            below = post.id if self.has_threads(experts) else ""
            return [each for each in town.ours(expert, experts, below) if text in words(each)]

        return (await town.until(found))[-1]


async def experts_of(town: Scenario, room: str, *experts: str, text: str = HANDBOOK) -> None:
    """A channel with a file and experts: channels, or mentions of people."""
    await town.knows(room, text)
    for number, each in enumerate(experts, 1):
        await town.commands("ada", room, f"kb experts action:add channel:{each}")
        await town.until(lambda number=number: len(_answers(town, room)) == number)
    assert all("Experts of" in each for each in _answers(town, room)), _answers(town, room)


def _answers(town: Scenario, room: str) -> list[str]:
    texts = [words(each) for each in town.ours("ada", room)]
    return [each for each in texts if "Experts of" in each or "nothing was changed" in each]


async def preview(town: Scenario, room: str, subject: str, person: str = "ben") -> tuple[str, Shown]:
    """Asked, not found, and what would be sent."""
    town.model.on(streamed("I do not know that."), task="answer", matching=subject, times=1)
    question = await town.says(person, room, f"@footnote Who has the key of the {subject}?")
    answer = await town.answered(person, room, question)
    await town.clicks(person, answer[-1], "Ask an expert")
    shown = await town.written(person, room, question, "goes to the experts")
    assert subject in words(shown)
    return question, shown


async def sent(town: Scenario, room: str, subject: str, person: str = "ben") -> Scene:
    question, shown = await preview(town, room, subject, person)
    return await consented(town, room, subject, question, shown, person)


async def consented(
    town: Scenario, room: str, subject: str, question: str, shown: Shown, person: str = "ben"
) -> Scene:
    await town.clicks(person, shown, "Send")
    told = await town.until(
        lambda: [each for each in town.ours(person, room, question) if has(each, "Withdraw")]
    )
    return Scene(town=town, room=room, subject=subject, question=question, person=person, told=told[-1])


def posts(town: Scenario, experts: str, subject: str, expert: str = "cleo") -> list[Shown]:
    return [each for each in town.ours(expert, experts) if subject in words(each)]


async def quiet(town: Scenario) -> None:
    """Until nothing was written for a moment."""
    calls = -1
    while calls != len(town.chat.server.calls):
        calls = len(town.chat.server.calls)
        try:
            async with asyncio.timeout(0.5):
                await town.bot.until(lambda: False)
        except TimeoutError:
            continue
