"""Pure: a reply as the messages that a platform shows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from bot.port import Page
from bot.rendering.dialect import Dialect
from bot.rendering.lines import show
from bot.rendering.links import links
from bot.rendering.pings import without_pings
from bot.rendering.splitting import split
from bot.rendering.widths import fitting, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Limits, Reply
    from bot.rendering.line import Line
    from bot.rendering.splitting import Part

_BETWEEN: Final = 2
"""Units kept for what an adapter puts between text and small print."""


def pages(reply: Reply, limits: Limits, *, final: bool) -> list[Page]:
    """The messages that show the reply, one at least.

    Of a reply that is not final, only that is shown which more text cannot change; a page that another follows stays as it is
    when the text grows.
    """
    dialect = dialect_named(limits.dialect)
    texts = _texts(reply, dialect, limits.characters, final=final)
    shown = [Page(text=text, reply=reply) for text in texts]
    footer = dialect.footer(reply, min(dialect.footer_characters, limits.characters))
    if footer and width(texts[-1]) + _BETWEEN + width(footer) > limits.characters:
        footer = _shorter(reply, dialect, texts[-1], limits.characters, footer)
        if width(texts[-1]) + _BETWEEN + width(footer) > limits.characters:
            shown.append(Page(reply=reply))
    status = "" if texts[-1] or (final and reply.text) else _status(reply, limits.characters)
    last = replace(shown[-1], footer=footer, status=status, buttons=reply.buttons)
    return [*shown[:-1], replace(last, files=reply.files if final else ())]


def _texts(reply: Reply, dialect: Dialect, room: int, *, final: bool) -> list[str]:
    allowed = links(reply.links, also=(source.uri for source in reply.sources))
    text = _one_kind_of_break(reply.text)
    shown = show(text, dialect, allowed, growing=not final)
    parts = split(shown.lines, room)
    if shown.draft:
        parts = _with_draft(parts, shown.lines, shown.draft, room)
    texts = [part.text for part in parts]
    if texts and shown.open and not final and not dialect.closes:
        texts[-1] = parts[-1].opened + parts[-1].body
    return texts or [""]


def _with_draft(parts: list[Part], lines: Sequence[Line], draft: Sequence[Line], room: int) -> list[Part]:
    """What is not decided yet is shown in the last message as far as it fits there; it is no reason to begin another one."""
    for end in range(len(draft), 0, -1):
        tried = split([*lines, *draft[:end]], room)
        if len(tried) <= max(len(parts), 1) and tried[:-1] == parts[:-1]:
            return tried
    return parts


def _shorter(reply: Reply, dialect: Dialect, text: str, room: int, footer: str) -> str:
    """The small print with fewer sources where that keeps it in the message of the text; else as it was."""
    left = room - width(text) - _BETWEEN
    if not reply.sources or left < width(footer) // 2:
        return footer
    return dialect.footer(reply, left) or footer


def _status(reply: Reply, room: int) -> str:
    status = without_pings(" ".join(reply.status.split())) or ("…" if reply.text else "")
    return status[: fitting(status, room)]


def _one_kind_of_break(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


@cache
def dialect_named(name: str) -> Dialect:
    """The dialect of a module in `bot.rendering.dialects`."""
    if not name.isidentifier():
        raise ValueError(f"no dialect can be called {name!r}")
    dialect: object = import_module(f"bot.rendering.dialects.{name}").DIALECT
    if not isinstance(dialect, Dialect):
        raise TypeError(f"bot.rendering.dialects.{name} has no dialect")
    return dialect
