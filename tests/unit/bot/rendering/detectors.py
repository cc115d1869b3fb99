"""Would a platform ping or link here? Written from the platforms' documents, apart from the code under test.

Strict on purpose: whatever any reading of the text would make a ping or a link counts as one.
"""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

from markdown_it import MarkdownIt

_COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_URL = re.compile(
    r"(?i)(?<![a-z0-9])(?:[a-z][a-z0-9+.-]*://|www\.|mailto:|tel:|javascript:|data:\w|vbscript:|slack:|discord:)\S*"
)
_HOST = re.compile(
    r"(?i)(?<![a-z0-9@-])(?:[\w-]+\.)+(?:com|co|uk|zip|io|dev|org|net|gg|xn--\w+)\b(?:[:/?#][^\s`]*)?",
    re.UNICODE,
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.\w[\w.-]*")
_FOUR = re.compile(r"\b\d+\.\d+\.\d+\.\d+[:/]\S*")


def slack_pings(text: str) -> list[str]:
    """Control sequences anywhere, code included; and group names as people type them."""
    return [
        *re.findall(r"<[!@#][^\s>]*", text),
        *re.findall(r"(?i)@(?:everyone|here|channel)", text),
        *re.findall(r"(?i)&(?:lt|#60|#x3c);(?:!(?:channel|here|everyone|group|subteam)|[@#]\w)", text),
    ]


def discord_pings(text: str) -> list[str]:
    return [
        *re.findall(r"(?i)@(?:everyone|here)", text),
        *re.findall(r"<(?:@[!&]?|#)\d+>", text),
        *re.findall(r"</[\w -]+:\d+>", text),
        *re.findall(r"<id:\w+>", text),
    ]


def slack_links(text: str) -> list[str]:
    """As CommonMark with bare addresses, and as Slack's own `<address|text>`, which works in code too."""
    found = re.findall(r"<((?:https?|mailto|ftp|tel|slack|file):[^>|]*)", text)
    plain: list[str] = []
    for token in _COMMONMARK.parse(text):
        if token.type == "html_block":
            plain.append(token.content)
        for child in token.children or []:
            if child.type == "link_open":
                found.append(str(child.attrs["href"]))
            elif child.type == "image":
                found.append(str(child.attrs["src"]))
            elif child.type in ("text", "html_inline"):
                plain.append(child.content)
            elif child.type == "code_inline":
                plain.append(" ")
            else:
                plain.append("\n" if child.type.endswith("break") else "")
        plain.append("\n")
    return [*found, *_bare("".join(plain))]


def mrkdwn_links(text: str) -> list[str]:
    """As Slack reads the small print: `<address|text>`, and bare addresses outside of these."""
    found = [html.unescape(address) for address in re.findall(r"<([^>|]*)(?:\|[^>]*)?>", text)]
    return [*found, *_bare(re.sub(r"<[^>]*>", " ", text))]


def discord_links(text: str) -> list[str]:
    """As Discord's client reads it: code blocks, inline code, `<address>`, masked links, bare addresses."""
    text = re.sub(r"```.+?```", " ", text, flags=re.DOTALL)
    text = re.sub(r"(?<!\\)(`+)(?!`)(.*?[^`])\1(?!`)", " ", text, flags=re.DOTALL)
    found = re.findall(r"(?<!\\)<([a-zA-Z][^:\s>]*:[^\s>]+)>", text)
    masked = r"(?<!\\)\[((?:\[[^\]]*\]|[^\[\]]|\](?=[^\[]*\]))*)(?<!\\)\]\(\s*<?((?:\([^)]*\)|[^\s\\]|\\.)*?)>?(?:\s+['\"].*?['\"])?\s*\)"
    found += [match[1] for match in re.findall(masked, text, flags=re.DOTALL)]
    text = re.sub(r"\]\(<?(https?://[^\s>]*?)>?\)", "]", text)
    text = re.sub(r"<[a-zA-Z][^:\s>]*:[^\s>]+>", " ", text)
    return [*found, *_bare(text)]


def _bare(text: str) -> list[str]:
    return [
        match.group()
        for pattern in (_URL, _HOST, _MAIL, _FOUR)
        for match in pattern.finditer(text)
        if not match.group().startswith(("ok.example", "wiki.ok.example"))
    ]


def foreign(found: list[str], permitted: frozenset[str]) -> list[str]:
    """Those that are not permitted, however they are written."""
    allowed = {_plain(address) for address in permitted}
    return [address for address in found if _plain(address) not in allowed]


def _plain(address: str) -> str:
    address = unquote(html.unescape(address)).rstrip(".,;:!?*_~'\"|")
    if address.endswith(")") and address.count("(") < address.count(")"):
        address = address[:-1].rstrip(".,;:!?*_~'\"|")
    return re.sub(r"^(?:https?://|mailto:)", "", address.rstrip("/"))
