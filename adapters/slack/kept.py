"""Events between their acknowledgement and their end: Slack does not tell them again, so that they are kept until they are dealt with."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from adapters.slack.messages import PLATFORM, is_ours, is_written
from adapters.slack.needs import ASK_SHORTCUT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from adapters.slack.wire import Workspace
    from bot.port import Inbox

    Raw = Mapping[str, Any]

Kind: TypeAlias = Literal["event", "command", "action", "shortcut"]

log = logging.getLogger(__name__)
_KEEP_SECONDS = 1.5
"""Of the three in which Slack waits for the acknowledgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing that Slack tells us; `id` is the same whenever it is told, and `repeated` says that it may not be the first time."""

    kind: Kind
    id: str
    body: Raw
    repeated: bool = False


def told(body: Raw, workspace: Workspace, *, repeated: bool = False) -> Told | None:
    """What is told, if it may be for us."""
    if body.get("type") == "event_callback":
        if not _concerns_us(body.get("event") or {}, workspace):
            return None
        return Told(kind="event", id=str(body.get("event_id") or ""), body=body, repeated=repeated)
    if body.get("command"):
        return Told(kind="command", id=str(body.get("trigger_id") or ""), body=body)
    if body.get("type") == "block_actions":
        return Told(kind="action", id=str(body.get("trigger_id") or ""), body=body)
    if body.get("type") == "message_action" and body.get("callback_id") == ASK_SHORTCUT:
        return Told(kind="shortcut", id=str(body.get("trigger_id") or ""), body=body)
    return None


def _concerns_us(event: Raw, workspace: Workspace) -> bool:
    """Told cheaply, of every message of every channel that we are in."""
    kind, subtype = event.get("type"), event.get("subtype")
    if kind != "message":
        return kind in {"app_mention", "app_uninstalled", "tokens_revoked"}
    if subtype == "message_changed":
        now, before = event.get("message") or {}, event.get("previous_message") or {}
        return not is_ours(now, workspace.user, workspace.bot) and now.get("text") != before.get("text")
    if subtype == "message_deleted":
        return not is_ours(event.get("previous_message") or {}, workspace.user, workspace.bot)
    return is_written(event) and not is_ours(event, workspace.user, workspace.bot)


@dataclass(slots=True, kw_only=True)
class Kept:
    """What was told and is not dealt with to its end."""

    inbox: Inbox
    _open: Counter[str] = field(default_factory=Counter[str])
    """How often each is being dealt with here."""

    async def keep(self, event: Told) -> None:
        """Before it is acknowledged. What cannot be kept is dealt with all the same: so its person is told what is wrong."""
        payload = {"kind": event.kind, "body": event.body}
        try:
            async with asyncio.timeout(_KEEP_SECONDS):
                await self.inbox.keep(PLATFORM, event.id, payload)
        except Exception as error:  # noqa: BLE001 - whatever the storage says
            log.warning("An event of Slack could not be kept: %s", type(error).__name__)

    async def through(self, event: Told, deal: Callable[[Told], Awaitable[None]]) -> None:
        """Deal with it to its end; it stays kept when the program ends before that."""
        self._open[event.id] += 1
        try:
            await deal(event)
        except Exception:  # it would go wrong again
            log.exception("An event of Slack could not be dealt with")
        finally:
            self._open[event.id] -= 1
        if not self._open[event.id]:
            del self._open[event.id]
            await self.inbox.done(PLATFORM, event.id)

    async def left(self) -> list[Told]:
        """What the program before us did not deal with to its end, oldest first."""
        return [
            Told(kind=_kind(payload), id=event, body=_body(payload), repeated=True)
            for event, payload in await self.inbox.kept(PLATFORM)
            if not self._open[event]
        ]


def _kind(payload: Mapping[str, Any]) -> Kind:
    return payload["kind"]


def _body(payload: Mapping[str, Any]) -> Raw:
    return payload["body"]
