from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING, Any

from tests.doubles.chat_server import Link, Ping, Text
from tests.doubles.discord_double import markdown, payloads, validation
from tests.doubles.discord_double.gateway import DIRECT_MESSAGES, GUILD_MESSAGES, GUILDS, MESSAGE_CONTENT
from tests.doubles.discord_double.world import MANAGE_THREADS, Attachment, Message, permissions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.doubles.chat_server import Upload
    from tests.doubles.discord_double.gateway import Session
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import Channel, User

EPHEMERAL, LOADING = 1 << 6, 1 << 7
REPLY, THREAD_STARTER = 19, 21
KEPT_FLAGS = validation.COMPONENTS_V2 | EPHEMERAL | (1 << 2) | (1 << 12) | (1 << 13)
Body = dict[str, Any]


# --- making --------------------------------------------------------------------------------------------------------------


def create(
    server: DiscordServer,
    channel: Channel,
    author: User,
    body: Mapping[str, Any],
    files: Sequence[Upload] = (),
    *,
    only_for: str = "",
    interaction: Mapping[str, Any] | None = None,
    tell: bool = True,
    identity: str = "",
) -> Message:
    """Post a checked message."""
    flags = int(body.get("flags") or 0) & KEPT_FLAGS
    validation.check_message(body, files, flags=flags)
    message = Message(
        id=identity or server.world.snowflake(),
        channel=channel,
        author=author,
        flags=flags,
        nonce=str(body["nonce"]) if body.get("nonce") is not None else None,
        created=server.wall(),
        only_for=only_for,
        interaction=interaction,
    )
    _refer(server, message, body)
    _fill(server, message, body, files)
    if not (message.content or message.embeds or message.components or message.attachments):
        raise validation.EMPTY_MESSAGE
    put(server, message, tell=tell)
    return message


def put(server: DiscordServer, message: Message, *, tell: bool = True) -> None:
    """Store the message; send the event if `tell`."""
    server.world.messages[message.id] = message
    message.channel.messages.append(message.id)
    server.changed()
    if tell and not message.only_for:
        announce(server, "MESSAGE_CREATE", message)


def change(
    server: DiscordServer, message: Message, body: Mapping[str, Any], files: Sequence[Upload] = ()
) -> None:
    """Replace what the body names."""
    flags = message.flags | int(body.get("flags") or 0) & KEPT_FLAGS
    stays = body.get("content", message.content) or body.get("embeds", message.embeds)
    if flags & validation.COMPONENTS_V2 and stays:
        raise validation.invalid("flags", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "content")
    validation.check_message(body, files, flags=flags)
    message.flags = flags & ~LOADING
    _fill(server, message, body, files)
    if not (message.content or message.embeds or message.components or message.attachments):
        raise validation.EMPTY_MESSAGE
    message.edited = server.wall()
    server.changed()
    if not message.only_for:
        announce(server, "MESSAGE_UPDATE", message)


def _refer(server: DiscordServer, message: Message, body: Mapping[str, Any]) -> None:
    reference = body.get("message_reference")
    if not reference:
        return
    found = server.world.messages.get(str(reference["message_id"]))
    if found is None or found.deleted or found.channel is not message.channel:
        if reference.get("fail_if_not_exists", True):
            raise validation.invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return
    message.kind = REPLY
    message.reference = (found.channel.id, found.id)


def _fill(server: DiscordServer, message: Message, body: Mapping[str, Any], files: Sequence[Upload]) -> None:
    if "content" in body:
        message.content = body["content"] or ""
    if "embeds" in body:
        message.embeds = list(body["embeds"] or ())
    if "components" in body:
        message.components = numbered(body["components"] or ())
    _attach(server, message, body, files)
    _mention(server, message, body)
    text = shown(message)
    if not message.flags & LOADING and (not message.texts or message.texts[-1].text != text):
        message.texts.append(Text(text=text, at=server.now()))
    note_links(server, message)


