"""Pure: text that pings nobody, wherever a platform looks for pings, and is read as it was written."""

from __future__ import annotations

from typing import Final

import regex

BREAK: Final = "\u200b"
"""Seen by nobody; with it in the middle a name is no name."""

# What a renderer may drop before it looks again: marks of emphasis, backslashes, invisible characters.
_NOTHING: Final = r"[\p{Cf}*_~|\\`]*"
_GROUPS: Final = r"(?i:everyone|here|channel|group)"
_AT: Final = r"(?:@|&(?:\#0*64|\#[xX]0*40|commat);?|\uff20)"
_LESS: Final = r"(?:<|&(?:\#0*60|\#[xX]0*3[cC]|lt|LT);?)"
PING: Final = (
    rf"{_AT}(?={_NOTHING}{_GROUPS})"
    rf"|{_LESS}(?={_NOTHING}(?:{_AT}|\#[A-Z0-9]|!{_NOTHING}(?i:channel|here|everyone|group|subteam|date)|/[\w\- ]{{1,40}}:\d|id:))"
)
"""The character, or the entity for it, that begins a ping."""
UNFINISHED: Final = regex.compile(r"[<@&][^\s<@]{0,40}$", regex.VERSION1)
"""The end of a text that may yet become one."""

PATTERN: Final = regex.compile(PING, regex.VERSION1)


def without_pings(text: str) -> str:
    """The same text to look at, with every ping broken."""
    if "@" not in text and "<" not in text and "&" not in text and "\uff20" not in text:
        return text
    return PATTERN.sub(lambda found: found.group() + BREAK, text)
