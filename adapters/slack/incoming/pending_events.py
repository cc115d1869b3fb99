"""Slack never redelivers acknowledged events."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from adapters.slack.incoming.block_text import message_text
from adapters.slack.incoming.message_reader import is_ours, is_written
from adapters.slack.incoming.message_search import without_token
from adapters.slack.installation.required_permissions import ASK_SHORTCUT, SAVE_SHORTCUT
from adapters.slack.locations import PLATFORM
from adapters.slack.outlets.form import CALLBACK
from bot.port import ChatError, Fields

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from adapters.slack.context import Workspace
    from bot.port import Inbox

    Raw = Mapping[str, Any]

Kind: TypeAlias = Literal["event", "command", "action", "shortcut", "form"]

log = logging.getLogger(__name__)
_OTHER_EVENTS = frozenset(
    {"app_home_opened", "app_mention", "app_uninstalled", "assistant_thread_started", "tokens_revoked"}
)
_STORE_SECONDS = 1.5
"""Slack waits three seconds for the acknowledgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingEvent:
    """`id` is the same in every delivery."""

    kind: Kind
    id: str
    body: Raw
    repeated: bool = False


def parse_event(body: Raw, workspace: Workspace, *, repeated: bool = False) -> PendingEvent | None:
    fields = Fields.of(body, "an event of Slack")
    trigger = fields.text("trigger_id")
    if fields.text("type") == "event_callback":
        if not _is_relevant(fields.object("event"), workspace):
            return None
        return PendingEvent(kind="event", id=fields.text("event_id"), body=body, repeated=repeated)
    if fields.text("command"):
        return PendingEvent(kind="command", id=trigger, body=body)
    if fields.text("type") == "block_actions":
        return PendingEvent(kind="action", id=trigger, body=body)
    if fields.text("type") == "view_submission" and fields.object("view").text("callback_id") == CALLBACK:
        return PendingEvent(kind="form", id=fields.object("view").text("id"), body=body)
    if fields.text("type") == "message_action" and fields.text("callback_id") in (
        ASK_SHORTCUT,
        SAVE_SHORTCUT,
    ):
        return PendingEvent(kind="shortcut", id=trigger, body=body)
    return None


def _is_relevant(event: Fields, workspace: Workspace) -> bool:
    """Must be cheap: sees every message."""
    kind, subtype = event.text("type"), event.text("subtype")
    if kind == "member_joined_channel":
        return event.text("user") == workspace.user
    if kind != "message":
        return kind in _OTHER_EVENTS
    if subtype == "message_changed":
        new, old = event.object("message"), event.object("previous_message")
        return not is_ours(new, workspace.user, workspace.bot) and message_text(new) != message_text(old)
    if subtype == "message_deleted":
        return not is_ours(event.object("previous_message"), workspace.user, workspace.bot)
    return is_written(event) and not is_ours(event, workspace.user, workspace.bot)


@dataclass(slots=True, kw_only=True)
class PendingEvents:
    inbox: Inbox
    _running: Counter[str] = field(default_factory=Counter[str])

    async def store(self, event: PendingEvent) -> None:
        """A failure must not stop the handling."""
        payload = {"kind": event.kind, "body": without_token(event.body)}
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                await self.inbox.add(PLATFORM, event.id, payload)
        except Exception as error:  # noqa: BLE001 - storage may raise anything
            log.warning("A Slack event could not be stored: %s", type(error).__name__)

    async def process(self, event: PendingEvent, handle: Callable[[PendingEvent], Awaitable[None]]) -> None:
        self._running[event.id] += 1
        try:
            await handle(event)
        except ChatError as error:
            log.warning("A Slack event could not be handled: %s", error)
        except Exception:  # a retry would fail again
            log.exception("A Slack event could not be handled")
        finally:
            self._running[event.id] -= 1
        if not self._running[event.id]:
            del self._running[event.id]
            await self.inbox.remove(PLATFORM, event.id)

    async def unfinished(self) -> list[PendingEvent]:
        return [
            PendingEvent(kind=_kind(payload), id=event, body=_body(payload), repeated=True)
            for event, payload in await self.inbox.unhandled(PLATFORM)
            if not self._running[event]
        ]


def _kind(payload: Mapping[str, Any]) -> Kind:
    return payload["kind"]


def _body(payload: Mapping[str, Any]) -> Raw:
    return payload["body"]
