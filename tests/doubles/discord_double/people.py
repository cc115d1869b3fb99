from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.doubles.chat_server import Shown, ShownButton, ShownFile, Upload
from tests.doubles.discord_double import interactions, messages, payloads
from tests.doubles.discord_double.gateway import GUILD_REACTIONS
from tests.doubles.discord_double.markdown import flattened
from tests.doubles.discord_double.messages import LOADING
from tests.doubles.discord_double.world import Channel, Message, User, permissions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.doubles.discord_double.interactions import Interaction
    from tests.doubles.discord_double.server import DiscordServer

SUBCOMMAND, GROUP, STRING, CHANNEL_OPTION, ATTACHMENT_OPTION = 1, 2, 3, 7, 11
VOICE_MESSAGE = 1 << 13
STYLES = {1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "link"}


# --- who and where -------------------------------------------------------------------------------------------------------


def user_of(server: DiscordServer, user: User | str) -> User:
    return user if isinstance(user, User) else server.world.users[user]


def place_of(
    server: DiscordServer, channel: Channel | str | None, thread: Channel | str | None = None
) -> Channel:
    """The thread if given, else the channel; for a person's id, their direct messages."""
    wanted = thread or channel
    if isinstance(wanted, Channel):
        return wanted
    if isinstance(wanted, str) and wanted in server.world.users:
        return server.world.direct(server.world.users[wanted], server.bot)
    return server.world.channels[str(wanted)]


def check_sees(channel: Channel, user: User) -> None:
    if not permissions(channel, user.id):
        raise PermissionError(f"{user.name} does not see {channel.name or channel.id}")


# --- writing -------------------------------------------------------------------------------------------------------------


def say(
    server: DiscordServer,
    user: User,
    channel: Channel,
    text: str,
    files: Sequence[Upload],
    *,
    reply_to: str = "",
    ping: bool = True,
) -> Message:
    check_sees(channel, user)
    body: dict[str, Any] = {"content": text}
    if reply_to:
        body["message_reference"] = {"message_id": reply_to, "fail_if_not_exists": False}
        if not ping:
            body["allowed_mentions"] = {"parse": ["users", "roles", "everyone"], "replied_user": False}
    if channel.is_thread:
        messages.enter(server, channel, user.id)
    return messages.create(server, channel, user, body, files)


def post(server: DiscordServer, user: User, forum: Channel, title: str, text: str) -> Message:
    """The thread is created before its first message; a forum has no messages."""
    check_sees(forum, user)
    thread = messages.open_thread(server, forum, title, user.id)
    return messages.create(server, thread, user, {"content": text}, identity=thread.id)


def speak(server: DiscordServer, user: User, channel: Channel, content: bytes) -> Message:
    message = Message(
        id=server.world.snowflake(),
        channel=channel,
        author=user,
        flags=VOICE_MESSAGE,
        created=server.wall(),
        attachments=[server.world.attachment("voice-message.ogg", content, "audio/ogg", seconds=3.2)],
    )
    messages.put(server, message)
    return message


def unfold(server: DiscordServer, message: Message) -> None:
    """A link preview is an update with the same text."""
    message.embeds = [{"type": "link", "title": "A page", "description": "Its preview."}]
    messages.announce(server, "MESSAGE_UPDATE", message)


def react(server: DiscordServer, user: User, message: Message, emoji: str) -> None:
    message.reactions.setdefault(emoji, set()).add(user.id)
    told: dict[str, Any] = {
        "user_id": user.id,
        "channel_id": message.channel.id,
        "message_id": message.id,
        "message_author_id": message.author.id,
        "emoji": {"id": None, "name": emoji},
        "burst": False,
        "type": 0,
    }
    guild = message.channel.guild
    if guild is not None:
        told |= {"guild_id": guild.id, "member": payloads.member(guild.members[user.id])}
    server.gateway.dispatch(
        "MESSAGE_REACTION_ADD", lambda session: told if session.reads(GUILD_REACTIONS) else None
    )


# --- commands ------------------------------------------------------------------------------------------------------------


