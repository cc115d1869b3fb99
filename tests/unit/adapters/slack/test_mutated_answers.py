"""Slack's answers with a field missing, null or of another type: named errors, and no wider access."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from adapters.slack.context import SlackContext, identify, open_clients
from adapters.slack.directory import SlackDirectory
from adapters.slack.incoming.message_reader import MessageReader
from adapters.slack.outlets.channel import SlackTarget
from adapters.slack.outlets.uploads import send_to_person, upload_image
from adapters.slack.room import SlackRoom
from bot.port import ChatError, Fields, File, Page, Place, Write
from tests.doubles.slack_double.server import SlackServer, Upload
from tests.unit.adapters.mutations import mutated
from tests.unit.adapters.slack.conftest import settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.doubles.slack_double.world import Channel, User

    Probe = Callable[["World"], Awaitable[object]]

PICTURE = File(name="p.png", media_type="image/png", content=b"\x89PNG", description="Page 1")


class World:
    """A workspace whose answers to one method can be changed."""

    def __init__(self, server: SlackServer, context: SlackContext) -> None:
        self.server, self.context = server, context
        self.alice: User = server.add_user("alice")
        self.guest: User = server.add_user("guest", guest=True)
        self.closed: Channel = server.add_channel("closed", [self.alice], kind="private")
        self.open: Channel = server.add_channel("open", [self.alice, self.guest])
        server.world.groups["S1"] = ("staff", [self.alice.id])
        self.root = self.thread = ""

    @property
    def directory(self) -> SlackDirectory:
        return SlackDirectory(self.context)

    @property
    def reader(self) -> MessageReader:
        return MessageReader(context=self.context, directory=self.directory)

    async def told(self) -> None:
        self.root = await self.server.user_says(self.alice, self.open, "root")
        await self.server.user_says(self.alice, self.open, "one", thread=self.root)
        file = Upload(name="a.md", content=b"# A")
        self.thread = await self.server.user_uploads(
            self.alice, self.open, file, text="two", thread=self.root
        )

    def room(self) -> SlackRoom:
        team = self.context.workspace.team
        place = Place(platform="slack", workspace=team, channel=self.open.id, thread=self.root)
        target = SlackTarget(place=place, source=self.thread, question=self.thread, person=self.alice.id)
        return SlackRoom(reader=self.reader, target=target, answer_messages=nothing)


async def nothing(place: Place) -> frozenset[str]:
    return frozenset()


async def reads_private(world: World) -> None:
    assert not await world.directory.may_read(world.closed.id, person=world.guest.id), "wider access"
    assert not await world.directory.may_read(world.closed.id, everyone_in=world.open.id), "wider access"


async def membership(world: World) -> None:
    for user in (world.guest, world.alice):
        found = await world.directory.membership(user.id)
        assert not found.admin, "wider access"
        assert not (found.member and user.guest), "wider access"
        await world.directory.person(user.id)


async def channel(world: World) -> None:
    found = await world.directory.channel(world.closed.id)
    assert found.kind != "public", "wider access"
    await reads_private(world)


async def earlier(world: World) -> None:
    messages = await world.reader.before(world.open.id, ts="9", thread=world.root, limit=9)
    assert len(messages) >= 2, "one message costs only itself"


async def history(world: World) -> None:
    await world.reader.before(world.open.id, ts="9", thread="", limit=9)
    await world.reader.find(world.open.id, world.root)


async def download(world: World) -> None:
    from adapters.slack.incoming import downloads

    file = next(iter(world.server.world.files))
    (found,) = await downloads.attachments(world.context, [Fields("file", {"id": file})], uri="u")
    if not found.refusal:
        async for _ in found.open():
            pass


async def posts(world: World) -> None:
    outlet = world.room().outlet()
    for text, final in (("", False), ("Half", False), ("Half and whole.", True)):
        page = Page(status="" if text else "Looking…", text=text)
        await outlet.write(Write(part=0, page=page, route=outlet.routes[0].name, final=final))


async def edits(world: World) -> None:
    outlet = world.room().outlet()
    for final in (False, True):
        await outlet.write(Write(part=0, page=Page(text="Half"), route="edit", final=final))


async def uploads(world: World) -> None:
    await upload_image(world.context, PICTURE)
    await send_to_person(world.context, world.alice.id, [PICTURE])


PROBES: dict[str, Probe] = {
    "auth.test": lambda world: identify(world.context.read_client),
    "users.info": membership,
    "usergroups.list": membership,
    "conversations.info": channel,
    "conversations.members": reads_private,
    "conversations.replies": earlier,
    "conversations.history": history,
    "files.info": download,
    "chat.startStream": posts,
    "chat.appendStream": posts,
    "chat.stopStream": posts,
    "chat.postMessage": edits,
    "chat.update": edits,
    "files.getUploadURLExternal": uploads,
    "files.completeUploadExternal": uploads,
    "conversations.open": uploads,
}
MAY_COST_ALL = {"conversations.replies": ("messages removed", "messages null", "messages other type")}


@pytest.fixture
async def here(server: SlackServer) -> Any:
    own = settings(server)
    async with open_clients(own) as (session, write_client, read_client):
        context = SlackContext(
            settings=own,
            session=session,
            write_client=write_client,
            read_client=read_client,
            workspace=await identify(read_client),
        )
        world = World(server, context)
        await world.told()
        yield world


@pytest.mark.parametrize("method", PROBES)
async def test_no_field_of_an_answer_is_taken_for_granted(here: World, method: str) -> None:
    answers: list[Any] = []

    def keep(answer: Any) -> Any:
        answers.append(answer)
        return answer

    here.server.limits = dict.fromkeys(here.server.limits, (100_000, 1.0))
    here.server.changed_answers[method] = keep
    await PROBES[method](here)
    assert answers, "the method is not called"
    for name, changed in [*mutated(answers[0]), ("a list", []), ("null", None)]:
        here.server.changed_answers[method] = lambda _, changed=changed: changed
        try:
            await PROBES[method](here)
        except ChatError:
            continue
        except AssertionError as error:
            if name not in MAY_COST_ALL.get(method, ()):
                raise AssertionError(f"{method}: {name}: {error}") from error
        except Exception as error:
            raise AssertionError(f"{method}: {name}: {error!r}") from error


def _without_guest_flags(of: Callable[[str], bool]) -> Callable[[Any], Any]:
    def change(answer: Any) -> Any:
        for user in answer.get("members") or [answer["user"]]:
            if of(user["id"]):
                del user["is_restricted"], user["is_ultra_restricted"]
        return answer

    return change


async def test_who_has_no_guest_flags_is_a_member_only_where_nobody_has_them(here: World) -> None:
    many = here.server.add_channel("many", [here.server.add_user(f"m{each}") for each in range(31)])
    groups = here.server.add_channel("few", [here.alice]).id, many.id
    our_own = here.context.workspace.user
    stranger = here.server.add_user("stranger", stranger=True).id
    real = here.context.settings.model_copy(update={"api_base_url": "https://slack.com/api/"})

    async def members(without: Callable[[str], bool], context: SlackContext = here.context) -> list[bool]:
        methods = ("users.info", "users.list")
        here.server.changed_answers.update(dict.fromkeys(methods, _without_guest_flags(without)))
        directory = SlackDirectory(context)
        of_groups = [await directory.are_members(everyone_in=group) for group in groups]
        return [*of_groups, (await directory.membership(here.alice.id)).member]

    assert await members(lambda user: user != our_own) == [False, False, False]
    assert await members(lambda user: True) == [True, True, True]
    assert not await here.directory.are_members(person=stranger)
    assert await members(lambda user: True, replace(here.context, settings=real)) == [False, False, False]
