"""A greeting when the bot joins a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.port import Arrival
from tests.doubles.discord_double import payloads
from tests.unit.adapters.discord.conftest import Recorder, running, write

if TYPE_CHECKING:
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import Channel, Guild


def joined_server(server: DiscordServer, *, system: bool = True) -> tuple[Guild, Channel]:
    owner = server.add_user("olga")
    guild = server.world.guild("New", owner)
    server.world.join(guild, server.bot)
    channel = server.world.channel(guild, "welcome")
    guild.system_channel = channel.id if system else ""

    def create(session: object) -> payloads.Payload:
        made = payloads.guild(guild, server.world, viewer=server.bot.id, members=False)
        return {name: value for name, value in made.items() if name != "unavailable"}

    server.gateway.dispatch("GUILD_CREATE", create)
    return guild, channel


async def test_a_new_server_is_greeted_in_its_system_channel(
    server: DiscordServer, service: Recorder
) -> None:
    async with running(server, service):
        guild, channel = joined_server(server)
        arrival, room = await service.next()
        assert isinstance(arrival, Arrival)
        assert (arrival.kind, arrival.place.workspace, arrival.place.channel) == (
            "joined",
            guild.id,
            channel.id,
        )
        await write(room.outlet(), "Hello!", final=True)
        (message,) = server.ours()
        assert (message.text, message.channel) == ("Hello!", channel.id)
    assert service.inbox.events == {}


async def test_without_a_system_channel_the_owner_is_greeted(
    server: DiscordServer, service: Recorder
) -> None:
    async with running(server, service):
        guild, _ = joined_server(server, system=False)
        arrival, room = await service.next()
        assert arrival.person.id == guild.owner
        await write(room.outlet(), "Hello!", final=True)
        (message,) = server.ours()
        assert message.channel == server.direct(server.world.users[guild.owner]).id


async def test_servers_of_the_last_session_are_not_greeted(server: DiscordServer, service: Recorder) -> None:
    async with running(server, service):
        await server.user_says(server.add_user("anna"), server.general, f"{server.bot.mention} hi")
        event, _ = await service.next()
        assert event.text == "hi"


async def test_a_join_that_was_not_handled_is_handled_after_a_restart(
    server: DiscordServer, service: Recorder
) -> None:
    server.guild.system_channel = server.general.id
    await service.inbox.add("discord", f"joined:{server.guild.id}:t", {"guild": int(server.guild.id)})
    async with running(server, service):
        arrival, _ = await service.next()
        assert (arrival.id, arrival.place.channel) == (f"{server.guild.id}:t", server.general.id)


async def test_a_read_message_is_marked(server: DiscordServer, service: Recorder) -> None:
    async with running(server, service):
        ts = await server.user_says(server.add_user("anna"), server.general, f"{server.bot.mention} look")
        _, room = await service.next()
        assert await room.mark_read()
        assert "✅" in server.message(ts).reactions
        server.fail("react", status=403, times=-1)
        assert not await room.mark_read()
