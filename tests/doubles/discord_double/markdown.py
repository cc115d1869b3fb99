"""Mentions and links in Discord's texts; code has neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_CODE = re.compile(r"```.*?```|(?P<ticks>`{1,2})(?!`).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_MENTION = re.compile(r"@everyone|@here|<@!?(?P<user>\d+)>|<@&(?P<role>\d+)>")
_MASKED = re.compile(
    r"\[(?P<label>(?:\\.|\[[^\[\]]*\]|[^\[\]\\])*)\]"
    r"\(\s*<?(?P<url>(?:https?|discord)://[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+[\"'][^\"']*[\"'])?\s*\)",
    re.IGNORECASE,
)
_BARE = re.compile(r"https?://[^\s<>]+[^<>.,:;\"'\])\s]", re.IGNORECASE)
_ESCAPE = re.compile(r"\\[^0-9A-Za-z\s]")
_BEGINS = re.compile(r"[\[hH\\]")


def without_code(text: str) -> str:
    return _CODE.sub(lambda code: " " * len(code[0]), text)


def mentions(text: str) -> list[re.Match[str]]:
    """Every mention outside code. A backslash does not escape it."""
    return list(_MENTION.finditer(without_code(text)))


def pinging(text: str, allowed: Mapping[str, Any] | None) -> list[str]:
    """The mentions that the allowed mentions let through; without any, all."""
    return [found[0] for found in mentions(text) if allowed is None or _allows(allowed, found)]


def _allows(allowed: Mapping[str, Any], mention: re.Match[str]) -> bool:
    parse = allowed.get("parse") or ()
    if mention["user"]:
        return "users" in parse or mention["user"] in _strings(allowed.get("users"))
    if mention["role"]:
        return "roles" in parse or mention["role"] in _strings(allowed.get("roles"))
    return "everyone" in parse


def _strings(ids: Iterable[object] | None) -> set[str]:
    return {str(each) for each in ids or ()}


def links(text: str) -> Iterator[tuple[str, str]]:
    """Address and label of every clickable place; the label is empty for bare addresses."""
    text = without_code(text)
    position = 0
    while begins := _BEGINS.search(text, position):
        position = begins.start()
        masked = _MASKED.match(text, position)
        bare = _BARE.match(text, position)
        escape = _ESCAPE.match(text, position)
        if masked:
            yield masked["url"], masked["label"]
            yield from links(masked["label"])
            position = masked.end()
        elif bare:
            yield _balanced(bare[0]), ""
            position = bare.end()
        else:
            position = escape.end() if escape else position + 1


def _balanced(url: str) -> str:
    """Without unbalanced closing brackets."""
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1]
    return url


def words(content: str, components: Sequence[Mapping[str, Any]], embeds: Sequence[Mapping[str, Any]]) -> str:
    """All readable text of a message, in order."""
    parts = [content, *_displays(components)]
    for embed in embeds:
        fields = [f"{each.get('name', '')}\n{each.get('value', '')}" for each in embed.get("fields", ())]
        footer = (embed.get("footer") or {}).get("text", "")
        parts += [embed.get("title") or "", embed.get("description") or "", *fields, footer]
    return "\n".join(part for part in parts if part)


def flattened(components: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Every component, nested ones too, in reading order."""
    for component in components:
        yield component
        yield from flattened(component.get("components", ()))
        if component.get("accessory"):
            yield from flattened([component["accessory"]])


def _displays(components: Sequence[Mapping[str, Any]]) -> list[str]:
    return [each["content"] for each in flattened(components) if each.get("type") == 10]


def targets(
    components: Sequence[Mapping[str, Any]], embeds: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """The addresses of buttons and embed titles."""
    for component in flattened(components):
        if component.get("type") == 2 and component.get("url"):
            yield component["url"], component.get("label", "")
    for embed in embeds:
        if embed.get("url"):
            yield embed["url"], embed.get("title", "")