def commands_in(server: DiscordServer, channel: Channel) -> Iterator[payloads.Payload]:
    """The commands offered in a channel."""
    if channel.guild is not None:
        yield from server.commands.get(channel.guild.id, {}).values()
    for command in server.commands.get("", {}).values():
        in_guilds_only = command.get("dm_permission") is False or command.get("contexts") == [0]
        if channel.guild is not None or not in_guilds_only:
            yield command


def command_data(
    server: DiscordServer,
    user: User,
    channel: Channel,
    line: str,
    values: Mapping[str, Any],
    files: Sequence[Upload] = (),
    *,
    typing: str = "",
) -> dict[str, Any]:
    """What Discord's client sends for a typed command, with options by name.

    `typing` is the option being typed; then nothing has to be complete.
    """
    name, _, rest = line.removeprefix("/").partition(" ")
    command = next(
        (each for each in commands_in(server, channel) if each["name"] == name and each["type"] == 1), None
    )
    if command is None:
        raise LookupError(f"/{name} is not registered")
    path, options, rest = _descended(command["options"], rest.strip())
    attached = [option["name"] for option in options if option["type"] == ATTACHMENT_OPTION]
    chosen = _chosen(options, rest) | dict(zip(attached, files, strict=False))
    chosen |= {key: value for key, value in values.items() if value is not None}
    if typing:
        chosen.setdefault(typing, "")
    resolved: dict[str, Any] = {}
    filled: list[dict[str, Any]] = [
        _filled(server, user, channel, _option(options, key), value, resolved)
        for key, value in chosen.items()
    ]
    missing = [each["name"] for each in options if each.get("required") and each["name"] not in chosen]
    if missing and not typing:
        raise LookupError(f"/{name} needs {missing}")
    for each in filled:
        if each["name"] == typing:
            each["focused"] = True
    for step in reversed(path):
        filled = [{"name": step["name"], "type": step["type"], "options": filled}]
    data: dict[str, Any] = {"id": command["id"], "name": name, "type": 1, "options": filled}
    if "guild_id" in command:
        data["guild_id"] = command["guild_id"]
    return data | ({"resolved": resolved} if resolved else {})


def _descended(
    options: Sequence[Mapping[str, Any]], rest: str
) -> tuple[list[Mapping[str, Any]], Sequence[Mapping[str, Any]], str]:
    path: list[Mapping[str, Any]] = []
    while any(option["type"] in (SUBCOMMAND, GROUP) for option in options):
        word, _, rest = rest.partition(" ")
        step = next((each for each in options if each["name"] == word), None)
        if step is None:
            raise LookupError(f"{word!r} is not among {[each['name'] for each in options]}")
        path.append(step)
        options, rest = step.get("options") or (), rest.strip()
    return path, options, rest


def _chosen(options: Sequence[Mapping[str, Any]], rest: str) -> dict[str, Any]:
    """`name:value` for known names; a line without any is the first text option."""
    if not rest:
        return {}
    names = "|".join(re.escape(option["name"]) for option in options)
    pieces = re.split(rf"(?:^|\s)({names}):", rest) if names else [rest]
    chosen = {name: value.strip() for name, value in zip(pieces[1::2], pieces[2::2], strict=True)}
    if first := pieces[0].strip():
        text = next((option["name"] for option in options if option["type"] == STRING), None)
        if text is None or text in chosen:
            raise LookupError(f"{first!r} fits no option")
        chosen[text] = first
    return chosen


