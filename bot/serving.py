"""What the service is built on: the parts that others own, as it needs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bot.observing import Observers
from bot.settings import ChatSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.access import Act, Scope
    from bot.claims import Claims
    from bot.files.taken_files import TakenFiles
    from bot.files.uploads import Uploads
    from bot.inbox import Heard
    from bot.places import PlaceSettings
    from bot.port import Action, Command, CommandSpec, Directory, Inbox, Person, Place, Reply, Room
    from bot.streaming import Scheduler
    from bot.turns import ChatTurn, Turns
    from rag_engine.engine import Engine
    from rag_engine.types import DocumentId, KnowledgeBase, KnowledgeBaseId, TurnId

    Show: TypeAlias = Callable[[Reply], None]
    """Shows how far a command is: newest wins, returns at once."""


class Audiences(Protocol):
    """`bot.audience.Audiences`: who may read what."""

    async def scope(self, place: Place, directory: Directory, *, person: Person | None = None) -> Scope:
        """What a question in the place may look in; with `person`, only that person reads the reply."""
        ...

    async def own(self, place: Place) -> KnowledgeBase:
        """The place's own knowledge base, made when there is none."""
        ...


class Access(Protocol):
    """`bot.access.Access`: who may do what."""

    def admit(self, place: Place) -> None:
        """Raises `NotAllowed` in a workspace that is not served."""
        ...

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: Act, asker: str = ""
    ) -> None:
        """Raises `NotAllowed` with a sentence for that person alone."""
        ...


class Places(Protocol):
    """`bot.places.Places`: how the bot behaves where."""

    async def settings(self, place: Place) -> PlaceSettings: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """`bot.commands`, with its desk: every command but `/ask`, and the buttons under their replies."""

    specs: Sequence[CommandSpec]
    execute: Callable[[Command, Room, Show], Awaitable[Reply]]
    press: Callable[[Action, Room, Show], Awaitable[Reply | None]]
    """None for a button that is none of theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything the service is given; put together by `bot.compose`."""

    engine: Engine
    turns: Turns
    taken: TakenFiles
    claims: Claims
    inbox: Inbox
    heard: Heard
    scheduler: Scheduler
    audiences: Audiences
    access: Access
    places: Places
    uploads: Uploads
    commands: Commands
    passages_of: Callable[[ChatTurn, Action, Room], Awaitable[Reply]]
    """The cited passages of an answer in their context, for the person who asks for them."""
    forget_turn: Callable[[TurnId], Awaitable[None]]
    """Takes a question and its answer out of the engine's history."""
    forget_document: Callable[[KnowledgeBaseId, DocumentId], Awaitable[bool]]
    forget_source: Callable[[KnowledgeBaseId, str], Awaitable[None]]
    """Takes away one URI that leads to a document, and with the last one the document."""
    settings: ChatSettings = field(default_factory=ChatSettings)
    observers: Observers = field(default_factory=Observers)
    passages: int = 8
