from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.rendering.dialect import Dialect
from bot.rendering.footers import file_line, footer, title
from bot.rendering.replies import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Reply, Source


def _footer(reply: Reply, room: int) -> str:
    return footer(reply, room, file=_file, notice=_notice)


def _file(sources: Sequence[Source]) -> str:
    return file_line(sources, f"[{sources[0].number}] {title(sources[0])}")


def _notice(text: str) -> str:
    return printable(" ".join(text.split()))


DIALECT: Final = Dialect(footer=_footer, footer_characters=1 << 30, verbatim=True)
