"""What Slack accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.port import Budget, PlatformLimits, Route

if TYPE_CHECKING:
    from bot.port import Place

STREAM, EDIT = "stream", "edit"
RESPOND, EPHEMERAL = "respond", "ephemeral"
MOST_RESPONSES = 5
_CHARACTERS = 12_000
_STREAM_SECONDS = 270.0
_RESPOND_SECONDS, _RESPONSE_WINDOW_SECONDS = 1740.0, 1800.0
_MINUTE = 60.0


def _limits(edit_seconds: float) -> PlatformLimits:
    return PlatformLimits(characters=_CHARACTERS, edit_seconds=edit_seconds, dialect="slack")


STREAMED, EDITED, PRIVATE = _limits(0.6), _limits(1.2), _limits(3.0)


def stream_route(place: Place) -> Route:
    return Route(
        name=STREAM,
        create=_budget(place.workspace, "chat.startStream", 20),
        edit=_budget(place.workspace, "chat.appendStream", 100),
        finish=_budget(place.workspace, "chat.stopStream", 20),
        lifetime=_STREAM_SECONDS,
        characters=_CHARACTERS,
        grows=True,
    )


def edit_route(place: Place) -> Route:
    update = _budget(place.workspace, "chat.update", 50)
    post = Budget(name=("slack", place.workspace, "chat.postMessage", place.channel), calls=5, seconds=5.0)
    return Route(name=EDIT, create=post, edit=update, finish=update)


def response_route(name: tuple[str, ...]) -> Route:
    """Five posts in half an hour: two for the start, three for the end."""
    return Route(
        name=RESPOND,
        create=Budget(name=(*name, "begin"), calls=2, seconds=_RESPONSE_WINDOW_SECONDS),
        edit=_no_call(name),
        finish=Budget(name=(*name, "end"), calls=3, seconds=_RESPONSE_WINDOW_SECONDS),
        lifetime=_RESPOND_SECONDS,
    )


def ephemeral_route(workspace: str, name: tuple[str, ...]) -> Route:
    budget = _budget(workspace, "chat.postEphemeral", 100)
    return Route(name=EPHEMERAL, create=budget, edit=_no_call(name), finish=budget)


def _budget(workspace: str, method: str, calls: int) -> Budget:
    return Budget(name=("slack", workspace, method), calls=calls, seconds=_MINUTE)


def _no_call(name: tuple[str, ...]) -> Budget:
    return Budget(name=(*name, "silent"), calls=20, seconds=_MINUTE)