def numbered(components: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Discord numbers every component."""
    copies = [dict(component) for component in components]
    for number, component in enumerate(copies, start=1):
        component.setdefault("id", number)
        if "components" in component:
            component["components"] = numbered(component["components"])
    return copies


def _attach(
    server: DiscordServer, message: Message, body: Mapping[str, Any], files: Sequence[Upload]
) -> None:
    listed = body.get("attachments")
    told = {str(each["id"]): each for each in listed or ()}
    kept = [each for each in message.attachments if listed is None or each.id in told]
    added = [
        attachment(server, file, description=told.get(str(number), {}).get("description") or "")
        for number, file in enumerate(files)
    ]
    message.attachments = kept + added


def attachment(
    server: DiscordServer, file: Upload, *, description: str = "", seconds: float | None = None
) -> Attachment:
    """A sent file; Discord takes its type from the name."""
    guessed = mimetypes.guess_type(file.name)[0]
    kind = guessed or file.media_type
    return server.world.attachment(file.name, file.content, kind, description=description, seconds=seconds)


def _mention(server: DiscordServer, message: Message, body: Mapping[str, Any]) -> None:
    """Whom it notifies; for our messages, see `server.pings`."""
    text = shown(message)
    allowed = body.get("allowed_mentions")
    pinged = markdown.pinging(text, allowed)
    if message.author is server.bot:
        server.pings += [Ping(target=target, text=text, message=message.id) for target in pinged]
    named = {found["user"]: None for found in markdown.mentions(text) if found["user"]}
    message.mentions = [server.world.users[user] for user in named if user in server.world.users]
    message.mention_roles = [found["role"] for found in markdown.mentions(text) if found["role"]]
    message.mention_everyone = any(target in ("@everyone", "@here") for target in pinged)
    if message.reference and (allowed is None or allowed.get("replied_user")):
        asked = server.world.messages[message.reference[1]].author
        if asked not in message.mentions:
            message.mentions.append(asked)


def note_links(server: DiscordServer, message: Message) -> None:
    """Note address and label of each link in our messages."""
    if message.author is not server.bot:
        return
    found = [*markdown.links(shown(message)), *markdown.targets(message.components, message.embeds)]
    for url, label in dict.fromkeys(found):
        link = Link(url=url, label=label, message=message.id)
        if link not in server.links:
            server.links.append(link)


def shown(message: Message) -> str:
    return markdown.words(message.content, message.components, message.embeds)


# --- taking away ---------------------------------------------------------------------------------------------------------


def remove(server: DiscordServer, message: Message) -> None:
    message.deleted = True
    channel = message.channel
    server.changed()
    if message.only_for:
        return
    payload: Body = {"id": message.id, "channel_id": channel.id}
    if channel.guild is not None:
        payload["guild_id"] = channel.guild.id
    server.gateway.dispatch(
        "MESSAGE_DELETE", lambda session: payload if may_see(server, session, channel) else None
    )


# --- telling -------------------------------------------------------------------------------------------------------------


def may_see(server: DiscordServer, session: Session, channel: Channel) -> bool:
    needed = DIRECT_MESSAGES if channel.guild is None else GUILD_MESSAGES
    return session.reads(needed) and bool(permissions(channel, server.bot.id))


def readable(server: DiscordServer, message: Message, *, intents: int) -> bool:
    """Whether the application gets the content."""
    return (
        bool(intents & MESSAGE_CONTENT)
        or message.channel.guild is None
        or message.author is server.bot
        or server.bot in message.mentions
    )


def announce(server: DiscordServer, event: str, message: Message) -> None:
    server.gateway.dispatch(event, lambda session: told(server, session, message))


def told(server: DiscordServer, session: Session, message: Message) -> Body | None:
    """The event for that session, or None."""
    channel = message.channel
    if not may_see(server, session, channel):
        return None
    open_to_us = readable(server, message, intents=session.intents)
    payload = payloads.message(message, server.world, base_url=server.base_url, readable=open_to_us)
    payload["channel_type"] = channel.kind
    if channel.guild is not None:
        payload["guild_id"] = channel.guild.id
        member = channel.guild.members.get(message.author.id)
        if member is not None and message.interaction is None:
            payload["member"] = payloads.member(member, with_user=False)
        for mentioned in payload["mentions"]:
            if mentioned["id"] in channel.guild.members:
                mentioned["member"] = payloads.member(channel.guild.members[mentioned["id"]], with_user=False)
    return payload


# --- threads -------------------------------------------------------------------------------------------------------------


def open_thread(
    server: DiscordServer,
    parent: Channel,
    name: str,
    owner: str,
    *,
    root: Message | None = None,
    private: bool = False,
) -> Channel:
    """A thread; from a message it gets that message's id."""
    if root is not None and root.id in server.world.channels:
        raise validation.THREAD_EXISTS
    thread = server.world.thread(parent, name, owner, identity=root.id if root else "", private=private)
    announce_thread(server, "THREAD_CREATE", thread, newly_created=True)
    if root is not None:
        announce(server, "MESSAGE_UPDATE", root)
        starter = Message(
            id=server.world.snowflake(),
            channel=thread,
            author=server.world.users[owner],
            kind=THREAD_STARTER,
            created=server.wall(),
            reference=(parent.id, root.id),
        )
        put(server, starter)
    server.changed()
    return thread


def announce_thread(server: DiscordServer, event: str, thread: Channel, **more: Any) -> None:
    payload = payloads.thread(thread, viewer=server.bot.id) | more
    server.gateway.dispatch(event, lambda session: payload if _sees_thread(server, session, thread) else None)


def _sees_thread(server: DiscordServer, session: Session, thread: Channel) -> bool:
    return session.reads(GUILDS) and bool(permissions(thread, server.bot.id))


def enter(server: DiscordServer, thread: Channel, author: str) -> None:
    """A message reopens an archived thread, unless it is locked and the author may not manage threads."""
    manages = permissions(thread, author) & MANAGE_THREADS
    if thread.locked and not manages:
        raise validation.ARCHIVED if thread.archived else validation.LOCKED
    thread.members.add(author)
    if thread.archived:
        thread.archived = False
        announce_thread(server, "THREAD_UPDATE", thread)
