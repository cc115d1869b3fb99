"""Commands, message menus and buttons."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from bot.port import Action, Button, Command, IncomingMessage, Room, Throttled, Write, WriteRefused
from tests.doubles.chat_server import Upload
from tests.doubles.discord_double.world import CREATE_PUBLIC_THREADS, MANAGE_GUILD
from tests.unit.adapters.discord.conftest import Recorder, write

if TYPE_CHECKING:
    from tests.doubles.discord_double.server import DiscordServer

pytestmark = pytest.mark.usefixtures("bot")
MORE = Button(name="page", label="More", value="2")
MINUTES = 60.0


async def test_a_command_with_options(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna", locale="de")
    file = Upload(name="handbook.md", content=b"# Handbook", media_type="text/markdown")
    interaction = await server.user_commands(
        anna, server.general, "/kb add", files=[file], options={"into": server.general.id}
    )
    command, _ = await service.next()
    assert isinstance(command, Command)
    assert (command.id, command.name, command.line) == (interaction.id, "kb add", "")
    assert command.values["into"] == server.general.id
    assert (command.person.id, command.person.language) == (anna.id, "de")
    assert (command.place.workspace, command.place.channel, command.place.thread) == (
        server.guild.id,
        server.general.id,
        "",
    )
    (attachment,) = command.attachments
    assert (attachment.name, attachment.size, attachment.media_type) == ("handbook.md", 10, "text/markdown")
    assert b"".join([block async for block in attachment.open()]) == b"# Handbook"


async def test_names_are_suggested_while_an_option_is_written(
    server: DiscordServer, service: Recorder
) -> None:
    service.names = ["budget.pdf", "a  line\nbreak", "", "😀" * 80, "😀" * 90]
    anna = server.add_user("anna")
    writing = await server.user_types(anna, server.general, "/ask question:why? file:bud", "file")
    await server.wait_for(lambda: writing.acknowledged)
    assert [choice["value"] for choice in writing.choices] == ["budget.pdf", "a line break", "😀" * 50]
    ((command, option),) = service.suggested
    assert (command.name, option, command.values["file"]) == ("ask", "file", "bud")
    assert (command.place.channel, command.person.id) == (server.general.id, anna.id)
    assert server.violations == []


async def test_suggestions_that_come_too_late_harm_nothing(
    server: DiscordServer, service: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(_service: Recorder, _command: Command, _option: str, _room: Room) -> list[str]:
        server.advance(4)
        return ["budget.pdf"]

    monkeypatch.setattr(Recorder, "suggestions", late)
    anna = server.add_user("anna")
    writing = await server.user_types(anna, server.general, "/ask file:bud", "file")
    await server.wait_for(lambda: server.calls_of("callback"))
    assert not writing.choices
    await server.user_commands(anna, server.general, "/ask why?")
    command, _ = await service.next()
    assert isinstance(command, Command)


async def test_a_command_is_acknowledged_at_once_and_answered_privately(
    server: DiscordServer, service: Recorder
) -> None:
    release = asyncio.Event()

    async def deal(event: Any, room: Room) -> None:
        await release.wait()
        outlet = room.outlet(private=event.person)
        await write(outlet, "Searching…")
        await write(outlet, "An answer.", final=True)
        await write(outlet, "The rest.", part=1, final=True)

    service.deal = deal
    anna, ben = server.add_user("anna"), server.add_user("ben")
    interaction = await server.user_commands(anna, server.general, "/ask why?")
    await server.wait_for(lambda: interaction.acknowledged)
    release.set()
    await service.next()
    seen = server.visible(anna, server.general)
    assert [each.text for each in seen if each.ours] == ["An answer.", "The rest."]
    assert {each.only_for for each in seen if each.ours} == {anna.id}
    assert server.visible(ben, server.general) == []
    assert len(server.calls_of("callback")) == 1
    assert server.violations == []
    others = [await server.user_commands(ben, server.general, "/ask why?") for _ in range(4)]
    await server.wait_for(lambda: all(each.acknowledged for each in others))
    # A busy machine may delay one of them.
    assert min(each.seconds for each in (interaction, *others)) < 0.1


async def test_ask_in_the_channel_is_for_all(server: DiscordServer, service: Recorder) -> None:
    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet()
        await write(outlet, "Half")
        await write(outlet, "Whole.", final=True)

    service.deal = deal
    anna, ben = server.add_user("anna"), server.add_user("ben")
    await server.user_commands(anna, server.general, "/ask question:why? where:channel")
    command, _ = await service.next()
    assert command.values == {"question": "why?", "where": "channel"}
    assert [each.text for each in server.visible(ben, server.general)] == ["Whole."]


async def test_a_refusal_stays_private_where_a_public_answer_was_announced(
    server: DiscordServer, service: Recorder
) -> None:
    async def deal(event: Any, room: Room) -> None:
        await write(room.outlet(private=event.person), "You may not do that here.", final=True)

    service.deal = deal
    anna, ben = server.add_user("anna"), server.add_user("ben")
    await server.user_commands(anna, server.general, "/ask question:why? where:channel")
    await service.next()
    assert server.visible(ben, server.general) == []
    assert [each.text for each in server.visible(anna, server.general)] == ["You may not do that here."]


async def test_thinking_is_removed_if_nothing_is_written(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    await server.user_commands(anna, server.general, "/ask why?")
    await service.next()
    await server.wait_for(lambda: not server.visible(anna, server.general))


async def test_a_private_answer_that_outlives_the_token_continues_directly(
    server: DiscordServer, service: Recorder
) -> None:
    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet(private=event.person)
        await write(outlet, "Half")
        server.advance(16 * MINUTES)
        await write(outlet, "Whole.", final=True)
        server.closed_to_us.add(event.person.id)
        with pytest.raises(WriteRefused, match="allow direct messages"):
            await write(outlet, "More.", part=1)

    service.deal = deal
    anna = server.add_user("anna")
    await server.user_commands(anna, server.general, "/ask why?")
    await service.next()
    assert [each.text for each in server.visible(anna, anna.id)] == ["Whole."]


async def test_a_public_answer_that_outlives_the_token_is_edited_in_the_channel(
    server: DiscordServer, service: Recorder
) -> None:
    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet()
        first = await write(outlet, "Half")
        server.advance(16 * MINUTES)
        assert await write(outlet, "Whole.", final=True) == first

    service.deal = deal
    anna = server.add_user("anna")
    await server.user_commands(anna, server.general, "/ask question:why? where:channel")
    await service.next()
    assert [each.text for each in server.visible(anna, server.general)] == ["Whole."]


async def test_a_rate_limit_of_the_token_is_raised(server: DiscordServer, service: Recorder) -> None:
    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet(private=event.person)
        server.fail("edit_by_token", status=429, retry_after=2)
        with pytest.raises(Throttled):
            await write(outlet, "An answer.")
        await write(outlet, "An answer.", final=True)

    service.deal = deal
    anna = server.add_user("anna")
    await server.user_commands(anna, server.general, "/ask why?")
    await service.next()
    assert [each.text for each in server.visible(anna, server.general)] == ["An answer."]


async def test_ask_about_a_message(server: DiscordServer, service: Recorder) -> None:
    async def deal(event: Any, room: Room) -> None:
        if isinstance(event, IncomingMessage) and event.private:
            await write(room.outlet(private=event.person), "It says no.", final=True)

    service.deal = deal
    anna, ben = server.add_user("anna", locale="fr"), server.add_user("ben")
    file = Upload(name="contract.pdf", content=b"%PDF", media_type="application/pdf")
    message = await server.user_uploads(ben, server.general, file, text="Is this allowed?")
    await service.next()
    interaction = await server.user_shortcut(anna, message, "Ask about this")
    event, _ = await service.next()
    assert isinstance(event, IncomingMessage)
    assert (event.id, event.text, event.person.id) == (interaction.id, "Is this allowed?", anna.id)
    assert (event.addressed, event.private, event.to_others) == (True, True, False)
    assert event.person.language == "fr"
    assert event.place.thread == event.about == message
    assert event.uri.endswith(message)
    assert b"".join([block async for block in event.attachments[0].open()]) == b"%PDF"
    assert [each.text for each in server.visible(anna, server.general) if each.ours] == ["It says no."]
    assert not any(each.ours for each in server.visible(ben, server.general))


async def _answered(server: DiscordServer, service: Recorder, user: Any, *buttons: Button) -> str:
    """An answer with buttons in a thread."""

    async def deal(event: Any, room: Room) -> None:
        if isinstance(event, IncomingMessage):
            await write(room.outlet(), "An answer.", final=True, buttons=buttons)

    service.deal = deal
    await server.user_says(user, server.general, f"{server.bot.mention} why?")
    await service.next()
    return server.ours()[-1].id


async def test_a_button_answered_privately(server: DiscordServer, service: Recorder) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    sources = Button(name="sources", label="Sources", value="turn:1", style="primary")
    message = await _answered(server, service, anna, sources)

    async def deal(event: Any, room: Room) -> None:
        await write(room.outlet(private=event.person), "“The quote.”", final=True, buttons=[MORE])

    service.deal = deal
    thread = server.shown(message).thread
    assert server.shown(message).button("Sources").action == "footnote:sources:turn:1"
    interaction = await server.user_clicks(ben, message, "Sources")
    action, _ = await service.next()
    assert isinstance(action, Action)
    assert (action.name, action.value, action.message) == ("sources", "turn:1", message)
    assert (action.place.channel, action.place.thread) == (server.general.id, thread)
    assert action.person.id == ben.id
    assert server.shown(message).text == "An answer."
    assert [each.text for each in server.visible(ben, server.general, thread)][-1] == "“The quote.”"
    assert [each.text for each in server.visible(anna, server.general, thread)][-1] == "An answer."
    assert len(server.calls_of("callback")) == 1
    others = [await server.user_clicks(ben, message, "Sources") for _ in range(4)]
    await server.wait_for(lambda: all(each.acknowledged for each in others))
    # A busy machine may delay one of them.
    assert min(each.seconds for each in (interaction, *others)) < 0.1


async def test_paging_in_a_message_that_only_one_person_sees(
    server: DiscordServer, service: Recorder
) -> None:
    anna = server.add_user("anna")
    anna.locale = "en-US"

    async def deal(event: Any, room: Room) -> None:
        if isinstance(event, Command):
            await write(room.outlet(private=event.person), "1 to 10", final=True, buttons=[MORE])
        elif event.value == "2":
            outlet = room.outlet(private=event.person, posted=(event.message,))
            await write(
                outlet, "11 to 20", final=True, buttons=[Button(name="page", label="Last", value="3")]
            )
        else:
            await write(room.outlet(posted=(event.message,)), "21 to 22", final=True)

    service.deal = deal
    await server.user_commands(anna, server.general, "/kb list")
    await service.next()
    (shown,) = server.visible(anna, server.general)
    for label, text in (("More", "11 to 20"), ("Last", "21 to 22")):
        await server.user_clicks(anna, shown.id, label)
        await service.next()
        assert [(each.id, each.text) for each in server.visible(anna, server.general)] == [(shown.id, text)]


async def test_regenerating_edits_the_existing_answer(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    message = await _answered(server, service, anna, Button(name="again", label="Regenerate"))

    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet(posted=(event.message,))
        await write(outlet, "Another answer.", final=True)
        await write(outlet, "Its rest.", part=1, final=True)

    service.deal = deal
    await server.user_clicks(anna, message, "Regenerate")
    await service.next()
    thread = server.shown(message).thread
    assert [(each.text, each.thread) for each in server.ours()] == [
        ("Another answer.", thread),
        ("Its rest.", thread),
    ]


async def test_buttons_work_after_a_restart(server: DiscordServer, service: Recorder) -> None:
    """A message of an earlier process."""
    anna = server.add_user("anna")
    buttons = [{"type": 2, "style": 2, "label": "Good", "custom_id": "footnote:feedback:t1:up"}]
    async with aiohttp.ClientSession() as session:
        response = await session.post(
            f"{server.api_url}/channels/{server.general.id}/messages",
            json={"content": "An answer.", "components": [{"type": 1, "components": buttons}]},
            headers={"Authorization": f"Bot {server.token}"},
        )
        message = (await response.json())["id"]
    await server.user_clicks(anna, message, "Good")
    action, _ = await service.next()
    assert (action.name, action.value, action.message) == ("feedback", "t1:up", message)


async def test_a_lost_acknowledgement_is_repeated(server: DiscordServer, service: Recorder) -> None:
    server.fail("callback", status=502, applied=True)
    await server.user_commands(server.add_user("anna"), server.general, "/ask why?")
    await service.next()


async def test_an_interaction_acknowledged_by_another_process_is_ignored(
    server: DiscordServer, service: Recorder
) -> None:
    body = b'{"code": 40060, "message": "Interaction has already been acknowledged."}'
    headers = {"Content-Type": "application/json", "Via": "1.1 google"}
    server.fail("callback", status=400, body=body, headers=headers)
    anna = server.add_user("anna")
    await server.user_commands(anna, server.general, "/ask question:why?")
    await server.user_commands(anna, server.general, "/ask question:why not?")
    command, _ = await service.next()
    assert command.values["question"] == "why not?"


async def test_buttons_are_in_rows_of_five_and_removed(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    message = await _answered(server, service, anna, *(Button(name=f"b{n}", label=str(n)) for n in range(7)))
    rows = server.message(message).components
    assert [len(row["components"]) for row in rows] == [5, 2]  # type: ignore[arg-type]

    async def deal(event: Any, room: Room) -> None:
        await write(room.outlet(posted=(event.message,)), "Stopped.", final=True)

    service.deal = deal
    await server.user_clicks(anna, message, "0")
    await service.next()
    assert server.shown(message).buttons == ()


async def test_a_message_of_a_command_is_deleted(server: DiscordServer, service: Recorder) -> None:
    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet(private=event.person)
        await write(outlet, "One")
        await write(outlet, "Two", part=1)
        await outlet.write(Write(part=1, page=None, route="edit"))
        await outlet.write(Write(part=0, page=None, route="edit"))

    service.deal = deal
    anna = server.add_user("anna")
    await server.user_commands(anna, server.general, "/ask why?")
    await service.next()
    assert server.visible(anna, server.general) == []


async def test_commands_where_the_bot_may_not_open_threads(server: DiscordServer, service: Recorder) -> None:
    server.set_rights(server.general, server.bot, deny=CREATE_PUBLIC_THREADS)
    admin = server.add_user("admin")
    server.gives_role(admin, server.add_role("boss", MANAGE_GUILD))
    await server.user_commands(admin, server.general, "/kb list")
    command, room = await service.next()
    assert command.name == "kb list"
    standing = await room.directory.membership(admin.id)
    assert (standing.admin, standing.roles) == (True, frozenset({"boss"}))
