from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, Final

from adapters.slack.api import call_api
from bot.port import MOST_TYPED, Action, ChatError, Place

if TYPE_CHECKING:
    from adapters.slack.context import SlackContext
    from bot.port import Fields, Form, Person

CALLBACK: Final = "form"
_INPUT: Final = "text"
_TITLE_CHARACTERS: Final = 24
_LABEL_CHARACTERS: Final = 2_000

_log = logging.getLogger(__name__)


async def open_form(context: SlackContext, form: Form, action: Action, *, trigger: str) -> bool:
    """False if Slack refuses it."""
    call = context.write_client.views_open(trigger_id=trigger, view=_view(form, action))
    try:
        await call_api("views.open", call)
    except ChatError as error:
        _log.warning("a form could not be opened: %s", error)
        return False
    return True


def place_of(body: Fields) -> tuple[str, str]:
    known = _known(body)
    return str(known["workspace"]), str(known["channel"])


def submitted(body: Fields, person: Person) -> Action:
    known, view = _known(body), body.need_object("view")
    typed = view.object("state").object("values").object(_INPUT).object(_INPUT).text("value")
    place = Place(
        platform=known["platform"],
        workspace=known["workspace"],
        channel=known["channel"],
        thread=known["thread"],
    )
    return Action(
        id=view.need_text("id"),
        name=known["name"],
        value=known["value"],
        place=place,
        person=person,
        message=known["message"],
        text=typed,
    )


def _known(body: Fields) -> dict[str, str]:
    return json.loads(body.need_object("view").need_text("private_metadata"))


def _view(form: Form, action: Action) -> dict[str, Any]:
    place = action.place
    known = {
        "platform": place.platform,
        "workspace": place.workspace,
        "channel": place.channel,
        "thread": place.thread,
        "name": action.name,
        "value": action.value,
        "message": action.message,
    }
    element = {"type": "plain_text_input", "action_id": _INPUT, "multiline": True, "max_length": MOST_TYPED}
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": json.dumps(known),
        "title": _plain(form.title, _TITLE_CHARACTERS),
        "submit": _plain(form.submit, _TITLE_CHARACTERS),
        "blocks": [
            {
                "type": "input",
                "block_id": _INPUT,
                "label": _plain(form.label, _LABEL_CHARACTERS),
                "element": element | ({"initial_value": form.text} if form.text else {}),
            }
        ],
    }


def _plain(text: str, most: int) -> dict[str, str]:
    return {"type": "plain_text", "text": text if len(text) <= most else f"{text[: most - 1]}…"}
