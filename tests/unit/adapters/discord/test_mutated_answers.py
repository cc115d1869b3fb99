"""Discord's answers with a field missing, null or of another type: named errors, which cost only themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.port import ChatError
from tests.unit.adapters.discord.conftest import Recorder, running
from tests.unit.adapters.mutations import mutated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.port import Room
    from tests.doubles.discord_double.server import DiscordServer

    Probe = Callable[[DiscordServer, Room, str], Awaitable[object]]


async def earlier(server: DiscordServer, room: Room, link: str) -> None:
    messages = await room.earlier(limit=9)
    assert len(messages) >= 2, "one message costs only itself"


async def fetch(server: DiscordServer, room: Room, link: str) -> None:
    await room.fetch(link)


async def membership(server: DiscordServer, room: Room, link: str) -> None:
    found = await room.directory.membership(server.add_user("new").id)  # members are cached
    assert not found.admin, "wider access"


PROBES: dict[str, Probe] = {
    "list_messages": earlier,
    "get_message": fetch,
    "get_member": membership,
}


@pytest.mark.parametrize("method", PROBES)
async def test_no_field_of_an_answer_is_taken_for_granted(
    server: DiscordServer, service: Recorder, method: str
) -> None:
    answers: list[Any] = []

    def keep(answer: Any) -> Any:
        answers.append(answer)
        return answer

    async with running(server, service, threads=False):
        anna = server.add_user("anna")
        for text in ("one", "two", "three"):
            await server.user_says(anna, server.general, text)
            await service.next()
        asked = await server.user_says(anna, server.general, f"{server.bot.mention} why?")
        _, room = await service.next()
        link = f"https://discord.com/channels/{server.guild.id}/{server.general.id}/{asked}"
        server.changed_answers[method] = keep
        await PROBES[method](server, room, link)
        assert answers, "the method is not called"
        for name, changed in [*mutated(answers[0]), ("null", None), ("a text", "x")]:
            server.changed_answers[method] = lambda _, changed=changed: changed
            try:
                await PROBES[method](server, room, link)
            except ChatError:
                continue
            except Exception as error:
                raise AssertionError(f"{method}: {name}: {error!r}") from error
