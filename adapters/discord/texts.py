"""Pure: what a person wrote on Discord as plain CommonMark, names in place of ids."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARKUP = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|\#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+"
    r"|/(?P<command>[^:>\n]+):\d+|t:(?P<time>-?\d{1,12})(?::\w)?)>",
)
_MARKS = re.compile(r"[*`~|]+|__")
_US = "\0"
_OPENING = re.compile(rf"(?m)^[ \t]*(?:{_US}[ \t]*)+(?:[,:][ \t]*)?")
_BEFORE_A_STOP = re.compile(rf"[ \t]*{_US}(?=[,.;:!?…]|\s*$)")
_WITHIN = re.compile(rf"[ \t]*{_US}[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What ids in a text stand for; `ours` are those that mean us: our user, our role."""

    ours: frozenset[str] = frozenset()
    people: Mapping[str, str] = field(default_factory=dict[str, str])
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    channels: Mapping[str, str] = field(default_factory=dict[str, str])


def clean(text: str, names: Names) -> str:
    """The text without our own mention, and with names where Discord writes ids."""
    named = _MARKUP.sub(lambda found: _named(found, names), text.replace(_US, ""))
    named = _OPENING.sub("", named)
    named = _BEFORE_A_STOP.sub("", named)
    return _WITHIN.sub(" ", named).strip()


def _named(found: re.Match[str], names: Names) -> str:
    kind, value = str(found.lastgroup), str(found[found.lastgroup or 0])
    match kind:
        case "user" | "role" if value in names.ours:
            return _US
        case "user":
            return _or_as_it_was("@", names.people.get(value), found)
        case "role":
            return _or_as_it_was("@", names.roles.get(value), found)
        case "channel":
            return _or_as_it_was("#", names.channels.get(value), found)
        case "emoji":
            return f":{value}:"
        case "command":
            return f"/{value}"
        case _:
            return _moment(int(value), found)


def _or_as_it_was(sign: str, name: str | None, found: re.Match[str]) -> str:
    return f"{sign}{name}" if name else found[0]


def _moment(seconds: int, found: re.Match[str]) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return found[0]


def heading(text: str, *, characters: int = 80) -> str:
    """The first line of a text that has words, short enough for the name of a thread; empty when there is none."""
    lines = (" ".join(_MARKS.sub("", line).strip("#>- \t").split()) for line in text.splitlines())
    first = next((line for line in lines if line), "")
    return first if len(first) <= characters else first[: characters - 1].rstrip() + "…"
