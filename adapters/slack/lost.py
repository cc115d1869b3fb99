"""Our messages whose creation nobody heard of: they are found by what they carry, so that none is posted twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.messages import is_ours
from adapters.slack.wire import ask

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from adapters.slack.wire import Wire
    from bot.port import Place

    Raw = Mapping[str, Any]

_EVENT = "footnote_message"
_LOOKED_BACK = 50


def first(source: str, answer: int) -> dict[str, Any]:
    """The mark of the first message of an answer: what it answers, and which of the answers to that it is."""
    return {"event_type": _EVENT, "event_payload": {"source": source, "answer": answer, "part": 0}}


def behind(message: str, part: int) -> dict[str, Any]:
    """The mark of a later part: the first message that it follows."""
    return {"event_type": _EVENT, "event_payload": {"behind": message, "part": part}}


async def ours_since(wire: Wire, place: Place, asked: str) -> list[Raw]:
    """Our latest messages of the place that came after what is answered, oldest first."""
    about: dict[str, Any] = {
        "channel": place.channel,
        "oldest": asked or None,
        "include_all_metadata": True,
        "limit": _LOOKED_BACK,
    }
    if place.thread:
        told = await ask("conversations.replies", wire.reader.conversations_replies(ts=place.thread, **about))
    else:
        told = await ask("conversations.history", wire.reader.conversations_history(**about))
    workspace = wire.workspace
    ours = [
        message
        for message in told["messages"]
        if (not asked or message["ts"] > asked) and is_ours(message, workspace.user, workspace.bot)
    ]
    return sorted(ours, key=lambda message: message["ts"])


def marked(messages: Sequence[Raw], mark: Mapping[str, Any]) -> str:
    """The latest message that carries the mark; empty when there is none."""
    payload = mark["event_payload"]
    found = [str(message["ts"]) for message in messages if _payload(message) == payload]
    return found[-1] if found else ""


def unmarked(messages: Sequence[Raw], *, others: Collection[str], text: str | None = None) -> str:
    """The latest message that carries no mark and is none of those: a stream has none before it ends. `text` is what it shows."""
    for message in reversed(messages):
        shown = str(message.get("text") or "").strip()
        fits = text is None or shown == text.strip()
        if fits and not message.get("metadata") and not message.get("files") and message["ts"] not in others:
            return str(message["ts"])
    return ""


def later_parts(messages: Sequence[Raw], message: str) -> list[str]:
    """All parts that follow a first message, the last one first."""
    parts = [
        (payload["part"], str(each["ts"]))
        for each in messages
        if (payload := _payload(each)).get("behind") == message
    ]
    return [ts for _, ts in sorted(parts, reverse=True)]


def _payload(message: Raw) -> Mapping[str, Any]:
    mark = message.get("metadata") or {}
    return mark.get("event_payload") or {} if mark.get("event_type") == _EVENT else {}
