from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.slack.api import call_api, is_host_of_slack, next_cursor
from adapters.slack.locations import PLATFORM
from bot.port import (
    Channel,
    ChannelKind,
    ChatError,
    Fields,
    Gone,
    Membership,
    People,
    Person,
    Place,
    Unreachable,
    Unreadable,
    WriteRefused,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable

    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.context import SlackContext

Value = TypeVar("Value")

log = logging.getLogger(__name__)

_ACCESS_SECONDS = 60.0
_NAMES_SECONDS = 3600.0
_NAME_TIMEOUT_SECONDS = 2.0
_MOST_RESULTS = 5000
_PAGE_SIZE = 1000
_MOST_PAGES = 10
_MOST_SINGLE_LOOKUPS = 30
_MOST_MEMBER_LISTS = 40
_CONVERSATIONS_PAGE_SIZE = 999
_SHARED_FLAGS = ("is_shared", "is_ext_shared", "is_org_shared", "is_pending_ext_shared")
_INVITED_TEAMS = ("pending_shared", "pending_connected_team_ids")
_GUEST_FLAGS = ("is_restricted", "is_ultra_restricted")
_PEOPLE = re.compile(r"<(?:@(?P<person>[UW][A-Z0-9]+)|!subteam\^(?P<group>S[A-Z0-9]+))(?:\|[^<>]*)?>")


class RecentResults:
    """Concurrent requests for a key share one call."""

    def __init__(self, seconds: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._results: OrderedDict[Hashable, tuple[float, asyncio.Future[Any]]] = OrderedDict()

    async def get(self, key: Hashable, load: Callable[[], Awaitable[Value]]) -> Value:
        """Errors are not cached."""
        recent = self._results.get(key)
        if recent is None or self._now() - recent[0] >= self._seconds:
            task = asyncio.ensure_future(load())
            recent = self._results[key] = (self._now(), task)
            self._results.move_to_end(key)
            task.add_done_callback(lambda done: self._forget_failure(key, done))
            while len(self._results) > _MOST_RESULTS:
                self._results.popitem(last=False)
        return await asyncio.shield(recent[1])

    def put(self, key: Hashable, value: object) -> None:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.set_result(value)
        self._results[key] = (self._now(), future)
        self._results.move_to_end(key)

    async def refresh(self, key: Hashable, load: Callable[[], Awaitable[Value]]) -> Value:
        self._results.pop(key, None)
        return await self.get(key, load)

    def close(self) -> None:
        for _, task in self._results.values():
            task.cancel()
        self._results.clear()

    def _forget_failure(self, key: Hashable, done: asyncio.Future[Any]) -> None:
        failed = done.cancelled() or done.exception() is not None
        recent = self._results.get(key)
        if failed and recent is not None and recent[1] is done:
            del self._results[key]


class SlackDirectory:
    def __init__(self, context: SlackContext) -> None:
        self._context = context
        self._access = RecentResults(_ACCESS_SECONDS)
        self._names = RecentResults(_NAMES_SECONDS)

    def close(self) -> None:
        self._access.close()
        self._names.close()

    @property
    def home(self) -> str:
        return self._context.workspace.team

    def of_workspace(self, workspace: str) -> SlackDirectory | None:
        return self if workspace == self.home else None

    async def workspace_of(self, team: str, channel: str) -> str:
        """Another one's, unless its channel is shared with ours."""
        if team in {"", self.home}:
            return self.home
        try:
            async with asyncio.timeout(_NAME_TIMEOUT_SECONDS):
                shared = (await self.channel(channel)).external
        except (ChatError, TimeoutError):
            shared = False
        return self.home if shared else team

    async def person(self, user: str) -> Person:
        """The bare id without Slack's answer."""
        try:
            async with asyncio.timeout(_NAME_TIMEOUT_SECONDS):
                profile = await self._names.get(user, lambda: self._load_user(user))
        except (ChatError, TimeoutError):
            return Person(id=user)
        return Person(
            id=user,
            name=_name(profile),
            language=profile.text("locale")[:2].lower(),
            time_zone=profile.text("tz"),
        )

    async def channel(self, channel: str) -> Channel:
        info = await self._channel(channel)
        name, kind = info.text("name"), _kind(info)
        return Channel(id=channel, name=name, kind=kind, external=self._is_shared(info))

    async def membership(self, person: str) -> Membership:
        user = await self._user(person)
        if not await self._is_full_member(user):
            return Membership()  # an administrator of another workspace
        admin = any(user.flag(name) for name in ("is_admin", "is_owner", "is_primary_owner"))
        groups = [] if admin else await self._access.get("groups", self._load_groups)
        roles = frozenset(name for _, names, members in groups if person in members for name in names)
        return Membership(admin=admin, roles=roles, member=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        """Full members can read every public channel."""
        try:
            open_to_all = _kind(await self._channel(channel)) == "public"
            if person and not await self._may_read(channel, {person}, open_to_all=open_to_all):
                return False
            if everyone_in and everyone_in != channel:
                return await self._all_may_read(channel, everyone_in, open_to_all=open_to_all)
        except Gone:
            return False
        return bool(person or everyone_in)

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        """Other bots of the workspace count."""
        people = {person} - {""}
        if everyone_in:
            external = (await self.channel(everyone_in)).external
            members = None if external else await self._members(everyone_in)
            if members is None:
                return False
            people |= members - {self._context.workspace.user}
        return bool(people) and await self._all_full_members(people)

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        try:
            mine = await self._access.get(("joined", person), lambda: self._load_joined(person))
        except WriteRefused as error:
            if len(channels) > _MOST_MEMBER_LISTS:
                raise
            log.info("Slack does not list the channels of a person: %s", error)
            mine = None
        if mine is not None:
            return mine.intersection(channels)
        listed = sorted(channels)[:_MOST_MEMBER_LISTS]
        are_in = await asyncio.gather(*(self._is_in(channel, person) for channel in listed))
        return frozenset(channel for channel, is_in in zip(listed, are_in, strict=True) if is_in)

    async def may_read_place(self, place: Place, person: str) -> bool:
        return await self.may_read(place.channel, person=person)

    async def shares_thread(self, place: Place) -> bool:
        return True

    async def present(self, place: Place, person: str) -> bool:
        channel, access = place.channel, self._access
        try:
            info = await access.refresh(("channel", channel), lambda: self._load_channel(channel))
            if _kind(info) == "public":
                user = await access.refresh(("user", person), lambda: self._load_user(person))
                if await self._is_full_member(user):
                    return True
            members = await access.refresh(("members", channel), lambda: self._load_members(channel))
        except Gone:
            return False
        if members is None:
            raise Unreachable("the channel has too many members to find one")
        return person in members

    async def people(self, mention: str) -> People:
        named = _PEOPLE.fullmatch(mention.strip())
        if named is None:
            raise Gone("this names neither a person nor a user group")
        if named["person"]:
            user = await self._user(named["person"])
            members = (
                (user.text("id"),) if await self._is_full_member(user) and not user.flag("is_bot") else ()
            )
            return People(id=user.text("id"), name=_name(user), members=members)
        groups = await self._access.get("groups", self._load_groups)
        if all(group != named["group"] for group, _, _ in groups):
            groups = await self._access.refresh("groups", self._load_groups)
        for group, names, members in (each for each in groups if each[0] == named["group"]):
            users = await asyncio.gather(*(self._user(each) for each in sorted(members)))
            human = [each.text("id") for each in users if not (each.flag("is_bot") or each.flag("deleted"))]
            return People(id=group, name=names[0], members=tuple(human))
        raise Gone("there is no such user group")

    async def direct(self, person: str) -> Place:
        call = self._context.read_client.conversations_open(users=person)
        opened = (await call_api("conversations.open", call)).need_object("channel")
        return Place(platform=PLATFORM, workspace=self.home, channel=opened.need_text("id"))

    async def _is_in(self, channel: str, person: str) -> bool:
        try:
            if _kind(await self._channel(channel)) not in ("public", "private"):
                return False
            return person in (await self._members(channel) or ())
        except Gone:
            return False

    def _is_shared(self, info: Fields) -> bool:
        teams = {*info.texts("connected_team_ids"), *info.texts("shared_team_ids")} - {self.home}
        return (
            bool(teams)
            or any(info.flag(name, uncertain=True) for name in _SHARED_FLAGS)
            or any(info.values.get(name) for name in _INVITED_TEAMS)
        )

    async def _all_may_read(self, channel: str, other: str, *, open_to_all: bool) -> bool:
        if not open_to_all and _kind(await self._channel(other)) == "public":
            return False
        readers = await self._members(other)
        return readers is not None and await self._may_read(channel, readers, open_to_all=open_to_all)

    async def _may_read(self, channel: str, people: set[str], *, open_to_all: bool) -> bool:
        others = people - {self._context.workspace.user}
        if open_to_all and len(others) <= 1 and await self._all_full_members(others):
            return True
        members = await self._members(channel)
        if members is None:
            return False
        outside = others - members
        return not outside or (open_to_all and await self._all_full_members(outside))

    async def _all_full_members(self, people: set[str]) -> bool:
        if len(people) <= _MOST_SINGLE_LOOKUPS:
            users = await asyncio.gather(*(self._user(person) for person in people))
            return await self._full_members(users) == people
        full_members = await self._access.get("full members", self._load_full_members)
        return full_members is not None and people <= full_members

    async def _full_members(self, users: Iterable[Fields]) -> set[str]:
        return {user.text("id") for user in users if await self._is_full_member(user)} - {""}

    async def _is_full_member(self, user: Fields) -> bool:
        is_other = any(user.flag(name, uncertain=True) for name in ("deleted", "is_stranger"))
        if is_other or user.text("team_id") != self._context.workspace.team:
            return False
        if any(name in user for name in _GUEST_FLAGS):
            return all(user.values.get(name) is False for name in _GUEST_FLAGS)
        return await self._knows_no_guests()

    async def _knows_no_guests(self) -> bool:
        """No guest flags for anyone; Slack's own server always has them."""
        if is_host_of_slack(self._context.settings.api_base_url):
            return False
        try:
            own = await self._user(self._context.workspace.user)
        except Gone:
            return False
        return not any(name in own for name in _GUEST_FLAGS)

    async def _channel(self, channel: str) -> Fields:
        return await self._access.get(("channel", channel), lambda: self._load_channel(channel))

    async def _user(self, user: str) -> Fields:
        return await self._access.get(("user", user), lambda: self._load_user(user))

    async def _members(self, channel: str) -> set[str] | None:
        return await self._access.get(("members", channel), lambda: self._load_members(channel))

    async def _load_channel(self, channel: str) -> Fields:
        call = self._context.read_client.conversations_info(channel=channel)
        return (await call_api("conversations.info", call)).need_object("channel")

    async def _load_user(self, user: str) -> Fields:
        call = self._context.read_client.users_info(user=user, include_locale=True)
        return (await call_api("users.info", call)).need_object("user")

    async def _load_joined(self, person: str) -> frozenset[str] | None:
        reader = self._context.read_client
        pages = await _all_pages(
            "users.conversations",
            lambda cursor: reader.users_conversations(
                user=person,
                types="public_channel,private_channel",
                exclude_archived=False,
                limit=_CONVERSATIONS_PAGE_SIZE,
                cursor=cursor,
            ),
        )
        if pages is None:
            return None
        found = {info.text("id"): info for page in pages for info in page.need_objects("channels")}
        for channel, info in found.items():
            if "is_ext_shared" in info:
                self._access.put(("channel", channel), info)
        return frozenset(found) - {""}

    async def _load_members(self, channel: str) -> set[str] | None:
        info = await self._channel(channel)
        if _kind(info) == "direct" and info.text("user"):
            return {info.text("user"), self._context.workspace.user}
        reader = self._context.read_client
        pages = await _all_pages(
            "conversations.members",
            lambda cursor: reader.conversations_members(channel=channel, limit=_PAGE_SIZE, cursor=cursor),
        )
        return None if pages is None else {each for page in pages for each in page.need_texts("members")}

    async def _load_full_members(self) -> set[str] | None:
        reader = self._context.read_client
        pages = await _all_pages(
            "users.list", lambda cursor: reader.users_list(limit=_PAGE_SIZE, cursor=cursor)
        )
        if pages is None:
            return None
        users = [user for page in pages for user in page.need_objects("members")]
        return await self._full_members(users)

    async def _load_groups(self) -> list[tuple[str, tuple[str, ...], frozenset[str]]]:
        try:
            call = self._context.read_client.usergroups_list(include_users=True)
            groups = (await call_api("usergroups.list", call)).need_objects("usergroups")
        except (WriteRefused, Unreadable) as error:
            log.info("Slack does not list user groups: %s", error)
            return []
        return [
            (
                group.text("id"),
                tuple(name for name in (group.text("handle"), group.text("name")) if name),
                frozenset(group.texts("users")),
            )
            for group in groups
            if not group.flag("date_delete", uncertain=True)
        ]


async def _all_pages(
    method: str, page: Callable[[str | None], Awaitable[AsyncSlackResponse]]
) -> list[Fields] | None:
    found: list[Fields] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        found.append(await call_api(method, page(cursor)))
        cursor = next_cursor(found[-1])
        if not cursor:
            return found
    return None


def _kind(info: Fields) -> ChannelKind:
    if info.flag("is_im"):
        return "direct"
    if info.flag("is_mpim"):
        return "group"
    is_public = info.values.get("is_private") is False and not info.flag("is_group", uncertain=True)
    return "public" if is_public else "private"


def _name(user: Fields) -> str:
    profile = user.object("profile")
    names = (
        profile.text("display_name"),
        profile.text("real_name"),
        user.text("real_name"),
        user.text("name"),
    )
    return next((name for name in names if name), "")
