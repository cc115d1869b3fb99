from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import unescape

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE = re.compile(r"```(.+?)```|`[^`\n]+`", re.DOTALL)
_ENTITY = re.compile(r"<([^<>]+)>")
_PERSON = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_GROUP = re.compile(r"<!(?:subteam\^[A-Z0-9]+|here|channel|everyone)(?:\|[^<>]*)?>")
_BOLD = re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]+?)(?<!\s)\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?![\s~])([^~\n]+?)(?<!\s)~(?![\w~])")
_BULLET = re.compile(r"(?m)^([ \t]*)[•◦▪‣] ?\s*")


def mentioned_people(text: str) -> list[str]:
    return list(dict.fromkeys(_PERSON.findall(text)))


def mentions_others(text: str, bot_user: str) -> bool:
    return any(person != bot_user for person in mentioned_people(text)) or _GROUP.search(text) is not None


def to_commonmark(text: str, *, bot_user: str, names: Mapping[str, str]) -> str:
    """`names` are those of mentioned people."""
    text = re.sub(rf"^\s*<@{re.escape(bot_user)}(?:\|[^<>]*)?>\s*[,:]?\s*", "", text) if bot_user else text
    text = re.sub(rf"(?<![ \t])[ \t]*<@{re.escape(bot_user)}(?:\|[^<>]*)?>", "", text) if bot_user else text
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        parts += [_prose(text[end : code.start()], names), _code(code)]
        end = code.end()
    parts.append(_prose(text[end:], names))
    return "".join(parts).strip()


def command_line(text: str) -> str:
    """With `<#C…>`, `<@U…>`, `<!subteam^S…>` and bare addresses."""

    def entity(found: re.Match[str]) -> str:
        target = found[1].partition("|")[0]
        return f"<{target}>" if target[0] in "#@!" else _address(target)

    return unescape(_ENTITY.sub(entity, text)).strip()


def _prose(text: str, names: Mapping[str, str]) -> str:
    text = _BULLET.sub(r"\1- ", text)
    text = _STRUCK.sub(r"~~\1~~", _BOLD.sub(r"**\1**", text))
    return unescape(_ENTITY.sub(lambda found: _entity(found[1], names), text))


def _code(code: re.Match[str]) -> str:
    plain = unescape(_ENTITY.sub(lambda found: _address(found[1].partition("|")[0]), code[0]))
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
        f"[{label}]({address})" if label and unescape(label) not in (address, unescape(target)) else address
    )


def _address(target: str) -> str:
    return target.removeprefix("mailto:").removeprefix("tel:")
