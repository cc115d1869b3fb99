from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from bot.port import Page
from bot.rendering.dialect import Dialect
from bot.rendering.markdown.lines import show
from bot.rendering.markdown.widths import fitting, width
from bot.rendering.parts import split
from bot.rendering.safety.links import links

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.port import PlatformLimits, Reply
    from bot.rendering.markdown.line import RenderedLine
    from bot.rendering.parts import MessagePart
    from rag_engine.research.findings import PlanStep, StepState

_BETWEEN: Final = 2
_MARKS: Final[Mapping[StepState, str]] = {"waiting": "○", "running": "▸", "done": "✓", "failed": "✗"}


def pages(reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]:
    """Unless `final`, unstable text is left out, and only the last page changes."""
    dialect = dialect_named(limits.dialect)
    texts = _texts(reply, dialect, limits.characters, final=final)
    shown = [Page(text=text, reply=reply) for text in texts]
    footer = dialect.footer(reply, min(dialect.footer_characters, limits.characters))
    if footer and width(texts[-1]) + _BETWEEN + width(footer) > limits.characters:
        footer = _shorter(reply, dialect, texts[-1], limits.characters, footer)
        if width(texts[-1]) + _BETWEEN + width(footer) > limits.characters:
            shown.append(Page(reply=reply))
    steps = _steps(reply, dialect)
    is_shown = not (texts[-1] or (final and reply.text))
    status = _status(reply, steps, dialect, limits.characters) if is_shown else ""
    last = replace(shown[-1], footer=footer, status=status, steps=steps, buttons=reply.buttons)
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


def _with_draft(
    parts: list[MessagePart], lines: Sequence[RenderedLine], draft: Sequence[RenderedLine], room: int
) -> list[MessagePart]:
    found, fits, too_many = parts, 0, len(draft) + 1
    while too_many - fits > 1:
        tried_lines = (fits + too_many) // 2
        tried = split([*lines, *draft[:tried_lines]], room)
        if len(tried) <= max(len(parts), 1) and tried[:-1] == parts[:-1]:
            found, fits = tried, tried_lines
        else:
            too_many = tried_lines
    return found


def _shorter(reply: Reply, dialect: Dialect, text: str, room: int, footer: str) -> str:
    left = room - width(text) - _BETWEEN
    if not reply.sources or left < width(footer) // 2:
        return footer
    return dialect.footer(reply, left) or footer


def _status(reply: Reply, steps: Sequence[PlanStep], dialect: Dialect, room: int) -> str:
    head = dialect.status(_line(reply.status)) or ("…" if reply.text else "")
    status = "\n".join((head, *(f"{_MARKS[step.state]} {step.text}" for step in steps)))
    return status[: fitting(status, room)]


def _steps(reply: Reply, dialect: Dialect) -> tuple[PlanStep, ...]:
    return tuple(
        replace(step, text=f"{number}. {dialect.status(_line(step.shown))}", tool="")
        for number, step in enumerate(reply.steps, 1)
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _one_kind_of_break(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


@cache
def dialect_named(name: str) -> Dialect:
    if not name.isidentifier():
        raise ValueError(f"no dialect can be called {name!r}")
    dialect: object = import_module(f"bot.rendering.dialects.{name}").DIALECT
    if not isinstance(dialect, Dialect):
        raise TypeError(f"bot.rendering.dialects.{name} has no dialect")
    return dialect
