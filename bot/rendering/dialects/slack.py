"""What Slack's `markdown` blocks and `markdown_text` show, and the mrkdwn of the context block under them.

By docs.slack.dev, "markdown block", as of 2026: bold, italics, strikethrough, links, lists, task lists, quotes, code with its language, rules,
tables, backslash escapes; headings all of one size; pictures as links. Slack's own `<...>` markup works in these blocks too, also where
CommonMark sees code, and `&lt;` is shown as `<` without being read again (PostHog/posthog#95054, measured there).
A table has 100 rows and 20 columns at most (the `table` block that Slack makes of it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import regex

from bot.rendering.dialect import Dialect
from bot.rendering.footers import footer, outside_code, places, title, unlinked, web_address
from bot.rendering.pings import BREAK, without_pings
from bot.rendering.replies import printable

if TYPE_CHECKING:
    from bot.port import Reply, Source

_MARKS: Final = regex.compile(r"[*~`]|(?<!\w)_|_(?!\w)")
_ELEMENT: Final = 3_000


def _footer(reply: Reply, room: int) -> str:
    return footer(reply, room, source=_source, notice=_notice)


def _source(source: Source) -> str:
    address = web_address(source)
    where = f" — {mrkdwn(places(source))}" if source.places else ""
    if not address:
        return f"[{source.number}] {mrkdwn(title(source))}{where}"
    return f"<{_escaped(address)}|[{source.number}] {mrkdwn(title(source))}>{where}"


def _notice(text: str) -> str:
    """Code stays code."""
    text = unlinked(without_pings(printable(" ".join(text.split()))))
    return _escaped(outside_code(text, _unmarked))


def mrkdwn(text: str) -> str:
    """Text in Slack's older markup that looks as it is written, and neither pings nor links."""
    return _escaped(_unmarked(unlinked(without_pings(text))))


def _unmarked(text: str) -> str:
    return _MARKS.sub(lambda found: found.group() + BREAK, text)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


DIALECT: Final = Dialect(
    footer=_footer,
    footer_characters=_ELEMENT,
    angles=True,
    columns=20,
    rows=99,
)
