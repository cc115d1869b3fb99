"""Texts of both platforms as HTML; HTML in a text is escaped."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Callable

_SLACK = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
_DISCORD = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("strikethrough").disable("image")
_MENTION = re.compile(r"<@!?([UW]?[A-Z0-9]+)>")


def html(kind: str, text: str, name_of: Callable[[str], str]) -> str:
    """`kind` as in `Chat.parts`."""
    small, _, wording = kind.rpartition(" ")
    text = _MENTION.sub(lambda found: f"@{name_of(found[1])}", text)
    if wording == "mrkdwn":
        made = mrkdwn(text)
    elif wording == "markdown":
        made = _SLACK.render(text)
    elif wording == "discord":
        made = _discord(text)
    else:
        made = f"<p>{escape(text)}</p>"
    return f'<div class="small">{made}</div>' if small else f"<div>{made}</div>"


def _discord(text: str) -> str:
    """Lines that begin with `-#` are small print; tables are not supported."""
    pieces = re.split(r"((?:^-# .*\n?)+)", text, flags=re.MULTILINE)
    return "".join(_small(piece) if piece.startswith("-# ") else _DISCORD.render(piece) for piece in pieces)


def _small(lines: str) -> str:
    plain = re.sub(r"^-# +", "", lines, flags=re.MULTILINE)
    return f'<div class="small">{_DISCORD.render(plain)}</div>'


def mrkdwn(text: str) -> str:
    """Slack escapes `&`, `<` and `>`."""
    pieces = re.split(r"(```.*?```|`[^`\n]+`)", text, flags=re.DOTALL)
    return "".join(_code(piece) if piece.startswith("`") else _words(piece) for piece in pieces)


def _code(piece: str) -> str:
    inner = escape(_unescaped(piece.strip("`")), quote=False)
    return f"<pre>{inner}</pre>" if piece.startswith("```") else f"<code>{inner}</code>"


def _words(piece: str) -> str:
    links: list[str] = []

    def kept(found: re.Match[str]) -> str:
        label = _unescaped(found[2] or found[1])
        links.append(f'<a href="{escape(_unescaped(found[1]))}">{escape(label)}</a>')
        return f"\x00{len(links) - 1}\x00"

    piece = re.sub(r"<((?:https?|mailto):[^<>|\s]*)(?:\|([^<>]*))?>", kept, piece)
    piece = re.sub(r"\bhttps?://[^\s<>|\x00]+", lambda found: kept(re.match(r"(.*)()", found[0])), piece)
    made = escape(_unescaped(piece))
    for mark, tag in (("*", "strong"), ("_", "em"), ("~", "s")):
        each = re.escape(mark)
        made = re.sub(
            rf"(?<![\w{each}]){each}(?=\S)([^\n{each}]+?)(?<=\S){each}(?![\w{each}])",
            rf"<{tag}>\1</{tag}>",
            made,
        )
    made = re.sub(r"^&gt; ?(.*)$", r"<blockquote>\1</blockquote>", made, flags=re.MULTILINE)
    made = made.replace("</blockquote>\n", "</blockquote>").replace("\n", "<br>")
    return re.sub(r"\x00(\d+)\x00", lambda found: links[int(found[1])], made)


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
