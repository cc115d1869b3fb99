from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.port import Button, Page

    Block = dict[str, Any]

Form: TypeAlias = Literal["formatted", "plain", "bare"]
FORMS: tuple[Form, ...] = ("formatted", "plain", "bare")

_ELEMENT_CHARACTERS = 3000
_ELEMENTS_PER_BLOCK = 10
_BUTTONS_PER_ROW = 5
_LABEL_CHARACTERS = 75
_NOTIFICATION_CHARACTERS = 3000
_NUMBER_SUFFIX = re.compile(r"#\d+$")
_EMPTY = "…"


def body(page: Page, form: Form = "formatted") -> dict[str, Any]:
    """Slack has no reason to refuse `bare`."""
    if form == "bare":
        whole = "\n\n".join(part for part in (escape(page.text or page.status), page.footer) if part)
        return {"text": whole or _EMPTY}
    if form == "plain":
        blocks = [*_plain_text(page.text), *_status(page.status), *footer_and_buttons(page)]
        return {"text": notification(page), "blocks": blocks or _status(_EMPTY)}
    return {"text": notification(page), "blocks": page_blocks(page)}


def page_blocks(page: Page) -> list[Block]:
    text = [{"type": "markdown", "text": page.text}] if page.text else []
    blocks = [*text, *_status(page.status), *footer_and_buttons(page)]
    return blocks or _status(_EMPTY)


def footer_and_buttons(page: Page) -> list[Block]:
    return [*_footer(page.footer), *_buttons(page.buttons)]


def image_block(file: str, description: str) -> Block:
    alternative = description[:2000] or "picture"
    return {
        "type": "image",
        "slack_file": {"id": file},
        "alt_text": alternative,
        "block_id": _block_id("picture"),
    }


def notification(page: Page) -> str:
    shown = page.text or page.status or page.footer or _EMPTY
    return escape(shown[:_NOTIFICATION_CHARACTERS])


def button_name(action: str) -> str:
    return _NUMBER_SUFFIX.sub("", action)


def _block_id(kind: str) -> str:
    return f"{kind}-{secrets.token_hex(6)}"


def _plain_text(text: str) -> list[Block]:
    return [
        {
            "type": "section",
            "block_id": _block_id("text"),
            "text": {"type": "plain_text", "text": piece, "emoji": False},
        }
        for piece in _pieces(text)
    ]


def _status(status: str) -> list[Block]:
    if not status:
        return []
    element = {"type": "plain_text", "text": status[:_ELEMENT_CHARACTERS], "emoji": False}
    return [{"type": "context", "block_id": _block_id("status"), "elements": [element]}]


def _footer(footer: str) -> list[Block]:
    pieces = [{"type": "mrkdwn", "text": piece, "verbatim": True} for piece in _pieces(footer)]
    return [
        {
            "type": "context",
            "block_id": _block_id("footer"),
            "elements": pieces[start : start + _ELEMENTS_PER_BLOCK],
        }
        for start in range(0, len(pieces), _ELEMENTS_PER_BLOCK)
    ]


def _pieces(text: str) -> Iterator[str]:
    rest = text.strip("\n")
    while len(rest) > _ELEMENT_CHARACTERS:
        line_end = rest.rfind("\n", 1, _ELEMENT_CHARACTERS)
        end = line_end if line_end > 0 else _ELEMENT_CHARACTERS
        yield rest[:end]
        rest = rest[end:].lstrip("\n")
    if rest:
        yield rest


def _buttons(buttons: Sequence[Button]) -> list[Block]:
    rating = [button for button in buttons if button.feedback]
    paired = _feedback(rating)
    plain = [button for button in buttons if not (paired and button.feedback)]
    elements = [_button(button, number) for number, button in enumerate(plain)]
    rows: list[Block] = [
        {
            "type": "actions",
            "block_id": _block_id("buttons"),
            "elements": elements[start : start + _BUTTONS_PER_ROW],
        }
        for start in range(0, len(elements), _BUTTONS_PER_ROW)
    ]
    return rows + paired


def _button(button: Button, number: int) -> Block:
    element: Block = {
        "type": "button",
        "action_id": f"{button.name}#{number}",
        "text": {"type": "plain_text", "text": button.label[:_LABEL_CHARACTERS], "emoji": True},
    }
    if button.value:
        element["value"] = button.value
    if button.style != "plain":
        element["style"] = button.style
    return element


def _feedback(buttons: Sequence[Button]) -> list[Block]:
    up = next((button for button in buttons if button.value.endswith("up")), None)
    down = next((button for button in buttons if button.value.endswith("down")), None)
    if len(buttons) != 2 or up is None or down is None or up.name != down.name:
        return []
    element = {
        "type": "feedback_buttons",
        "action_id": up.name,
        "positive_button": _rating(up),
        "negative_button": _rating(down),
    }
    return [{"type": "context_actions", "block_id": _block_id("rating"), "elements": [element]}]


def _rating(button: Button) -> Block:
    label = button.label[:_LABEL_CHARACTERS]
    return {
        "text": {"type": "plain_text", "text": label},
        "value": button.value,
        "accessibility_label": label,
    }
