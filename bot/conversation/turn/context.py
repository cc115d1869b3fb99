from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store.topics import conversation
from rag_engine.text.language import question_language

if TYPE_CHECKING:
    from bot.conversation.turn.recorder import TurnRecorder
    from bot.conversation.turn.view import TurnView
    from bot.port import Attachment, IncomingMessage, Place, Room
    from bot.store.places import PlaceSettings
    from bot.store.turns import ChatTurn
    from rag_engine.types import ConversationId


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    settings: PlaceSettings
    earlier: list[IncomingMessage] | None = None
    unprompted: bool = False
    """Answer only from the files."""
    model: str = ""
    scope: str = ""
    as_asked: bool = False
    """Search for the question's own words."""
    unfiltered: bool = False
    """Without the filters asked for."""
    quiet: bool = False
    """Show nothing but failures."""
    reads_thread: bool = False
    """The messages before the question, even outside threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    message: IncomingMessage
    """With only the files its author may add."""
    room: Room
    files_place: Place
    options: TurnOptions
    recorder: TurnRecorder
    view: TurnView
    voices: tuple[Attachment, ...] = ()

    @property
    def reads_thread(self) -> bool:
        return self.options.reads_thread or self.message.in_thread

    @property
    def question_language(self) -> str:
        return question_language(self.recorder.turn.question, chosen=self.options.settings.language)


def place_conversation(place: Place) -> ConversationId:
    return conversation(place)


def turn_conversation(turn: ChatTurn) -> ConversationId:
    """Private answers have one per person."""
    return conversation(turn.place, turn.person if turn.private else None)


def queue_key(turn: ChatTurn) -> str:
    """A conversation's; outside threads the person's in it."""
    key = turn_conversation(turn)
    return key if turn.place.thread or turn.private else f"{key}:by:{turn.person.id}"
