"""From blocks and attachments, for a message without text of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.port import Fields

_PLACEHOLDERS: Final = frozenset({"This content can't be displayed.", "This message can't be displayed."})
_CONTROLS: Final = frozenset({"actions", "context_actions", "divider", "input"})
_STYLES: Final = (("code", "`"), ("bold", "*"), ("italic", "_"), ("strike", "~"))
_ONE_TEXT: Final = ("text", "title", "subtitle", "description", "alt_text", "body", "content")
_LISTS: Final = ("fields", "elements", "blocks", "rows", "tasks")
_MOST_DEPTH: Final = 12
_MOST_BLOCKS: Final = 200


def message_text(raw: Fields) -> str:
    text = raw.text("text")
    has_own = bool(text.strip()) and text.strip() not in _PLACEHOLDERS
    if has_own and not raw.text("bot_id"):
        return text
    from_blocks = blocks_text(raw.objects("blocks"))
    if has_own:  # a bot's is often only a notification
        return from_blocks if len(from_blocks) > len(text) else text
    return from_blocks or "\n\n".join(
        filter(None, (_attachment_text(each) for each in raw.objects("attachments") if not is_share(each)))
    )


def forwarded_text(raw: Fields) -> str:
    return "\n\n".join(filter(None, (_attachment_text(each) for each in forwarded(raw))))


def forwarded(raw: Fields) -> list[Fields]:
    """Others are link previews, or of bots."""
    return [each for each in raw.objects("attachments") if is_share(each)]


def is_share(attachment: Fields) -> bool:
    return attachment.flag("is_share")


def blocks_text(blocks: Sequence[Fields]) -> str:
    return _joined((_block(block, 0) for block in blocks[:_MOST_BLOCKS]), "\n")


def _attachment_text(attachment: Fields) -> str:
    shown = [attachment.text(name) for name in ("pretext", "title", "text")]
    shown += [
        ": ".join(filter(None, (field.text("title"), field.text("value"))))
        for field in attachment.objects("fields")
    ]
    text = _joined(shown, "\n")
    if text:
        return text
    original = [each.object("message").objects("blocks") for each in attachment.objects("message_blocks")]
    blocks = [*attachment.objects("blocks"), *(block for each in original for block in each)]
    return blocks_text(blocks) or attachment.text("fallback")


def _block(block: Fields, depth: int) -> str:
    kind = block.text("type")
    if depth > _MOST_DEPTH or kind in _CONTROLS:
        return ""
    if kind == "rich_text":
        return _joined((_rich(each, depth + 1) for each in block.objects("elements")), "\n")
    if isinstance(block.values.get("text"), str):
        return block.text("text") if kind == "mrkdwn" else escape(block.text("text"))
    parts: list[str] = []
    for name in _ONE_TEXT:
        if isinstance(block.values.get(name), str):
            parts.append(escape(block.text(name)))
        elif name in block:
            parts.append(_block(block.object(name), depth + 1))
    for name in _LISTS:
        if name == "rows":
            parts += _rows(block, depth)
        elif name in block:
            parts += [_block(each, depth + 1) for each in block.objects(name)]
    return _joined(parts, "\n")


def _rows(block: Fields, depth: int) -> list[str]:
    rows = block.values.get("rows")
    if not isinstance(rows, list):
        return []
    kind = type(block)
    cells = [kind(f"{block.source}: rows", {"cells": row}).objects("cells") for row in rows]  # pyright: ignore[reportUnknownVariableType]
    return [_joined((_block(cell, depth + 1) for cell in row), " | ") for row in cells]


def _rich(element: Fields, depth: int) -> str:
    if depth > _MOST_DEPTH:
        return ""
    kind = element.text("type")
    if kind == "rich_text_list":
        indent, ordered = "  " * min(max(element.number("indent"), 0), 8), element.text("style") == "ordered"
        items = [_rich(each, depth + 1) for each in element.objects("elements")]
        return "\n".join(
            f"{indent}{f'{number}.' if ordered else '•'} {item}" for number, item in enumerate(items, 1)
        )
    text = "".join(_inline(each) for each in element.objects("elements"))
    if kind == "rich_text_preformatted":
        return f"```{text}```"
    if kind == "rich_text_quote":
        return "\n".join(f"&gt; {line}" for line in text.split("\n"))
    return text


def _inline(element: Fields) -> str:
    match element.text("type"):
        case "text":
            return _styled(escape(element.text("text")), element.object("style"))
        case "link":
            url = element.text("url").replace(">", "%3E").replace("|", "%7C")
            label = escape(element.text("text")).replace("|", "/")
            return f"<{url}|{label}>" if label else f"<{url}>" if url else ""
        case "user":
            return f"<@{element.text('user_id')}>"
        case "usergroup":
            return f"<!subteam^{element.text('usergroup_id')}>"
        case "channel":
            return f"<#{element.text('channel_id')}>"
        case "broadcast":
            return f"<!{element.text('range') or 'channel'}>"
        case "emoji":
            return f":{element.text('name')}:"
        case "date":
            return escape(element.text("fallback"))
        case _:
            return escape(element.text("text") or element.text("value"))


def _styled(text: str, style: Fields) -> str:
    inner = text.strip()
    if not inner or "\n" in inner:
        return text
    marked = inner
    for name, mark in _STYLES:
        if style.flag(name):
            marked = f"{mark}{marked}{mark}"
            if name == "code":
                break
    start = text.index(inner)
    return f"{text[:start]}{marked}{text[start + len(inner) :]}"


def _joined(parts: Iterable[str], between: str) -> str:
    return between.join(part for part in parts if part.strip())
