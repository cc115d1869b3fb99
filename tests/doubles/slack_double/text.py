"""Texts and blocks in Slack: what is refused, read, and linked, and whom it notifies."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from markdown_it import MarkdownIt

from tests.doubles.chat_server import Link, Ping, ShownButton

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Block = Mapping[str, Any]

TEXT: Final = 40_000
MARKDOWN: Final = 12_000
SECTION: Final = 3_000
HEADER: Final = 150
BLOCKS: Final = 50
ALL_BLOCKS: Final = 13_200
BUTTON_TEXT: Final = 75
BUTTON_VALUE: Final = 2_000
IDENTIFIER: Final = 255
ELEMENTS: Final = {"context": 10, "actions": 25, "context_actions": 5}

_PINGS = re.compile(r"<(?:!(?:channel|here|everyone)\b|!subteam\^|@[UW][A-Z0-9]+)[^<>]*>")
_SPOKEN = re.compile(r"(?<![\w&])@(?:channel|here|everyone)\b")
_ANGLED = re.compile(r"<((?:https?|mailto|tel|slack|ftp)[^<>|\s]*)(?:\|([^<>]*))?>")
_TLD = "com|org|net|io|dev|app|co|ai|xyz|info|biz|ru|cn|de|uk|edu|gov|example|test|invalid"
_BARE = re.compile(
    rf"(?:https?|ftp)://[^\s<>|]+|mailto:[^\s<>|]+|\bwww\.[^\s<>|]+|(?<![\w@./-])(?:[\w-]+\.)+(?:{_TLD})\b(?:/[^\s<>|]*)?",
    re.IGNORECASE,
)
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


# --- what is refused ---------------------------------------------------------------------------------------------------


def faults(blocks: Sequence[Block]) -> list[str]:
    """Why Slack would answer `invalid_blocks`, or an empty string."""
    found = [f"no more than {BLOCKS} items allowed"] if len(blocks) > BLOCKS else []
    identifiers = [block["block_id"] for block in blocks if block.get("block_id")]
    found += ["block_id already exists"] if len(identifiers) != len(set(identifiers)) else []
    found += ["block_id too long"] if any(len(each) > IDENTIFIER for each in identifiers) else []
    if sum(len(str(block.get("text"))) for block in blocks if block.get("type") == "markdown") > MARKDOWN:
        found.append("markdown blocks: more than 12000 characters in all")
    for number, block in enumerate(blocks):
        found += [f"{fault} [/blocks/{number}]" for fault in _faults_of(block)]
    return found


def _faults_of(block: Block) -> Iterator[str]:
    kind = block.get("type")
    if kind == "section":
        texts = [block[name] for name in ("text",) if name in block] + list(block.get("fields", ()))
        if not texts:
            yield "missing text"
        if any(not 0 < len(text["text"]) <= SECTION for text in texts):
            yield "must be more than 0 and less than 3001 characters"
    if kind == "header" and not 0 < len(block["text"]["text"]) <= HEADER:
        yield "must be less than 151 characters"
    if kind == "markdown" and not block.get("text"):
        yield "missing text"
    if kind in ELEMENTS:
        elements = block.get("elements", ())
        if not 0 < len(elements) <= ELEMENTS[kind]:
            yield f"between 1 and {ELEMENTS[kind]} elements"
        yield from _faults_of_elements(elements)
    if kind == "table" and (len(block["rows"]) > 100 or any(len(row) > 20 for row in block["rows"])):
        yield "table too large"


def _faults_of_elements(elements: Sequence[Block]) -> Iterator[str]:
    actions = [element["action_id"] for element in elements if element.get("action_id")]
    if len(actions) != len(set(actions)):
        yield "action_id already exists"
    for element in elements:
        if element.get("type") == "mrkdwn" and not 0 < len(element["text"]) <= SECTION:
            yield "must be more than 0 and less than 3001 characters"
        if element.get("type") == "button":
            if not 0 < len(element["text"]["text"]) <= BUTTON_TEXT:
                yield "button text must be less than 76 characters"
            if len(element.get("value", "")) > BUTTON_VALUE:
                yield "button value must be less than 2001 characters"
            if len(element.get("action_id", "")) > IDENTIFIER:
                yield "action_id too long"


def size(blocks: Sequence[Block]) -> int:
    """Characters of all texts in the blocks."""
    return sum(len(text) for block in blocks for text, _ in texts_of(block))


# --- what is read --------------------------------------------------------------------------------------------------------


def texts_of(block: Block) -> Iterator[tuple[str, str]]:
    """The texts of a block with their format: `mrkdwn`, `markdown` or `plain_text`."""
    kind = block.get("type")
    if kind == "markdown":
        yield block["text"], "markdown"
    elif kind in ("section", "header"):
        texts = [block.get("text"), *block.get("fields", ())]
        yield from ((text["text"], text["type"]) for text in texts if text)
    elif kind == "context":
        texts = [each for each in block["elements"] if each["type"] in ("mrkdwn", "plain_text")]
        yield from ((text["text"], text["type"]) for text in texts)
    elif kind == "rich_text":
        yield rich(block), "plain_text"
    elif kind == "table":
        yield "\n".join(" | ".join(_cell(cell) for cell in row) for row in block["rows"]), "plain_text"
    else:
        yield from _captions(block)


def pictures(blocks: Sequence[Block]) -> list[str]:
    """The ids of uploaded files shown as images."""
    shown = [block.get("slack_file") for block in blocks if block.get("type") == "image"]
    return [file["id"] for file in shown if file]


def _captions(block: Block) -> Iterator[tuple[str, str]]:
    for name in ("title", "text", "description", "alt_text"):
        if value := block.get(name):
            yield value["text"] if isinstance(value, dict) else str(value), "plain_text"


def rich(element: Block) -> str:
    kind = element.get("type")
    if kind == "text":
        return element["text"]
    if kind == "link":
        return element.get("text") or element["url"]
    if kind == "user":
        return f"<@{element['user_id']}>"
    if kind == "broadcast":
        return f"<!{element['range']}>"
    if kind == "emoji":
        return f":{element['name']}:"
    inner = [rich(each) for each in element.get("elements", ())]
    return ("\n" if kind in ("rich_text", "rich_text_list") else "").join(inner)


def _cell(cell: Block) -> str:
    return rich(cell) if cell.get("type") == "rich_text" else str(cell.get("text", cell.get("value", "")))


def flat(blocks: Sequence[Block]) -> str:
    """All blocks as one text, without buttons."""
    lines = [
        "---" if block.get("type") == "divider" else "\n".join(text for text, _ in texts_of(block))
        for block in blocks
    ]
    return "\n".join(line for line in lines if line)


def buttons(blocks: Sequence[Block]) -> tuple[ShownButton, ...]:
    return tuple(button for block in blocks for element in _elements(block) for button in _buttons(element))


def element(blocks: Sequence[Block], action: str) -> tuple[Block, Block]:
    """The block and the element with that action."""
    for block in blocks:
        for each in _elements(block):
            if action in [button.action for button in _buttons(each)]:
                return block, each
    raise LookupError(f"no button with the action {action!r}")


def _elements(block: Block) -> list[Block]:
    accessory = [block["accessory"]] if "accessory" in block else []
    return [
        *(block.get("elements", ()) if block.get("type") in ("actions", "context_actions") else ()),
        *accessory,
    ]


def _buttons(element: Block) -> Iterator[ShownButton]:
    action = element.get("action_id", "")
    if element["type"] == "button":
        yield ShownButton(
            label=element["text"]["text"],
            action=action,
            style=element.get("style", ""),
            value=element.get("value", ""),
            url=element.get("url", ""),
        )
    if element["type"] == "feedback_buttons":
        for name in ("positive_button", "negative_button"):
            part = element[name]
            label, value = part["text"]["text"], part["value"]
            yield ShownButton(label=label, action=f"{action}:{name}", value=value, style="feedback")


# --- whom it pings and where it leads -------------------------------------------------------------------------------------


def pings(message: str, text: str, blocks: Sequence[Block], arguments: Block) -> Iterator[Ping]:
    """Mentions that notify."""
    live = [text, *(each for block in blocks for each, kind in texts_of(block) if kind != "plain_text")]
    live += [rich(block) for block in blocks if block.get("type") in ("rich_text", "table")]
    names = str(arguments.get("link_names", "")).lower() in ("1", "true") or arguments.get("parse") == "full"
    for each in live:
        for found in [*_PINGS.finditer(each), *(_SPOKEN.finditer(each) if names else ())]:
            yield Ping(target=found[0], text=each, message=message)


def links(message: str, text: str, markdown: str, blocks: Sequence[Block]) -> Iterator[Link]:
    """Clickable links; the `text` counts only without blocks."""
    if text and not (blocks or markdown):
        yield from _of_mrkdwn(text, message)
    if markdown:
        yield from _of_markdown(markdown, message)
    for block in blocks:
        for each, kind in texts_of(block):
            if kind == "mrkdwn":
                yield from _of_mrkdwn(each, message)
            elif kind == "markdown":
                yield from _of_markdown(each, message)
        for url, label in re.findall(r'"url": "([^"]+)"(?:, "text": "([^"]+)")?', json.dumps(block)):
            yield Link(url=url, label=label, message=message)


def _of_mrkdwn(text: str, message: str) -> Iterator[Link]:
    for found in _ANGLED.finditer(text):
        yield Link(url=_plain(found[1]), label=_plain(found[2] or ""), message=message)
    for found in _BARE.finditer(re.sub(r"`[^`\n]+`", " ", _ANGLED.sub(" ", text))):
        yield Link(url=_plain(found[0]).rstrip(".,;:!?)*_~"), message=message)


def _of_markdown(text: str, message: str) -> Iterator[Link]:
    for found in re.finditer(r"<(https?:[^<>|\s]+)\|([^<>]*)>", text):
        yield Link(url=_plain(found[1]), label=_plain(found[2]), message=message)
    for inline in _MARKDOWN.parse(text):
        inside = 0
        for token in inline.children or ():
            if token.type == "link_open":
                yield Link(url=str(token.attrs["href"]), label=inline.content, message=message)
            elif token.type == "image":
                yield Link(url=str(token.attrs["src"]), label=token.content, message=message)
            elif token.type == "text" and not inside:
                for found in _BARE.finditer(token.content):
                    yield Link(url=found[0].rstrip(".,;:!?)*_~"), message=message)
            inside += {"link_open": 1, "link_close": -1}.get(token.type, 0)


def _plain(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
