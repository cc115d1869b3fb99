"""An outlet of Slack as a question just got it, the writes of its two routes, and what people see of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.port import Button, Page, Room, Write

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown
    from tests.doubles.slack_double.server import SlackServer
    from tests.unit.adapters.slack.conftest import Bot

SEARCHING = Page(status="Searching 3 files…")
FINAL = Page(
    text="You have **30** days [1].",
    footer="[1] <https://acme.slack.com/archives/C1/p1|handbook.pdf> — p. 3",
    buttons=(
        Button(name="sources", label="Sources", value="t1"),
        Button(name="again", label="Regenerate", value="t1", style="primary"),
        Button(name="rate", label="Good", value="t1 up", feedback=True),
        Button(name="rate", label="Bad", value="t1 down", feedback=True),
    ),
)


async def asked(bot: Bot, *, direct: bool = False, channel: str = "general") -> Room:
    """The room of a question that was just asked."""
    alice = bot.server.add_user("alice")
    place = bot.server.direct(alice) if direct else bot.server.add_channel(channel, [alice])
    await bot.server.user_says(alice, place, f"{bot.server.mention} how many days?")
    _, room = await bot.next()
    return room


def stream(page: Page | None, *, final: bool = False, part: int = 0) -> Write:
    return Write(part=part, page=page, route="stream", final=final)


def edit(page: Page | None, *, final: bool = False, part: int = 0) -> Write:
    return Write(part=part, page=page, route="edit", final=final)


def ours(server: SlackServer) -> list[Shown]:
    """All messages of ours, as people see them."""
    messages = [server.shown(ts) for ts in sorted(server.world.messages)]
    return [message for message in messages if message.ours]


def texts(shown: Shown) -> list[str]:
    return [text.text for text in shown.texts]


def methods(server: SlackServer) -> list[str]:
    return [call.method for call in server.calls if call.method.startswith("chat.")]
