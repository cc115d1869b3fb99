from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.rendering.dialect import Dialect
from bot.rendering.footers import footer, places, title
from bot.rendering.replies import printable

if TYPE_CHECKING:
    from bot.port import Reply, Source


def _footer(reply: Reply, room: int) -> str:
    return footer(reply, room, source=_source, notice=_notice)


def _source(source: Source) -> str:
    where = f" — {places(source)}" if source.places else ""
    return f"[{source.number}] {title(source)}{where}"


def _notice(text: str) -> str:
    return printable(" ".join(text.split()))


DIALECT: Final = Dialect(footer=_footer, footer_characters=1 << 30, verbatim=True)
