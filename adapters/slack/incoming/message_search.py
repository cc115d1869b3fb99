"""Slack's Real-time Search API: https://docs.slack.dev/apis/web-api/real-time-search-api"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

from adapters.slack import markdown
from adapters.slack.api import call_api, is_host_of_slack
from bot.port import ChannelMessage, Person, Throttled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.incoming.message_reader import MessageReader
    from adapters.slack.outlets.channel import SlackTarget
    from bot.port import Fields

METHOD: Final = "assistant.search.context"
TOKEN: Final = "action_token"  # noqa: S105 - a field's name
_MOST: Final = 20
_LONGEST_QUESTION: Final = 1_000
_MARKS: Final = re.compile("[\ue000\ue001]")
"""Slack's highlights."""
_REFUSALS: Final[Mapping[str, str]] = dict.fromkeys(
    ("invalid_action_token", "action_token_expired", "missing_action_token"),
    "Slack no longer lets this question search messages; ask it again.",
)


def action_token(event: Fields) -> str:
    return event.text(TOKEN) or event.object("assistant_thread").text(TOKEN)


def without_token(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What may be stored."""
    event = body.get("event")
    if not isinstance(event, dict):
        return body
    kept = {name: value for name, value in event.items() if name != TOKEN}
    thread = kept.get("assistant_thread")
    if isinstance(thread, dict):
        kept["assistant_thread"] = {name: value for name, value in thread.items() if name != TOKEN}
    return {**body, "event": kept}


async def find_messages(
    reader: MessageReader, target: SlackTarget, question: str, *, limit: int
) -> tuple[ChannelMessage, ...]:
    if not target.action_token:
        return ()
    context = reader.context
    if (seconds := context.optional_calls.pause_of(METHOD)) > 0:
        raise Throttled(f"Slack limits {METHOD} now.", seconds=seconds)
    arguments = {
        "query": question[:_LONGEST_QUESTION],
        TOKEN: target.action_token,
        "channel_types": ["public_channel"],
        "content_types": ["messages"],
        "include_bots": False,
        "limit": min(limit, _MOST),
    }
    try:
        page = await call_api(METHOD, context.read_client.api_call(METHOD, json=arguments), _REFUSALS)
    except Throttled as error:
        context.optional_calls.pause(METHOD, error.seconds)
        raise
    ours = context.workspace.user
    found = [
        each
        for each in page.object("results").objects("messages")
        if each.text("content").strip()
        and not each.flag("is_author_bot")
        and each.text("author_user_id") not in ("", ours)
        and each.text("message_ts") != target.question
    ]
    return tuple(await asyncio.gather(*(_read(reader, each) for each in found)))


async def _read(reader: MessageReader, raw: Fields) -> ChannelMessage:
    workspace = reader.context.workspace
    channel, ts, author = raw.need_text("channel_id"), raw.need_text("message_ts"), raw.text("author_user_id")
    content = _MARKS.sub("", raw.text("content"))
    mentioned = markdown.mentioned_people(content)
    people = await asyncio.gather(*(reader.directory.person(each) for each in (author, *mentioned)))
    names = {person.id: person.name for person in people}
    link = raw.text("permalink")
    return ChannelMessage(
        channel=channel,
        channel_name=raw.text("channel_name"),
        person=Person(id=author, name=raw.text("author_name") or names.get(author, "")),
        text=markdown.to_commonmark(content, bot_user=workspace.user, names=names),
        uri=link if is_host_of_slack(link) else workspace.permalink(channel, ts),
        at=_seconds(ts),
    )


def _seconds(ts: str) -> float:
    try:
        return float(ts)
    except ValueError:
        return 0.0
