"""Pure: a page as Slack's blocks, and the name of a button that was pressed."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from adapters.slack.mrkdwn import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.port import Button, Page

    Block = dict[str, Any]

Form: TypeAlias = Literal["formatted", "plain", "bare"]
"""Text that Slack formats; the same as it was written; that alone, without anything under it that can be pressed."""
FORMS: tuple[Form, ...] = ("formatted", "plain", "bare")

_SMALL_PRINT = 3000
_ELEMENTS = 10
_ROW = 5
_LABEL = 75
_NOTIFICATION = 3000
_NUMBER = re.compile(r"#\d+$")
_NOTHING = "…"


def body(page: Page, form: Form = "formatted", *, pictures: Sequence[Block] = ()) -> dict[str, Any]:
    """What a message says, in that form: the last of them Slack has no reason to refuse."""
    if form == "bare":
        whole = "\n\n".join(part for part in (escaped(page.text or page.status), page.footer) if part)
        return {"text": whole or _NOTHING}
    if form == "plain":
        made = [*_as_written(page.text), *pictures, *_status(page.status), *under(page)]
        return {"text": notification(page), "blocks": made or _status(_NOTHING)}
    return {"text": notification(page), "blocks": of_page(page, pictures=pictures)}


def of_page(page: Page, *, pictures: Sequence[Block] = ()) -> list[Block]:
    """The whole page: text, pictures, what is being done, small print, buttons."""
    text = [{"type": "markdown", "text": page.text}] if page.text else []
    made = [*text, *pictures, *_status(page.status), *under(page)]
    return made or _status(_NOTHING)


def under(page: Page) -> list[Block]:
    """What stands under the text: small print and buttons."""
    return [*_footer(page.footer), *_buttons(page.buttons)]


def picture(file: str, description: str) -> Block:
    """An uploaded picture, by its id."""
    alternative = description[:2000] or "picture"
    return {
        "type": "image",
        "slack_file": {"id": file},
        "alt_text": alternative,
        "block_id": _identifier("picture"),
    }


def notification(page: Page) -> str:
    """The page in plain text, for notifications and for whoever reads the message back."""
    shown = page.text or page.status or page.footer or _NOTHING
    return escaped(shown[:_NOTIFICATION])


def button_name(action: str) -> str:
    """The `Button.name` behind an action id."""
    return _NUMBER.sub("", action)


def _identifier(kind: str) -> str:
    """Slack wants a new one with each change of a message."""
    return f"{kind}-{secrets.token_hex(6)}"


def _as_written(text: str) -> list[Block]:
    return [
        {
            "type": "section",
            "block_id": _identifier("text"),
            "text": {"type": "plain_text", "text": piece, "emoji": False},
        }
        for piece in _pieces(text)
    ]


def _status(status: str) -> list[Block]:
    if not status:
        return []
    element = {"type": "plain_text", "text": status[:_SMALL_PRINT], "emoji": False}
    return [{"type": "context", "block_id": _identifier("status"), "elements": [element]}]


def _footer(footer: str) -> list[Block]:
    pieces = [{"type": "mrkdwn", "text": piece, "verbatim": True} for piece in _pieces(footer)]
    return [
        {
            "type": "context",
            "block_id": _identifier("footer"),
            "elements": pieces[start : start + _ELEMENTS],
        }
        for start in range(0, len(pieces), _ELEMENTS)
    ]


def _pieces(text: str) -> Iterator[str]:
    """The text in parts that fit an element, cut between lines where it has some."""
    rest = text.strip("\n")
    while len(rest) > _SMALL_PRINT:
        border = rest.rfind("\n", 1, _SMALL_PRINT)
        end = border if border > 0 else _SMALL_PRINT
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
            "block_id": _identifier("buttons"),
            "elements": elements[start : start + _ROW],
        }
        for start in range(0, len(elements), _ROW)
    ]
    return rows + paired


def _button(button: Button, number: int) -> Block:
    made: Block = {
        "type": "button",
        "action_id": f"{button.name}#{number}",
        "text": {"type": "plain_text", "text": button.label[:_LABEL], "emoji": True},
    }
    if button.value:
        made["value"] = button.value
    if button.style != "plain":
        made["style"] = button.style
    return made


def _feedback(buttons: Sequence[Button]) -> list[Block]:
    """The two that rate, as Slack shows such; nothing when they are not a pair of one name."""
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
    return [{"type": "context_actions", "block_id": _identifier("rating"), "elements": [element]}]


def _rating(button: Button) -> Block:
    label = button.label[:_LABEL]
    return {
        "text": {"type": "plain_text", "text": label},
        "value": button.value,
        "accessibility_label": label,
    }
