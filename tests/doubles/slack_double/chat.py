"""Slack's `chat.*` methods: messages, private messages, streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.chat_server import Text
from tests.doubles.slack_double import text as slack_text
from tests.doubles.slack_double.world import Channel, Message, SlackError, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.doubles.slack_double.server import SlackServer

    Arguments = Mapping[str, Any]


async def post_message(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    channel = server.channel_for(arguments)
    message = made(server, channel, arguments)
    server.put(message)
    return {"channel": channel.id, "ts": message.ts, "message": server.world.message_json(message)}


async def post_ephemeral(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    channel = server.channel_for(arguments)
    if arguments.get("user") not in channel.members:
        raise SlackError("user_not_in_channel")
    message = made(server, channel, arguments)
    message.only_for = arguments["user"]
    server.put(message)
    return {"message_ts": message.ts}


async def update(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    message = own_message(server, arguments)
    if message.streaming:
        raise SlackError("streaming_state_conflict")
    content = contents(arguments)
    write(server, message, arguments, content)
    message.edited = server.world.stamp()
    if "metadata" in arguments:
        message.metadata = arguments["metadata"]
    server.announce_change(message)
    told = server.world.message_json(message)
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": told}


async def delete(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    message = own_message(server, arguments, otherwise="cant_delete_message")
    server.remove(message)
    return {"channel": message.channel, "ts": message.ts}


async def permalink(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    message = found(server, arguments.get("channel"), arguments.get("message_ts"))
    return {"channel": message.channel, "permalink": server.world.permalink(message)}


# --- streams -------------------------------------------------------------------------------------------------------------


async def start_stream(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    channel = server.channel_for(arguments)
    if not arguments.get("thread_ts"):
        raise SlackError("invalid_arguments", response_metadata={"messages": ["missing thread_ts"]})
    if channel.kind != "im":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not arguments.get(name):
                raise SlackError(f"missing_{name}")
    message = _blank(server, channel, arguments)
    message.stream = Stream(started=server.now())
    _grow(server, message, arguments)
    note(server, message)
    server.put(message)
    return {"channel": channel.id, "ts": message.ts}


async def append_stream(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    message = own_message(server, arguments, otherwise="message_not_owned_by_app")
    _still_open(server, message)
    if not (arguments.get("markdown_text") or arguments.get("chunks")):
        raise SlackError("no_text")
    _grow(server, message, arguments)
    note(server, message)
    return {"channel": message.channel, "ts": message.ts}


async def stop_stream(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    """Append the text, then set the blocks."""
    message = own_message(server, arguments, otherwise="message_not_owned_by_app")
    stream = _still_open(server, message)
    blocks = arguments.get("blocks") or ()
    _check_blocks(blocks)
    _grow(server, message, arguments)
    stream.open = False
    message.blocks = blocks
    message.metadata = arguments.get("metadata") or message.metadata
    note(server, message)
    server.announce_change(message)
    return {"channel": message.channel, "ts": message.ts, "message": server.world.message_json(message)}


def _still_open(server: SlackServer, message: Message) -> Stream:
    stream = message.stream
    if stream is None or not stream.open:
        stopped = stream is not None and stream.stopped_by_user
        raise SlackError("stopped_by_user" if stopped else "message_not_in_streaming_state")
    if server.now() - stream.started > server.stream_lifetime:
        stream.open = False
        server.changed()
        raise SlackError("message_not_in_streaming_state")
    return stream


def _grow(server: SlackServer, message: Message, arguments: Arguments) -> None:
    chunks = list(arguments.get("chunks") or ())
    added = str(arguments.get("markdown_text") or "")
    for chunk in chunks:
        if chunk.get("type") not in ("markdown_text", "task_update", "plan_update", "blocks"):
            raise SlackError("invalid_chunks")
        added += chunk.get("text", "") if chunk["type"] == "markdown_text" else ""
    if len(added) > slack_text.MARKDOWN or len(message.markdown + added) > server.stream_characters:
        raise SlackError("msg_too_long")
    tasks = [chunk for chunk in chunks if chunk["type"] in ("task_update", "plan_update")]
    if any(not chunk.get("title") for chunk in tasks):
        raise SlackError("invalid_chunks")
    message.markdown += added
    assert message.stream is not None
    for task in tasks:
        message.stream.tasks[str(task.get("id", "plan"))] = task
        message.statuses.append(Text(text=task["title"], at=server.now()))


# --- contents --------------------------------------------------------------------------------------------------------------


def own_message(
    server: SlackServer, arguments: Arguments, *, otherwise: str = "cant_update_message"
) -> Message:
    server.channel_for(arguments)
    message = found(server, arguments.get("channel"), arguments.get("ts"))
    if message.user != server.world.bot.id:
        raise SlackError(otherwise)
    return message


def found(server: SlackServer, channel: object, ts: object) -> Message:
    """A public message of the channel."""
    message = server.world.messages.get(str(ts))
    if message is None or message.channel != channel or message.only_for:
        raise SlackError("message_not_found")
    return message


def contents(arguments: Arguments) -> tuple[str, str, Sequence[Mapping[str, Any]]]:
    text, markdown = str(arguments.get("text") or ""), str(arguments.get("markdown_text") or "")
    blocks: Sequence[Mapping[str, Any]] = arguments.get("blocks") or ()
    if not (text or markdown or blocks or arguments.get("attachments")):
        raise SlackError("no_text")
    if markdown and (text or blocks):
        raise SlackError("markdown_text_conflict")
    if len(text) > slack_text.TEXT or len(markdown) > slack_text.MARKDOWN:
        raise SlackError("msg_too_long")
    _check_blocks(blocks)
    return text, markdown, blocks


def _check_blocks(blocks: Sequence[Mapping[str, Any]]) -> None:
    if faults := slack_text.faults(blocks):
        messages = [f"[ERROR] {fault}" for fault in faults]
        raise SlackError("invalid_blocks", errors=faults, response_metadata={"messages": messages})
    if slack_text.size(blocks) > slack_text.ALL_BLOCKS:
        raise SlackError("msg_blocks_too_long")


def _blank(server: SlackServer, channel: Channel, arguments: Arguments) -> Message:
    thread = str(arguments.get("thread_ts") or "")
    if thread:
        root = server.world.messages.get(thread)
        if root is None or root.channel != channel.id:
            raise SlackError("thread_not_found")
        thread = root.thread or root.ts
    return Message(
        ts=server.world.stamp(),
        channel=channel.id,
        user=server.world.bot.id,
        thread=thread,
        metadata=arguments.get("metadata"),
    )


def made(server: SlackServer, channel: Channel, arguments: Arguments) -> Message:
    content = contents(arguments)
    message = _blank(server, channel, arguments)
    write(server, message, arguments, content)
    return message


def write(
    server: SlackServer,
    message: Message,
    arguments: Arguments,
    content: tuple[str, str, Sequence[Mapping[str, Any]]],
) -> None:
    """Show this, and note mentions and links."""
    message.text, message.markdown, message.blocks = content
    server.pings += slack_text.pings(message.ts, message.text or message.markdown, message.blocks, arguments)
    note(server, message)


def note(server: SlackServer, message: Message) -> None:
    if message.stream is not None:
        server.pings += slack_text.pings(message.ts, message.markdown, message.blocks, {})
    server.links += slack_text.links(message.ts, message.text, message.markdown, message.blocks)
    if not message.texts or message.texts[-1].text != message.shown:
        message.texts.append(Text(text=message.shown, at=server.now()))
    server.changed()
