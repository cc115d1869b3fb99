from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.context import BUTTON, FORM_BUTTON
from bot.messages import say
from bot.port import Button, ChatError, Person, Place, Reply
from bot.rendering.literal import literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.conversation.outbound import OutboundRooms
    from bot.messages.names import Sentence
    from bot.streaming.scheduler import Scheduler
    from rag_engine.metadata.verified_answer import VerifiedAnswer
    from rag_engine.storage.verified_answers import SqliteVerifiedAnswers

_ACTS: dict[str, Sentence] = {
    "keep": "verified_keep",
    "edit": "verified_edit",
    "revoke": "verified_revoke",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedReviews:
    """Asks the author of an outdated answer once, privately, whether it is still right."""

    answers: SqliteVerifiedAnswers
    outbound: OutboundRooms
    scheduler: Scheduler
    clock: Callable[[], float] = time.time

    async def ask_due(self) -> None:
        for platform in tuple(self.outbound.recalls):
            for answer in await self.answers.outdated(platform, now=self.clock()):
                if await self.answers.mark_asked(answer.id, at=self.clock()):
                    await self._ask(answer)

    async def _ask(self, answer: VerifiedAnswer) -> None:
        author = answer.author
        place = Place(platform=author.platform, workspace=author.workspace, channel=author.channel)
        person = Person(id=author.person, name=author.name)
        buttons = tuple(
            Button(
                name=FORM_BUTTON if act == "edit" else BUTTON,
                label=say(label, "en"),
                value=f"verified:{act}:{answer.id}",
            )
            for act, label in _ACTS.items()
        )
        text = say("verified_ask", "en", question=literal(answer.question))
        try:
            room = await self.outbound.room(place, person, key=f"verified:{answer.id}")
            async with self.scheduler.open(room.outlet(private=person)) as stream:
                await stream.finish(Reply(text=text, buttons=buttons, links=frozenset()))
        except (ChatError, TimeoutError) as error:
            _log.warning(
                "an author could not be asked whether an answer still holds: %s", type(error).__name__
            )
            await self.answers.mark_unasked(answer.id)
