from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from bot.access.permissions import Act, Scope
    from bot.access.readability import Verdict
    from bot.port import Action, Command, CommandSpec, Directory, File, Form, Person, Place, Reply, Room
    from bot.store.places import PlaceSettings
    from bot.store.turns import ChatTurn
    from rag_engine.types import (
        DocumentId,
        DocumentRecord,
        KnowledgeBase,
        KnowledgeBaseId,
        Trace,
        Turn,
        TurnId,
    )

    Show: TypeAlias = Callable[[Reply], None]
    """Returns at once, and only the newest is shown."""
    ForgetTurn: TypeAlias = Callable[[TurnId], Awaitable[None]]
    KeepTrace: TypeAlias = Callable[[Trace], Awaitable[None]]
    """Stores it unless the turn has a trace."""
    ForgetDocument: TypeAlias = Callable[[KnowledgeBaseId, DocumentId], Awaitable[bool]]
    ForgetSource: TypeAlias = Callable[[KnowledgeBaseId, str], Awaitable[None]]
    """Removes one URI of a document, and the document with its last URI."""
    ListDocuments: TypeAlias = Callable[[KnowledgeBaseId], Awaitable[Sequence[DocumentRecord]]]
    ShowSources: TypeAlias = Callable[[ChatTurn, Action, Room], Awaitable["FollowedReply"]]
    ShowPictures: TypeAlias = Callable[[ChatTurn, Room, str], Awaitable[tuple[File, ...]]]
    ShowExplanation: TypeAlias = Callable[[ChatTurn, Action, Room], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedReply:
    """Shown at once; its files are added when they are ready."""

    reply: Reply
    files: Callable[[], Awaitable[tuple[File, ...]]]


NameKind: TypeAlias = Literal["title", "tag"]


class FindNames(Protocol):
    async def __call__(
        self, knowledge_bases: Collection[KnowledgeBaseId], *, kind: NameKind, text: str, limit: int
    ) -> list[str]: ...


class AudienceLookup(Protocol):
    async def scope(
        self, place: Place, directory: Directory, *, person: Person | None = None, asker: Person | None = None
    ) -> Scope: ...

    async def own(self, place: Place) -> KnowledgeBase: ...

    async def everyone_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict: ...

    async def person_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict: ...


class PermissionChecks(Protocol):
    def admit(self, place: Place) -> None: ...

    async def admit_person(self, person: Person, place: Place, directory: Directory) -> None: ...

    async def check_present(self, person: Person, place: Place, directory: Directory) -> None: ...

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: Act, asker: str = ""
    ) -> None: ...

    async def check_administers(self, person: Person, place: Place, directory: Directory) -> None: ...


class StoredAnswers(Protocol):
    async def turn(self, turn: TurnId) -> Turn | None: ...

    async def trace(self, turn: TurnId | None = None) -> Trace | None: ...

    async def activate(self, turns: Sequence[TurnId]) -> None: ...


class ResearchedTurns(Protocol):
    async def move(self, turn: TurnId, to: TurnId) -> None: ...

    async def remove(self, turn: TurnId) -> None: ...


class PlaceLookup(Protocol):
    async def settings(self, place: Place) -> PlaceSettings: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """All but `/ask`, and the buttons under their replies."""

    specs: Sequence[CommandSpec]
    execute: Callable[[Command, Room, Show], Awaitable[Reply]]
    press: Callable[[Action, Room, Show], Awaitable[Reply | None]]
    """None for an unknown button."""
    form: Callable[[Action, Room], Awaitable[Form | None]]
