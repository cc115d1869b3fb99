"""`markdown` blocks and `markdown_text`, and the context block's mrkdwn, by docs.slack.dev, "markdown block" (2026).

`<...>` markup works even in code, and `&lt;` is shown as `<` (PostHog/posthog#95054). Tables have at most 100 rows
and 20 columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import regex

from bot.rendering.dialect import Dialect
from bot.rendering.footers import file_line, footer, outside_code, title, unlinked, web_address
from bot.rendering.replies import printable
from bot.rendering.safety.pings import BREAK, without_pings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Reply, Source

_MARKS: Final = regex.compile(r"[*~`]|(?<!\w)_|_(?!\w)")
_ELEMENT: Final = 3_000


def _footer(reply: Reply, room: int) -> str:
    return footer(reply, room, file=_file, notice=_notice)


def _file(sources: Sequence[Source]) -> str:
    address = web_address(sources[0])
    name = f"[{sources[0].number}] {mrkdwn(title(sources[0]))}"
    return file_line(sources, f"<{_escaped(address)}|{name}>" if address else name, mrkdwn)


def _notice(text: str) -> str:
    text = unlinked(without_pings(printable(" ".join(text.split()))))
    return _escaped(outside_code(text, _unmarked))


def mrkdwn(text: str) -> str:
    return _escaped(_unmarked(unlinked(without_pings(text))))


def _unmarked(text: str) -> str:
    return _MARKS.sub(lambda found: found.group() + BREAK, text)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


DIALECT: Final = Dialect(
    footer=_footer,
    footer_characters=_ELEMENT,
    status=unlinked,
    angles=True,
    columns=20,
    rows=99,
)
