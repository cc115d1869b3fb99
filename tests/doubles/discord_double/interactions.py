"""Interactions of the doubled Discord: commands, buttons, modals, and their time limits."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.doubles.discord_double import messages, payloads, validation
from tests.doubles.discord_double.messages import EPHEMERAL, LOADING
from tests.doubles.discord_double.world import Message, permissions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.doubles.chat_server import Upload
    from tests.doubles.discord_double.rest import Arguments
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import Channel, User

PING, COMMAND, COMPONENT, AUTOCOMPLETE, MODAL = 1, 2, 3, 4, 5
SAY, DEFER, DEFER_UPDATE, UPDATE, CHOICES, SHOW_MODAL = 4, 5, 6, 7, 8, 9
ALLOWED = {
    COMMAND: {SAY, DEFER, SHOW_MODAL},
    COMPONENT: {SAY, DEFER, DEFER_UPDATE, UPDATE, SHOW_MODAL},
    AUTOCOMPLETE: {CHOICES},
    MODAL: {SAY, DEFER, DEFER_UPDATE, UPDATE},
}
ACKNOWLEDGE_SECONDS, TOKEN_SECONDS = 3.0, 900.0
FILE_LIMIT = 10 << 20


@dataclass(slots=True, kw_only=True, eq=False)
class Interaction:
    """One interaction and its state; times are those of `ChatServer.now`."""

    id: str
    token: str
    kind: int
    user: User
    channel: Channel
    data: Mapping[str, Any]
    at: float
    source: Message | None = None
    """The message of the button."""
    acknowledged: float | None = None
    response: int | None = None
    """The type of the callback."""
    original: Message | None = None
    follow_ups: list[Message] = field(default_factory=list)
    modal: Mapping[str, Any] | None = None
    choices: Sequence[Mapping[str, Any]] = ()

    @property
    def id_of_original(self) -> str:
        return self.original.id if self.original else ""

    @property
    def seconds(self) -> float:
        """Seconds until the acknowledgement."""
        assert self.acknowledged is not None
        return self.acknowledged - self.at


# --- made by people ------------------------------------------------------------------------------------------------------


def begin(
    server: DiscordServer,
    kind: int,
    user: User,
    channel: Channel,
    data: Mapping[str, Any],
    *,
    source: Message | None = None,
) -> Interaction:
    made = Interaction(
        id=server.world.snowflake(),
        token=secrets.token_urlsafe(48),
        kind=kind,
        user=user,
        channel=channel,
        data=data,
        at=server.now(),
        source=source,
    )
    server.interactions[made.id] = made
    payload = _payload(server, made)
    server.gateway.dispatch("INTERACTION_CREATE", lambda _session: payload)
    server.changed()
    return made


def _payload(server: DiscordServer, made: Interaction) -> payloads.Payload:
    guild = made.channel.guild
    payload: payloads.Payload = {
        "id": made.id,
        "application_id": server.application_id,
        "type": made.kind,
        "token": made.token,
        "version": 1,
        "data": made.data,
        "channel_id": made.channel.id,
        "channel": payloads.resolved_channel(made.channel, made.user.id)
        | ({} if guild else {"recipients": [payloads.user(made.user)]}),
        "app_permissions": str(permissions(made.channel, server.bot.id)),
        "locale": made.user.locale,
        "entitlements": [],
        "attachment_size_limit": FILE_LIMIT,
        "authorizing_integration_owners": {"0": guild.id if guild else "0"},
        "context": 0 if guild else 1,
    }
    if guild:
        payload |= {
            "guild_id": guild.id,
            "guild": {"id": guild.id, "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "member": payloads.interaction_member(guild, made.user.id, made.channel),
        }
    else:
        payload["user"] = payloads.user(made.user)
    if made.source is not None:
        payload["message"] = payloads.message(made.source, server.world, base_url=server.base_url)
    return payload


# --- answered by us ------------------------------------------------------------------------------------------------------


def callback(server: DiscordServer, arguments: Arguments, files: Sequence[Upload]) -> Any:
    made = server.interactions.get(arguments["interaction"])
    if made is None or made.token != arguments["token"]:
        raise validation.UNKNOWN_INTERACTION
    if made.acknowledged is not None:
        raise validation.ACKNOWLEDGED
    if server.now() - made.at > ACKNOWLEDGE_SECONDS:
        raise validation.UNKNOWN_INTERACTION
    kind = int(arguments["type"])
    if kind not in ALLOWED[made.kind]:
        raise validation.invalid(
            "type", "INTERACTION_RESPONSE_TYPE_INVALID", f"{kind} does not answer {made.kind}"
        )
    _respond(server, made, kind, arguments.get("data") or {}, files)
    made.acknowledged = server.now()
    made.response = kind
    server.changed()
    return _answer(server, made, kind) if arguments.get("with_response") in ("1", "true") else None


def _respond(
    server: DiscordServer, made: Interaction, kind: int, data: Mapping[str, Any], files: Sequence[Upload]
) -> None:
    if kind == SAY:
        made.original = _say(server, made, data, files)
    elif kind == DEFER:
        made.original = _think(server, made, int(data.get("flags") or 0))
    elif kind == UPDATE and made.source is not None:
        messages.change(server, made.source, data, files)
        made.original = made.source
    elif kind == DEFER_UPDATE:
        made.original = made.source
    elif kind == CHOICES:
        made.choices = _checked_choices(data)
    elif kind == SHOW_MODAL:
        validation.check_modal(data)
        made.modal = data


def _checked_choices(data: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    choices = data.get("choices") or ()
    if len(choices) > 25:
        raise validation.invalid("data.choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
    if any(not 1 <= validation.units(choice["name"]) <= 100 for choice in choices):
        raise validation.too_long("data.choices.name", 100)
    return choices


def _facts(server: DiscordServer, made: Interaction) -> Mapping[str, Any]:
    owners = {"0": made.channel.guild.id if made.channel.guild else "0"}
    metadata = {
        "id": made.id,
        "type": made.kind,
        "user": payloads.user(made.user),
        "authorizing_integration_owners": owners,
    }
    return {"application_id": server.application_id, "metadata": metadata}


def _say(
    server: DiscordServer, made: Interaction, data: Mapping[str, Any], files: Sequence[Upload]
) -> Message:
    private = int(data.get("flags") or 0) & EPHEMERAL
    return messages.create(
        server,
        made.channel,
        server.bot,
        data,
        files,
        only_for=made.user.id if private else "",
        interaction=_facts(server, made),
    )


def _think(server: DiscordServer, made: Interaction, flags: int) -> Message:
    """ "thinking…"; its EPHEMERAL flag decides who sees what replaces it."""
    private = flags & EPHEMERAL
    message = Message(
        id=server.world.snowflake(),
        channel=made.channel,
        author=server.bot,
        flags=LOADING | private,
        created=server.wall(),
        only_for=made.user.id if private else "",
        interaction=_facts(server, made),
    )
    messages.put(server, message)
    return message


def _answer(server: DiscordServer, made: Interaction, kind: int) -> payloads.Payload:
    told: payloads.Payload = {"id": made.id, "type": made.kind, "activity_instance_id": None}
    answer: payloads.Payload = {"interaction": told}
    if made.original is not None:
        told |= {
            "response_message_id": made.original.id,
            "response_message_loading": bool(made.original.flags & LOADING),
            "response_message_ephemeral": bool(made.original.only_for),
        }
        if kind in (SAY, UPDATE):
            answer["resource"] = {"type": kind, "message": _told(server, made.original)}
    return answer


def _told(server: DiscordServer, message: Message) -> payloads.Payload:
    return payloads.message(message, server.world, base_url=server.base_url)


# --- by the token --------------------------------------------------------------------------------------------------------


def _by_token(server: DiscordServer, arguments: Arguments) -> Interaction:
    made = next((each for each in server.interactions.values() if each.token == arguments["token"]), None)
    if made is None or server.now() - made.at > TOKEN_SECONDS:
        raise validation.INVALID_TOKEN
    if made.acknowledged is None:
        raise validation.unknown("Webhook", 10015)
    return made


def _message(server: DiscordServer, arguments: Arguments) -> Message:
    made = _by_token(server, arguments)
    wanted = arguments.get("message", "@original")
    if wanted == "@original":
        found = made.original
    else:
        mine = [made.original, *made.follow_ups]
        found = next((each for each in mine if each is not None and each.id == wanted), None)
    if found is None or found.deleted:
        raise validation.unknown("Message", 10008)
    return found


def follow_up(server: DiscordServer, arguments: Arguments, files: Sequence[Upload]) -> Any:
    """A follow-up; the first one after a deferral replaces "thinking…"."""
    made = _by_token(server, arguments)
    if made.original is not None and made.original.flags & LOADING and not made.original.deleted:
        messages.change(server, made.original, arguments, files)
        return _told(server, made.original)
    made.follow_ups.append(_say(server, made, arguments, files))
    return _told(server, made.follow_ups[-1])


def get_by_token(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    return _told(server, _message(server, arguments))


def edit_by_token(server: DiscordServer, arguments: Arguments, files: Sequence[Upload]) -> Any:
    message = _message(server, arguments)
    messages.change(server, message, arguments, files)
    return _told(server, message)


def delete_by_token(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    messages.remove(server, _message(server, arguments))


# --- commands ------------------------------------------------------------------------------------------------------------

DAILY_CREATES, COMMANDS_OF_A_KIND = 200, {1: 100, 2: 15, 3: 15}


def _registered(server: DiscordServer, arguments: Arguments) -> dict[tuple[str, int], payloads.Payload]:
    return server.commands.setdefault(str(arguments.get("guild", "")), {})


def get_commands(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    return list(_registered(server, arguments).values())


def put_commands(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    """Replaces the whole list; new commands count as created."""
    registered = _registered(server, arguments)
    made = {}
    for command in arguments["list"]:
        made[_key(command)] = _made(server, arguments, command, registered.get(_key(command)))
    for kind, limit in COMMANDS_OF_A_KIND.items():
        if sum(key[1] == kind for key in made) > limit:
            raise validation.ApiError(400, 30032, f"Maximum number of application commands reached ({limit})")
    registered.clear()
    registered.update(made)
    server.changed()
    return list(registered.values())


def create_command(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    command = {key: value for key, value in arguments.items() if key not in ("application", "guild")}
    registered = _registered(server, arguments)
    registered[_key(command)] = _made(server, arguments, command, registered.get(_key(command)))
    server.changed()
    return registered[_key(command)]


def edit_command(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    command = _command(server, arguments)
    body = {key: value for key, value in arguments.items() if key not in ("application", "guild", "command")}
    changed = command | body
    validation.check_command(changed)
    registered = _registered(server, arguments)
    del registered[_key(command)]
    registered[_key(changed)] = changed
    return changed


def delete_command(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    del _registered(server, arguments)[_key(_command(server, arguments))]


def _command(server: DiscordServer, arguments: Arguments) -> payloads.Payload:
    for command in _registered(server, arguments).values():
        if command["id"] == str(arguments["command"]):
            return command
    raise validation.unknown("application command", 10063)


def _key(command: Mapping[str, Any]) -> tuple[str, int]:
    return command["name"], command.get("type", 1)


def _made(
    server: DiscordServer, arguments: Arguments, command: Mapping[str, Any], before: payloads.Payload | None
) -> payloads.Payload:
    validation.check_command(command)
    if before is None:
        if server.command_creates >= DAILY_CREATES:
            raise validation.TOO_MANY_COMMANDS
        server.command_creates += 1
    standing: payloads.Payload = {
        "type": 1,
        "description": "",
        "options": [],
        "default_member_permissions": None,
        "dm_permission": True,
        "contexts": None,
        "integration_types": [0],
        "nsfw": False,
    }
    identity = before["id"] if before else server.world.snowflake()
    made = standing | dict(command)
    made |= {"id": identity, "application_id": server.application_id, "version": server.world.snowflake()}
    return made | ({"guild_id": str(arguments["guild"])} if "guild" in arguments else {})
