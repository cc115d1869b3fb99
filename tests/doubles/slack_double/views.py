"""Short-lived things of Slack: triggers, modals, homes, response URLs."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.doubles.slack_double.world import SlackError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.slack_double.server import SlackServer

TRIGGER_SECONDS: Final = 3.0
RESPONSE_SECONDS: Final = 1800.0
RESPONSES: Final = 5
BLOCKS_OF_A_VIEW: Final = 100


@dataclass(slots=True, kw_only=True)
class View:
    id: str
    user: str
    content: Mapping[str, Any]
    open: bool = True


class Views:
    def __init__(self, server: SlackServer) -> None:
        self.modals: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self._server = server
        self._triggers: dict[str, tuple[str, float]] = {}

    def trigger(self, user: str) -> str:
        """Opens one modal for this person within three seconds."""
        trigger = f"{self._server.world.number()}.{uuid.uuid4().hex}"
        self._triggers[trigger] = (user, self._server.now())
        return trigger

    def open(self, trigger: str, content: Mapping[str, Any]) -> dict[str, Any]:
        user, at = self._triggers.pop(trigger, ("", 0.0))
        if not user:
            raise SlackError("invalid_trigger_id")
        if self._server.now() - at > TRIGGER_SECONDS:
            raise SlackError("expired_trigger_id")
        view = View(id=f"V{self._server.world.number():08d}", user=user, content=_checked(content))
        self.modals[view.id] = view
        return self._kept(view)

    def update(self, identifier: str, content: Mapping[str, Any]) -> dict[str, Any]:
        view = self.modals.get(identifier)
        if view is None or not view.open:
            raise SlackError("not_found")
        view.content = _checked(content)
        return self._kept(view)

    def publish(self, user: str, content: Mapping[str, Any]) -> dict[str, Any]:
        view = View(id=f"V{self._server.world.number():08d}", user=user, content=_checked(content))
        self.homes[user] = view
        return self._kept(view)

    def _kept(self, view: View) -> dict[str, Any]:
        self._server.changed()
        return {
            "id": view.id,
            "team_id": f"T{self._server.world.team}",
            "hash": uuid.uuid4().hex,
            **view.content,
        }


def _checked(content: Mapping[str, Any]) -> Mapping[str, Any]:
    if content.get("type") not in ("modal", "home") or len(content.get("blocks", ())) > BLOCKS_OF_A_VIEW:
        raise SlackError("invalid_arguments")
    if content["type"] == "modal" and not 0 < len(content["title"]["text"]) <= 24:
        raise SlackError("invalid_arguments", response_metadata={"messages": ["title: 1 to 24 characters"]})
    return content


@dataclass(slots=True, kw_only=True)
class ResponseUrl:
    """Takes five responses within half an hour."""

    channel: str
    user: str
    at: float
    message: str = ""
    thread: str = ""
    used: int = 0

    def take(self, now: float) -> None:
        """Count a use. Raises if none is left."""
        if now - self.at > RESPONSE_SECONDS:
            raise SlackError("expired_url")
        if self.used >= RESPONSES:
            raise SlackError("used_url")
        self.used += 1
