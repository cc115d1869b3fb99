"""What Discord refuses in messages and commands, in its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.doubles.discord_double.markdown import flattened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.doubles.chat_server import Upload

CONTENT = 2000
FILES, FILE_BYTES, REQUEST_BYTES = 10, 10 << 20, 25 << 20
COMPONENTS_V2 = 1 << 15
ROW, BUTTON, SELECT, TEXT_INPUT = 1, 2, 3, 4
LINK_STYLE = 5
TOP_LEVEL_V2 = {1, 9, 10, 12, 13, 14, 17}
COMMAND_NAME = re.compile(r"^[-_'\w]{1,32}$")


class ApiError(Exception):
    def __init__(self, status: int, code: int, message: str, errors: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors


def unknown(what: str, code: int) -> ApiError:
    return ApiError(404, code, f"Unknown {what}")


MISSING_ACCESS = ApiError(403, 50001, "Missing Access")
MISSING_PERMISSIONS = ApiError(403, 50013, "Missing Permissions")
NOT_THE_AUTHOR = ApiError(403, 50005, "Cannot edit a message authored by another user")
EMPTY_MESSAGE = ApiError(400, 50006, "Cannot send an empty message")
ARCHIVED = ApiError(400, 50083, "Thread is archived")
LOCKED = ApiError(400, 160005, "This thread is locked")
THREAD_EXISTS = ApiError(400, 160004, "A thread has already been created for this message")
CANNOT_REPLY = ApiError(403, 160002, "Cannot reply without permission to read message history")
ACKNOWLEDGED = ApiError(400, 40060, "Interaction has already been acknowledged.")
UNKNOWN_INTERACTION = unknown("interaction", 10062)
INVALID_TOKEN = ApiError(401, 50027, "Invalid Webhook Token")
TOO_LARGE = ApiError(413, 40005, "Request entity too large")
CANNOT_MESSAGE = ApiError(403, 50007, "Cannot send messages to this user")
TOO_MANY_COMMANDS = ApiError(
    400, 30034, "Max number of daily application command creates has been reached (200)"
)


def invalid(path: str, code: str, message: str) -> ApiError:
    """50035, with the place of the fault as nested keys."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for key in reversed(path.split(".")):
        errors = {key: errors}
    return ApiError(400, 50035, "Invalid Form Body", errors)


def too_long(path: str, limit: int) -> ApiError:
    return invalid(path, "BASE_TYPE_BAD_LENGTH", f"Must be {limit} or fewer in length.")


def units(text: str) -> int:
    """UTF-16 units: an emoji counts as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_message(body: Mapping[str, Any], files: Sequence[Upload], *, flags: int) -> None:
    """Raise for an invalid message; `flags` are the message's."""
    if units(body.get("content") or "") > CONTENT:
        raise too_long("content", CONTENT)
    if len(str(body.get("nonce") or "")) > 25:
        raise too_long("nonce", 25)
    check_files(files)
    check_embeds(body.get("embeds") or ())
    check_mentions(body.get("allowed_mentions"))
    components = body.get("components") or ()
    if flags & COMPONENTS_V2:
        check_layout(body, components)
    else:
        check_rows(components)
    check_buttons(components)


def check_files(files: Sequence[Upload]) -> None:
    if len(files) > FILES:
        raise invalid("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {FILES} or fewer in length.")
    if any(len(file.content) > FILE_BYTES for file in files):
        raise TOO_LARGE
    if sum(len(file.content) for file in files) > REQUEST_BYTES:
        raise TOO_LARGE


def check_mentions(allowed: Mapping[str, Any] | None) -> None:
    for kind in (allowed or {}).get("parse") or ():
        if kind not in ("everyone", "users", "roles"):
            raise invalid("allowed_mentions.parse", "BASE_TYPE_CHOICES", "Not one of users, roles, everyone.")
        if kind != "everyone" and (allowed or {}).get(kind):
            raise invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", f"parse:{kind}")


