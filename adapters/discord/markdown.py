from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARKUP = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|\#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+"
    r"|/(?P<command>[^:<>\n]{1,120}):\d+|t:(?P<time>-?\d{1,12})(?::\w)?)>",
)
_FORMATTING = re.compile(r"[*`~|]+|__")
_US = "\0"
_US_AT_START = re.compile(rf"(?m)^[ \t]*(?:{_US}[ \t]*)+(?:[,:][ \t]*)?")
_US_BEFORE_PUNCTUATION = re.compile(rf"(?:(?<![ \t])[ \t]++)?{_US}(?=[,.;:!?…]|\s*+$)")
_US_WITHIN = re.compile(rf"(?:(?<![ \t])[ \t]++)?{_US}[ \t]*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionNames:
    """`ours` are the bot's user and role."""

    ours: frozenset[str] = frozenset()
    people: Mapping[str, str] = field(default_factory=dict[str, str])
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    channels: Mapping[str, str] = field(default_factory=dict[str, str])


def to_commonmark(text: str, names: MentionNames) -> str:
    text = _MARKUP.sub(lambda match: _replace(match, names), text.replace(_US, ""))
    text = _US_AT_START.sub("", text)
    text = _US_BEFORE_PUNCTUATION.sub("", text)
    return _US_WITHIN.sub(" ", text).strip()


def _replace(match: re.Match[str], names: MentionNames) -> str:
    kind, value = str(match.lastgroup), str(match[match.lastgroup or 0])
    match kind:
        case "user" | "role" if value in names.ours:
            return _US
        case "user":
            return _name_or_original("@", names.people.get(value), match)
        case "role":
            return _name_or_original("@", names.roles.get(value), match)
        case "channel":
            return _name_or_original("#", names.channels.get(value), match)
        case "emoji":
            return f":{value}:"
        case "command":
            return f"/{value}"
        case _:
            return _format_time(int(value), match)


def _name_or_original(sign: str, name: str | None, match: re.Match[str]) -> str:
    return f"{sign}{name}" if name else match[0]


def _format_time(seconds: int, match: re.Match[str]) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return match[0]


def thread_title(text: str, *, characters: int = 80) -> str:
    lines = (" ".join(_FORMATTING.sub("", line).strip("#>- \t").split()) for line in text.splitlines())
    first = next((line for line in lines if line), "")
    return first if len(first) <= characters else first[: characters - 1].rstrip() + "…"
