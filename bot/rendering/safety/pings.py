from __future__ import annotations

from typing import Final

import regex

from rag_engine.text.lazy_pattern import lazy

BREAK: Final = "\u200b"
"""Invisible."""

_NOTHING: Final = r"[\p{Cf}*_~|\\`]*"
_GROUPS: Final = r"(?i:everyone|here|channel|group)"
_AT: Final = r"(?:@|&(?:\#0*64|\#[xX]0*40|commat);?|\uff20)"
_LESS: Final = r"(?:<|&(?:\#0*60|\#[xX]0*3[cC]|lt|LT);?)"
PING: Final = (
    rf"{_AT}(?={_NOTHING}{_GROUPS})"
    rf"|{_LESS}(?={_NOTHING}(?:{_AT}|\#\w|!{_NOTHING}(?i:channel|here|everyone|group|subteam|date)|/[\w\- ]{{1,40}}:\d|id:))"
)
UNFINISHED: Final = lazy(lambda: regex.compile(r"[<@&][^\s<@]{0,40}$", regex.VERSION1))

PATTERN: Final = lazy(lambda: regex.compile(PING, regex.VERSION1))


def without_pings(text: str) -> str:
    """Invisibly; the text reads as written."""
    if "@" not in text and "<" not in text and "&" not in text and "\uff20" not in text:
        return text
    return PATTERN.sub(lambda found: found.group() + BREAK, text)