def _option(options: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    for option in options:
        if option["name"] == name:
            return option
    raise LookupError(f"{name!r} is not among {[option['name'] for option in options]}")


def _filled(
    server: DiscordServer,
    user: User,
    channel: Channel,
    option: Mapping[str, Any],
    value: Any,
    resolved: dict[str, Any],
) -> dict[str, Any]:
    if option["type"] == ATTACHMENT_OPTION:
        made = messages.attachment(server, value)
        told = payloads.attachment(made, channel=channel.id, base_url=server.base_url, now=server.wall())
        resolved.setdefault("attachments", {})[made.id] = told
        value = made.id
    elif option["type"] == CHANNEL_OPTION:
        named = place_of(server, _bare(value))
        check_sees(named, user)
        resolved.setdefault("channels", {})[named.id] = payloads.resolved_channel(named, user.id)
        value = named.id
    elif option.get("choices"):
        value = _choice(option, value)
    return {"name": option["name"], "type": option["type"], "value": value}


def _bare(value: Any) -> Any:
    """A channel by mention or id."""
    mention = re.fullmatch(r"<#(\d+)>", value) if isinstance(value, str) else None
    return mention[1] if mention else value


def _choice(option: Mapping[str, Any], value: Any) -> Any:
    for choice in option["choices"]:
        if value in (choice["name"], choice["value"]):
            return choice["value"]
    raise LookupError(f"{value!r} is not offered for {option['name']}")


def shortcut_data(server: DiscordServer, channel: Channel, message: Message, name: str) -> dict[str, Any]:
    """A command of a message's menu, with the message's content."""
    for command in commands_in(server, channel):
        if command["type"] == 3 and command["name"].startswith(name):
            told = payloads.message(message, server.world, base_url=server.base_url)
            data = {"id": command["id"], "name": command["name"], "type": 3, "target_id": message.id}
            return data | {"resolved": {"messages": {message.id: told}}}
    raise LookupError(f"{name!r} is in no message's menu")


def click_data(message: Message, button: str, values: Sequence[str]) -> dict[str, Any]:
    """A button by label or id; a select by id, with values."""
    for each in flattened(message.components):
        names = (each.get("custom_id"), each.get("label"))
        if each.get("custom_id") and any(
            name and (name == button or name.startswith(button)) for name in names
        ):
            if each.get("disabled"):
                raise LookupError(f"{button!r} is disabled")
            data = {"custom_id": each["custom_id"], "component_type": each["type"], "id": each["id"]}
            return data | ({"values": list(values)} if values else {})
    raise LookupError(f"{button!r} is not under {messages.shown(message)!r}")


def modal_data(shown: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """A filled-in modal, each text input with its value."""

    def filled(component: Mapping[str, Any]) -> dict[str, Any]:
        made = {key: component[key] for key in ("type", "id", "custom_id") if key in component}
        if "custom_id" in component:
            made["value"] = values.get(component["custom_id"], component.get("value", ""))
        if "components" in component:
            made["components"] = [filled(each) for each in component["components"]]
        if "component" in component:
            made["component"] = filled(component["component"])
        return made

    components = [filled(each) for each in messages.numbered(shown["components"])]
    return {"custom_id": shown["custom_id"], "components": components}


# --- seeing --------------------------------------------------------------------------------------------------------------


def look(server: DiscordServer, user: User, channel: Channel) -> list[Shown]:
    """What the person sees, oldest first."""
    check_sees(channel, user)
    return [
        shown(server, message)
        for message in server.world.in_channel(channel)
        if message.only_for in ("", user.id) and message.kind != messages.THREAD_STARTER
    ]


def shown(server: DiscordServer, message: Message) -> Shown:
    channel = message.channel
    under = server.world.channels.get(message.id)
    files = [
        payloads.attachment(each, channel=channel.id, base_url=server.base_url, now=server.wall())
        for each in message.attachments
    ]
    return Shown(
        id=message.id,
        channel=channel.parent.id if channel.parent else channel.id,
        author=message.author.id,
        name=message.author.name,
        text=messages.shown(message),
        buttons=tuple(_button(each) for each in flattened(message.components) if each.get("type") == 2),
        files=tuple(
            ShownFile(
                name=each["filename"], media_type=each["content_type"], size=each["size"], url=each["url"]
            )
            for each in files
        ),
        thread=channel.id if channel.is_thread else "",
        replies=len(server.world.in_channel(under)) - 1 if under else 0,
        replies_in=under.id if under else "",
        only_for=message.only_for,
        ours=message.author is server.bot,
        edited=message.edited is not None,
        streaming=bool(message.flags & LOADING),
        texts=tuple(message.texts),
    )


def _button(component: Mapping[str, Any]) -> ShownButton:
    return ShownButton(
        label=component.get("label", ""),
        action=component.get("custom_id", ""),
        style=STYLES.get(component.get("style", 2), ""),
        url=component.get("url", ""),
    )


def interact(
    server: DiscordServer, kind: int, user: User, channel: Channel, data: Mapping[str, Any], **more: Any
) -> Interaction:
    check_sees(channel, user)
    return interactions.begin(server, kind, user, channel, data, **more)
