"""Who people are and what they can read, as Slack says it now or said it a moment ago."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.slack.wire import ask
from bot.port import Channel, ChannelKind, ChatError, Gone, Person, Refused, Standing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Mapping

    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.wire import Wire

Told = TypeVar("Told")

log = logging.getLogger(__name__)

_RIGHTS_SECONDS = 60.0
_NAMES_SECONDS = 3600.0
_NAME_SECONDS = 2.0
_KEPT = 5000
_PAGE = 1000
_PAGES = 10
_ONE_BY_ONE = 30


class Recent:
    """Answers that are kept a while; who asks while an answer is on its way waits for the same one."""

    def __init__(self, seconds: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._kept: OrderedDict[Hashable, tuple[float, asyncio.Future[Any]]] = OrderedDict()

    async def get(self, key: Hashable, load: Callable[[], Awaitable[Told]]) -> Told:
        """What is kept, else what `load` gives; an error is not kept."""
        kept = self._kept.get(key)
        if kept is None or self._now() - kept[0] >= self._seconds:
            task = asyncio.ensure_future(load())
            kept = self._kept[key] = (self._now(), task)
            self._kept.move_to_end(key)
            task.add_done_callback(lambda done: self._settled(key, done))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return await asyncio.shield(kept[1])

    def close(self) -> None:
        """Nobody waits any longer."""
        for _, task in self._kept.values():
            task.cancel()
        self._kept.clear()

    def _settled(self, key: Hashable, done: asyncio.Future[Any]) -> None:
        failed = done.cancelled() or done.exception() is not None
        kept = self._kept.get(key)
        if failed and kept is not None and kept[1] is done:
            del self._kept[key]


class People:
    """The directory of the workspace (`bot.port.Directory`), and the names of people for what they write."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._rights = Recent(_RIGHTS_SECONDS)
        self._names = Recent(_NAMES_SECONDS)

    def close(self) -> None:
        """Ask nothing more."""
        self._rights.close()
        self._names.close()

    # names

    async def person(self, user: str) -> Person:
        """The person with name and language; just the id when Slack does not say in time."""
        try:
            async with asyncio.timeout(_NAME_SECONDS):
                told = await self._names.get(user, lambda: self._load_user(user))
        except (ChatError, TimeoutError):
            return Person(id=user)
        return Person(id=user, name=_name(told), language=str(told.get("locale") or "")[:2].lower())

    # bot.port.Directory

    async def channel(self, channel: str) -> Channel:
        """What Slack says about the channel."""
        told = await self._channel(channel)
        return Channel(
            id=channel,
            name=str(told.get("name") or ""),
            kind=_kind(told),
            external=bool(told.get("is_ext_shared") or told.get("is_pending_ext_shared")),
        )

    async def standing(self, person: str) -> Standing:
        """Administrators and owners of the workspace; user groups by handle and by name."""
        told = await self._user(person)
        if not self._is_full(told):
            return Standing()  # an administrator elsewhere is nobody here
        admin = any(told.get(name) for name in ("is_admin", "is_owner", "is_primary_owner"))
        groups = await self._rights.get("groups", self._load_groups)
        roles = frozenset(name for names, members in groups if person in members for name in names)
        return Standing(admin=admin, roles=roles, member=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        """See `bot.port.Directory`: members can read; in a public channel so can all who are no guests and no strangers."""
        try:
            open_to_all = _kind(await self._channel(channel)) == "public"
            if person and not await self._may_read(channel, {person}, open_to_all=open_to_all):
                return False
            if everyone_in and everyone_in != channel:
                return await self._all_may_read(channel, everyone_in, open_to_all=open_to_all)
        except Gone:
            return False
        return bool(person or everyone_in)

    async def _all_may_read(self, channel: str, other: str, *, open_to_all: bool) -> bool:
        if not open_to_all and _kind(await self._channel(other)) == "public":
            return False
        readers = await self._members(other)
        return readers is not None and await self._may_read(channel, readers, open_to_all=open_to_all)

    async def _may_read(self, channel: str, people: set[str], *, open_to_all: bool) -> bool:
        others = people - {self._wire.workspace.user}
        if open_to_all and len(others) <= 1 and await self._all_full(others):
            return True
        members = await self._members(channel)
        if members is None:
            return False
        outside = others - members
        return not outside or (open_to_all and await self._all_full(outside))

    async def _all_full(self, people: set[str]) -> bool:
        """Whether all are ordinary members of the workspace, who can read every public channel."""
        if len(people) <= _ONE_BY_ONE:
            told = await asyncio.gather(*(self._user(person) for person in people))
            return all(self._is_full(user) for user in told)
        everybody = await self._rights.get("everybody", self._load_everybody)
        return everybody is not None and people <= everybody

    def _is_full(self, user: Mapping[str, Any]) -> bool:
        lesser = ("deleted", "is_restricted", "is_ultra_restricted", "is_stranger")
        return user.get("team_id") == self._wire.workspace.team and not any(user.get(name) for name in lesser)

    # asking

    async def _channel(self, channel: str) -> Mapping[str, Any]:
        return await self._rights.get(("channel", channel), lambda: self._load_channel(channel))

    async def _user(self, user: str) -> Mapping[str, Any]:
        return await self._rights.get(("user", user), lambda: self._load_user(user))

    async def _members(self, channel: str) -> set[str] | None:
        """Everyone in the channel; None when there are too many to tell."""
        return await self._rights.get(("members", channel), lambda: self._load_members(channel))

    async def _load_channel(self, channel: str) -> Mapping[str, Any]:
        told = await ask("conversations.info", self._wire.reader.conversations_info(channel=channel))
        return told["channel"]

    async def _load_user(self, user: str) -> Mapping[str, Any]:
        told = await ask("users.info", self._wire.reader.users_info(user=user, include_locale=True))
        return told["user"]

    async def _load_members(self, channel: str) -> set[str] | None:
        reader = self._wire.reader
        members = await _listed(
            "conversations.members",
            "members",
            lambda cursor: reader.conversations_members(channel=channel, limit=_PAGE, cursor=cursor),
        )
        return None if members is None else set(members)

    async def _load_everybody(self) -> set[str] | None:
        reader = self._wire.reader
        users = await _listed(
            "users.list", "members", lambda cursor: reader.users_list(limit=_PAGE, cursor=cursor)
        )
        return None if users is None else {user["id"] for user in users if self._is_full(user)}

    async def _load_groups(self) -> list[tuple[tuple[str, ...], frozenset[str]]]:
        try:
            told = await ask("usergroups.list", self._wire.reader.usergroups_list(include_users=True))
        except Refused as error:
            # Free workspaces have none, and an older installation may lack the scope: nobody has a role then.
            log.info("Slack tells no user groups: %s", error)
            return []
        return [
            (
                tuple(name for name in (group.get("handle"), group.get("name")) if name),
                frozenset(group.get("users") or ()),
            )
            for group in told["usergroups"]
            if not group.get("date_delete")
        ]


async def _listed(
    doing: str, name: str, page: Callable[[str | None], Awaitable[AsyncSlackResponse]]
) -> list[Any] | None:
    """Everything on all pages; None when there are too many."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        told = await ask(doing, page(cursor))
        found += told[name]
        cursor = (told.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return found
    return None


def _kind(told: Mapping[str, Any]) -> ChannelKind:
    if told.get("is_im"):
        return "direct"
    if told.get("is_mpim"):
        return "group"
    return "private" if told.get("is_private") else "public"


def _name(told: Mapping[str, Any]) -> str:
    profile = told.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), told.get("real_name"), told.get("name"))
    return next((name for name in names if name), "")