def check_embeds(embeds: Sequence[Mapping[str, Any]]) -> None:
    if len(embeds) > 10:
        raise invalid("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
    total = 0
    for embed in embeds:
        fields = embed.get("fields") or ()
        if len(fields) > 25:
            raise invalid("embeds.fields", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
        parts = [
            ("title", embed.get("title"), 256),
            ("description", embed.get("description"), 4096),
            ("footer", (embed.get("footer") or {}).get("text"), 2048),
            ("author", (embed.get("author") or {}).get("name"), 256),
            *[("fields.name", each.get("name"), 256) for each in fields],
            *[("fields.value", each.get("value"), 1024) for each in fields],
        ]
        for name, text, limit in parts:
            if units(text or "") > limit:
                raise too_long(f"embeds.{name}", limit)
            total += units(text or "")
    if total > 6000:
        raise invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")


def check_layout(body: Mapping[str, Any], components: Sequence[Mapping[str, Any]]) -> None:
    """Components V2: text and embeds only in components."""
    for name in ("content", "embeds", "poll", "sticker_ids"):
        if body.get(name):
            raise invalid(
                name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "Not with IS_COMPONENTS_V2."
            )
    everything = list(flattened(components))
    if len(everything) > 40:
        raise invalid("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "More than 40 components.")
    if sum(units(each["content"]) for each in everything if each.get("type") == 10) > 4000:
        raise invalid("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "More than 4000 characters.")
    if any(each.get("type") not in TOP_LEVEL_V2 for each in components):
        raise invalid("components", "UNION_TYPE_CHOICES", "Not a component for the top level.")


def check_rows(components: Sequence[Mapping[str, Any]]) -> None:
    """Five rows of five buttons or one select."""
    if len(components) > 5:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    for number, row in enumerate(components):
        inside = row.get("components") or ()
        if row.get("type") != ROW:
            raise invalid(f"components.{number}.type", "UNION_TYPE_CHOICES", "Value must be one of {1}.")
        if not 1 <= len(inside) <= 5:
            raise invalid(
                f"components.{number}.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5."
            )
        if len(inside) > 1 and any(each.get("type") != BUTTON for each in inside):
            raise invalid(f"components.{number}.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "Too wide.")


def check_buttons(components: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for each in flattened(components):
        if each.get("type") == BUTTON:
            _check_button(each)
        if each.get("type") == SELECT and not 1 <= len(each.get("options") or ()) <= 25:
            raise invalid("components.options", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.")
        identity = each.get("custom_id")
        if identity is None:
            continue
        if not 1 <= units(identity) <= 100:
            raise invalid(
                "components.custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."
            )
        if identity in seen:
            raise invalid("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id is duplicated")
        seen.add(identity)


def _check_button(button: Mapping[str, Any]) -> None:
    if units(button.get("label") or "") > 80:
        raise too_long("components.label", 80)
    if not button.get("label") and not button.get("emoji"):
        raise invalid("components.label", "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED", "A label or an emoji.")
    is_link = button.get("style") == LINK_STYLE
    if is_link != bool(button.get("url")) or is_link == bool(button.get("custom_id")):
        raise invalid("components", "BUTTON_COMPONENT_INVALID_CUSTOM_ID", "Either a url or a custom id.")


def check_modal(data: Mapping[str, Any]) -> None:
    if not 1 <= units(data.get("title") or "") <= 45:
        raise invalid("data.title", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
    if not 1 <= units(data.get("custom_id") or "") <= 100:
        raise invalid("data.custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
    if not 1 <= len(data.get("components") or ()) <= 5:
        raise invalid("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")


def check_command(command: Mapping[str, Any]) -> None:
    """Context menu commands have names with spaces and no description."""
    name = command.get("name") or ""
    if command.get("type", 1) != 1:
        if not 1 <= len(name) <= 32 or command.get("description"):
            raise invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
        return
    _check_named(name, command.get("description") or "")
    _check_options(command.get("options") or ())


def _check_named(name: str, description: str) -> None:
    if not COMMAND_NAME.match(name) or name != name.lower():
        raise invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    if not 1 <= units(description) <= 100:
        raise invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")


def _check_options(options: Sequence[Mapping[str, Any]]) -> None:
    if len(options) > 25:
        raise invalid("options", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
    optional = False
    for option in options:
        _check_named(option.get("name") or "", option.get("description") or "")
        if option.get("required") and optional:
            raise invalid(
                "options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options come first"
            )
        optional = optional or not option.get("required")
        if len(option.get("choices") or ()) > 25:
            raise invalid("options.choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
        if any(units(choice["name"]) > 100 for choice in option.get("choices") or ()):
            raise too_long("options.choices.name", 100)
        if option.get("type") in (1, 2):
            _check_options(option.get("options") or ())
