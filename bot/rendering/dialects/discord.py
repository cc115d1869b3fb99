"""Discord's Markdown. Backslashes do not escape in masked link text (discord-api-docs#6185, #7721)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import regex

from bot.rendering.dialect import Dialect
from bot.rendering.footers import file_line, footer, outside_code, title, unlinked, web_address
from bot.rendering.replies import printable
from bot.rendering.safety.pings import BREAK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Reply, Source

_ESCAPED: Final = regex.compile(r"[\\*_~`|\[\]<>#]|^[\-+>]")
_IN_LABEL: Final = str.maketrans({"[": "(", "]": ")", "`": "'", "\\": "/", "<": "‹", ">": "›"})
_MARKS: Final = regex.compile(r"[*~|]|(?<!\w)_|_(?!\w)")


def _footer(reply: Reply, room: int) -> str:
    return footer(reply, room, file=_file, notice=_notice, line="-# ")


def _file(sources: Sequence[Source]) -> str:
    first = sources[0]
    address = web_address(first)
    name = f"[{_label(title(first))}](<{address}>)" if address else _plain(title(first))
    return file_line(sources, f"[{first.number}] {name}", _plain)


def _label(text: str) -> str:
    return _MARKS.sub(lambda found: found.group() + BREAK, unlinked(text).translate(_IN_LABEL))


def _plain(text: str) -> str:
    return _escaped(unlinked(text))


def _notice(text: str) -> str:
    return outside_code(unlinked(printable(" ".join(text.split()))), _escaped)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"\\{found.group()}", text)


DIALECT: Final = Dialect(
    footer=_footer,
    footer_characters=1_200,
    status=_notice,
    underscores_underline=True,
    bars_hide=True,
    headings=3,
    rule="─" * 12,
    flat=True,
    boxes=("☐", "☑"),
    tables="aligned",
    columns=60,
    closes=True,
)
