"""A terminal has no buttons: what can be pressed elsewhere is chosen by its number."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from rich.console import Console

from adapters.console import _Session
from bot.port import Button, Page, Place, Reply, Write

if TYPE_CHECKING:
    from bot.port import Action, IncomingMessage, Room

CHOICES = tuple(
    Button(name="choice", label=label, value=f"turn:{number}")
    for number, label in enumerate(("For staff", "For contractors"), 1)
)


class Service:
    commands = ()

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def on_message(self, message: IncomingMessage, room: Room) -> None:
        self.asked.append(message.text)
        await self._answer(room, "For whom?", (*CHOICES, Button(name="why", label="Why this?", value="turn")))

    async def on_action(self, action: Action, room: Room) -> None:
        self.asked.append(action.value)
        await self._answer(room, "Four weeks.", ())

    async def _answer(self, room: Room, text: str, buttons: tuple[Button, ...]) -> None:
        page = Page(text=text, reply=Reply(text=text, buttons=buttons))
        await room.outlet().write(Write(part=0, page=page, route="console", final=True))


async def test_a_question_back_is_answered_by_a_number() -> None:
    service, shown = Service(), io.StringIO()
    session = _Session(
        place=Place(platform="console", workspace="local", channel="c"),
        service=cast("Any", service),
        console=Console(file=shown, width=120),
    )
    await session.enter("How long is the notice period?")
    assert "1  For staff   2  For contractors   (type the number)" in shown.getvalue()
    assert "Why this?" not in shown.getvalue()
    await session.enter("2")
    assert service.asked[-1] == "turn:2"
    assert session.last.text == "Four weeks."
    await session.enter("2")
    assert service.asked[-1] == "2"
