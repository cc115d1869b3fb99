"""What Discord shows in a message: headings of three levels, lists, quotes of one level, masked links, code, `-#` small print.

It shows no tables, pictures, rules, nested quotes, task lists or `1)`; `__` underlines, `||` hides, backslashes escape but in the text
of masked links; a masked link whose text holds an address is not made one (discord-api-docs#6185, #7721).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import regex

from bot.rendering.dialect import Dialect
from bot.rendering.footers import footer, outside_code, places, title, unlinked, web_address
from bot.rendering.pings import BREAK
from bot.rendering.replies import printable

if TYPE_CHECKING:
    from bot.port import Reply, Source

_ESCAPED: Final = regex.compile(r"[\\*_~`|\[\]<>#]|^[\-+>]")
_IN_LABEL: Final = str.maketrans({"[": "(", "]": ")", "`": "'", "\\": "/", "<": "‹", ">": "›"})
_MARKS: Final = regex.compile(r"[*~|]|(?<!\w)_|_(?!\w)")


def _footer(reply: Reply, room: int) -> str:
    return footer(reply, room, source=_source, notice=_notice, line="-# ")


def _source(source: Source) -> str:
    address = web_address(source)
    where = f" — {_plain(places(source))}" if source.places else ""
    if not address:
        return f"[{source.number}] {_plain(title(source))}{where}"
    return f"[{source.number}] [{_label(title(source))}](<{address}>){where}"


def _label(text: str) -> str:
    """Text for a masked link: backslashes do not escape there, so what would be markup is broken or replaced by its like."""
    return _MARKS.sub(lambda found: found.group() + BREAK, unlinked(text).translate(_IN_LABEL))


def _plain(text: str) -> str:
    return _escaped(unlinked(text))


def _notice(text: str) -> str:
    """Code stays code; backslashes would be seen in it."""
    return outside_code(unlinked(printable(" ".join(text.split()))), _escaped)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"\\{found.group()}", text)


DIALECT: Final = Dialect(
    footer=_footer,
    footer_characters=1_200,
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
