from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.conversation import thread_context, triggers
from bot.conversation.newcomers.small_talk import question_in
from bot.conversation.triggers import ThreadMembers, Verdict
from bot.conversation.turn.context import TurnOptions
from bot.observability import log
from bot.store.places import PlaceSettings
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from bot.conversation.dependencies import PlaceLookup
    from bot.port import IncomingMessage, Room
    from bot.settings import ChatSettings
    from bot.store.turns import ChatTurn, Turns

_THREAD_MESSAGES: Final = 50
_BOT_SECONDS: Final = 3600.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    turns: Turns
    places: PlaceLookup
    settings: ChatSettings

    async def admit(self, message: IncomingMessage, room: Room) -> TurnOptions | ChatTurn | None:
        """Options of a message for us, or the turn of one with an unfinished answer. Logs no user text."""
        verdict = triggers.screen(message, answered_bots=frozenset(self.settings.bots))
        if verdict is not None and not verdict.ours:
            _log_verdict(message, verdict)
            return None
        known = await self._known(message)
        if known is not None:
            return known if known.unfinished else None
        settings = await self.place_settings(message)
        earlier = None
        if verdict is None and message.by_bot:
            verdict = await self._judge_bot(message)
        elif verdict is None:
            members, earlier = await self._thread_members(message, room, settings)
            verdict = triggers.decide(message, mode=settings.mode, members=members)
        _log_verdict(message, verdict)
        if not verdict.ours:
            return None
        unprompted = not (message.addressed or message.in_thread or message.files)
        asks = bool(question_in(message) or message.voices)
        quiet = bool(message.files) and not message.addressed and not asks
        return TurnOptions(settings=settings, earlier=earlier, unprompted=unprompted, quiet=quiet)

    async def place_settings(self, message: IncomingMessage) -> PlaceSettings:
        """If unreadable, answer only mentions."""
        try:
            return await self.places.settings(message.place)
        except RagError as error:
            _log.warning("the settings of a place could not be read: %s", error)
            return PlaceSettings(mode="mention")

    async def _known(self, message: IncomingMessage) -> ChatTurn | None:
        try:
            return await self.turns.of_message(message.place, message.id)
        except RagError:
            return None

    async def _judge_bot(self, message: IncomingMessage) -> Verdict:
        answered = await self.turns.bot_turns(message.place, since=time.time() - _BOT_SECONDS)
        if answered < self.settings.bot_turns:
            return Verdict(ours=True, why="addressed by a bot that is answered")
        return Verdict(ours=False, why="a bot that has had its answers")

    async def _thread_members(
        self, message: IncomingMessage, room: Room, settings: PlaceSettings
    ) -> tuple[ThreadMembers, list[IncomingMessage] | None]:
        if settings.mode == "mention" or not message.in_thread:
            return ThreadMembers(), None
        if not await self.turns.takes_part(message.place):
            return ThreadMembers(), None
        earlier = await thread_context.read_earlier(room, limit=_THREAD_MESSAGES)
        people = None if earlier is None else thread_context.count_people(earlier, message.person.id)
        return ThreadMembers(includes_us=True, people=people), earlier


def _log_verdict(message: IncomingMessage, verdict: Verdict) -> None:
    name = "message_taken_up" if verdict.ours else "message_left_alone"
    log.event(name, platform=message.place.platform, why=verdict.why)
