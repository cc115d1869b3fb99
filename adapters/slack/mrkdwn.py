"""Pure: what people write in Slack as CommonMark, and plain text as Slack wants it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE = re.compile(r"```(.+?)```|`[^`\n]+`", re.DOTALL)
_ENTITY = re.compile(r"<([^<>]+)>")
_PERSON = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_GROUP = re.compile(r"<!(?:subteam\^[A-Z0-9]+|here|channel|everyone)(?:\|[^<>]*)?>")
_BOLD = re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]+?)(?<!\s)\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?![\s~])([^~\n]+?)(?<!\s)~(?![\w~])")
_BULLET = re.compile(r"(?m)^([ \t]*)[•◦▪‣] ?\s*")


def people(text: str) -> list[str]:
    """The ids of the people it mentions, each once."""
    return list(dict.fromkeys(_PERSON.findall(text)))


def for_others(text: str, own: str) -> bool:
    """Whether it mentions anybody but us."""
    return any(person != own for person in people(text)) or _GROUP.search(text) is not None


def commonmark(text: str, *, own: str, names: Mapping[str, str]) -> str:
    """The text without our own mention; `names` are those of the people it mentions."""
    text = re.sub(rf"^\s*<@{re.escape(own)}(?:\|[^<>]*)?>\s*[,:]?\s*", "", text) if own else text
    text = re.sub(rf"[ \t]*<@{re.escape(own)}(?:\|[^<>]*)?>", "", text) if own else text
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        parts += [_prose(text[end : code.start()], names), _code(code)]
        end = code.end()
    parts.append(_prose(text[end:], names))
    return "".join(parts).strip()


def line(text: str) -> str:
    """The words after a slash command: channels as `<#C…>`, people as `<@U…>`, addresses bare."""

    def entity(found: re.Match[str]) -> str:
        target = found[1].partition("|")[0]
        return f"<{target}>" if target[0] in "#@" else _address(target)

    return unescaped(_ENTITY.sub(entity, text)).strip()


def escaped(text: str) -> str:
    """Plain text that Slack shows as it is: nothing in it pings, links or is a tag."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescaped(text: str) -> str:
    """The three characters that Slack escapes."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _prose(text: str, names: Mapping[str, str]) -> str:
    text = _BULLET.sub(r"\1- ", text)
    text = _STRUCK.sub(r"~~\1~~", _BOLD.sub(r"**\1**", text))
    return unescaped(_ENTITY.sub(lambda found: _entity(found[1], names), text))


def _code(code: re.Match[str]) -> str:
    plain = unescaped(_ENTITY.sub(lambda found: _address(found[1].partition("|")[0]), code[0]))
    if code[1] is None:
        return plain
    body = plain[3:-3]
    opening = "" if body.startswith("\n") else "\n"
    closing = "" if body.endswith("\n") else "\n"
    return f"```{opening}{body}{closing}```"


def _entity(body: str, names: Mapping[str, str]) -> str:
    target, _, label = body.partition("|")
    kind, rest = target[0], target[1:]
    if kind == "@":
        return "@" + (names.get(rest) or label.removeprefix("@") or rest)
    if kind == "#":
        return "#" + (label or names.get(rest) or rest)
    if kind == "!":
        return label or "@" + rest.partition("^")[0]
    address = _address(target)
    return (
        f"[{label}]({address})" if label and unescaped(label) not in (address, unescaped(target)) else address
    )


def _address(target: str) -> str:
    return target.removeprefix("mailto:").removeprefix("tel:")
