"""Whether a message is taken up: `bot.triggers` decides, from what is known of the place and of who is in the thread."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot import hearing, telemetry, triggers
from bot.places import PlaceSettings
from bot.triggers import Company, Verdict
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from bot.port import IncomingMessage, Room
    from bot.serving import Parts
    from bot.turns import ChatTurn

_THREAD_MESSAGES: Final = 50
_BOT_SECONDS: Final = 3600.0
"""Outside threads, the answers that other bots had in so many seconds are counted."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A message that is taken up, and what was learnt on the way."""

    settings: PlaceSettings
    earlier: list[IncomingMessage] | None = None
    unasked: bool = False
    """Nobody asked us: we speak only if the files say something."""


async def admit(message: IncomingMessage, room: Room, parts: Parts) -> Admitted | ChatTurn | None:
    """What is known of a message that is for us and new; its turn where it was delivered before and nobody saw the end of it.

    None for any other. Why is logged, without what was written.
    """
    verdict = triggers.screen(message, answered_bots=frozenset(parts.settings.bots))
    if verdict is not None and not verdict.ours:
        _note(message, verdict)
        return None
    known = await _known(message, parts)
    if known is not None:
        return known if known.unfinished else None
    settings = await settings_of(message, parts)
    earlier = None
    if verdict is None and message.by_bot:
        verdict = await _of_bot(message, parts)
    elif verdict is None:
        company, earlier = await _company(message, room, parts, settings)
        verdict = triggers.decide(message, mode=settings.mode, company=company)
    _note(message, verdict)
    if not verdict.ours:
        return None
    unasked = not (message.addressed or message.in_thread or message.attachments)
    return Admitted(settings=settings, earlier=earlier, unasked=unasked)


async def settings_of(message: IncomingMessage, parts: Parts) -> PlaceSettings:
    """How to behave in the message's place; the most reserved way where that cannot be read."""
    try:
        return await parts.places.settings(message.place)
    except RagError as error:
        _log.warning("the settings of a place could not be read: %s", error)
        return PlaceSettings(mode="mention")


async def _known(message: IncomingMessage, parts: Parts) -> ChatTurn | None:
    """What became of it when it was delivered before; where that cannot be told, the claim will tell."""
    try:
        return await parts.turns.of_message(message.place, message.id)
    except RagError:
        return None


async def _of_bot(message: IncomingMessage, parts: Parts) -> Verdict:
    taken = await parts.turns.bot_turns(message.place, since=time.time() - _BOT_SECONDS)
    if taken < parts.settings.bot_turns:
        return Verdict(ours=True, why="addressed by a bot that is answered")
    return Verdict(ours=False, why="a bot that has had its answers")


async def _company(
    message: IncomingMessage, room: Room, parts: Parts, settings: PlaceSettings
) -> tuple[Company, list[IncomingMessage] | None]:
    """Who is in the thread, asked only where it matters, and the messages that told."""
    if settings.mode == "mention" or not message.in_thread:
        return Company(), None
    if not await parts.turns.takes_part(message.place):
        return Company(), None
    earlier = await hearing.earlier(room, limit=_THREAD_MESSAGES)
    people = None if earlier is None else hearing.people_in(earlier, message.person.id)
    return Company(takes_part=True, people=people), earlier


def _note(message: IncomingMessage, verdict: Verdict) -> None:
    name = "message_taken_up" if verdict.ours else "message_left_alone"
    telemetry.event(name, platform=message.place.platform, why=verdict.why)
