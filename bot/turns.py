"""Turns as they are kept: claimed before anything is done, their messages known at once, their citations for later checks."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.port import Citation, Person, Place
from rag_engine.types import ConversationId, DocumentId, KnowledgeBaseId, TurnId

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.storage.sqlite import Database, Row, Transaction

State: TypeAlias = Literal["received", "placeholder", "streaming", "final", "stopped", "failed", "withdrawn"]
"""How far a turn is: claimed, a message of ours stands, it shows text; or how it ended."""
Rating: TypeAlias = Literal["up", "down"]

_CLAIM = """
    INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (platform, workspace, channel, message) DO NOTHING RETURNING id
"""
_SAVE = """
    UPDATE answers SET thread = ?, question = ?, asked_at = ?, state = ?, messages = ?, conversation = ?, turn = ?, citations = ?,
        updated_at = ? WHERE id = ?
"""
_ANSWERED = """
    SELECT message FROM answers WHERE platform = ? AND workspace = ? AND channel = ?
        AND message IN (SELECT value FROM json_each(?)) AND turn <> '' AND state <> 'withdrawn'
"""
_KNOWN_FILES = """
    SELECT * FROM taken_files WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ?
        AND settled = 1 AND attachment IN (SELECT value FROM json_each(?))
"""
_BROUGHT_BY = """
    SELECT * FROM taken_files WHERE platform = ? AND workspace = ? AND channel = ? AND message = ? ORDER BY rowid
"""
_TAKES_PART = """
    SELECT 1 FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND thread <> ''
        AND private = 0 AND state <> 'withdrawn' LIMIT 1
"""
_BOT_TURNS = """
    SELECT count(*) FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND by_bot = 1
        AND (thread <> '' OR asked_at > ?)
"""
_KEPT_SECONDS = 90 * 86_400.0
_EVENTS_KEPT_SECONDS = 2 * 86_400.0
_PRUNED_EVERY_SECONDS = 3600.0


def new_id() -> str:
    """An id for a turn: it goes into buttons, so nobody must be able to guess another one."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One question in a chat and what became of it. `message` is the platform's id of the question."""

    place: Place
    message: str
    person: Person
    id: str = field(default_factory=new_id)
    uri: str = ""
    private: bool = False
    by_bot: bool = False
    question: str = ""
    asked_at: float = 0.0
    """Seconds since the epoch, UTC."""
    state: State = "received"
    messages: tuple[str, ...] = ()
    """Our messages: the parts of the answer, in order."""
    conversation: ConversationId | None = None
    turn: TurnId | None = None
    """The engine's id of the answer; None while there is none."""
    citations: tuple[Citation, ...] = ()
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenFile:
    """A file of a message that was dealt with: in which place, and which document came of it (none: it could not be read)."""

    place: Place
    attachment: str
    answer: str
    name: str
    uri: str
    knowledge_base: KnowledgeBaseId
    document: DocumentId | None
    message: str = ""
    """The platform's id of the message that brought it, with which it goes; empty once it was promoted."""
    source: str = ""
    """The URI under which the knowledge base has it."""
    settled: bool = True
    """False while it is being read, and when it may work when it is tried again."""


class Turns:
    """What is kept of turns in the database `chat.sqlite`. Old ones are forgotten along the way."""

    def __init__(
        self,
        database: Database,
        *,
        kept_seconds: float = _KEPT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._kept_seconds = kept_seconds
        self._clock = clock
        self._pruned_at = 0.0

    async def claim(self, turn: ChatTurn) -> bool:
        """Write the turn, unless its message has been claimed before; whether it is ours now."""
        turn = replace(turn, updated_at=self._clock())
        async with self._database.transaction() as transaction:
            await self._prune(transaction)
            rows = await transaction.execute(_CLAIM, _row(turn))
        return bool(rows)

    async def claim_event(self, place: Place, event: str) -> bool:
        """Whether a command or a button press is seen for the first time."""
        async with self._database.transaction() as transaction:
            await self._prune(transaction)
            rows = await transaction.execute(
                "INSERT INTO events (platform, workspace, event, at) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING RETURNING event",
                (place.platform, place.workspace, event, self._clock()),
            )
        return bool(rows)

    async def save(self, turn: ChatTurn) -> None:
        """Replace what is kept of a claimed turn."""
        turn = replace(turn, updated_at=self._clock())
        async with self._database.transaction() as transaction:
            await transaction.execute(_SAVE, (turn.place.thread, *_row(turn)[12:], turn.id))

    async def drop(self, turn: ChatTurn) -> None:
        """Forget a turn that nothing came of."""
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM answers WHERE id = ?", (turn.id,))

    async def of_message(self, place: Place, message: str) -> ChatTurn | None:
        """The turn of a question, by the platform's id of its message."""
        rows = await self._database.fetch(
            "SELECT * FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND message = ?",
            (*_channel(place), message),
        )
        return _turn(rows[0]) if rows else None

    async def find(self, identity: str) -> ChatTurn | None:
        """The turn of that id."""
        rows = await self._database.fetch("SELECT * FROM answers WHERE id = ?", (identity,))
        return _turn(rows[0]) if rows else None

    async def answered(self, place: Place, messages: Sequence[str]) -> frozenset[str]:
        """Those of the questions whose answers are in the engine's history."""
        rows = await self._database.fetch(_ANSWERED, (*_channel(place), json.dumps(list(messages))))
        return frozenset(message for (message,) in rows)

    async def takes_part(self, place: Place) -> bool:
        """Whether we have answered, publicly, in the place's thread."""
        rows = await self._database.fetch(_TAKES_PART, (*_channel(place), place.thread))
        return bool(rows)

    async def bot_turns(self, place: Place, *, since: float) -> int:
        """How many questions of other bots were taken up in the place's thread, or since then in its channel."""
        rows = await self._database.fetch(_BOT_TURNS, (*_channel(place), place.thread, since))
        return int(rows[0][0])

    async def rate(self, turn: ChatTurn, person: str, rating: Rating) -> None:
        """Keep what the person thinks of the answer; the latest opinion counts."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO feedback (answer, person, rating, turn, at) VALUES (?, ?, ?, ?, ?)",
                (turn.id, person, rating, turn.turn or "", self._clock()),
            )

    async def ratings(self, turn: ChatTurn) -> dict[str, Rating]:
        """What people think of an answer, by person."""
        rows = await self._database.fetch("SELECT person, rating FROM feedback WHERE answer = ?", (turn.id,))
        return dict(rows)

    async def keep_files(self, files: Sequence[TakenFile]) -> None:
        """Record what was dealt with, so that it is not taken in again whenever its thread is read."""
        rows = [
            (
                *_channel(file.place),
                file.place.thread,
                file.attachment,
                file.message,
                file.answer,
                file.name,
                file.uri,
                file.source,
                file.knowledge_base,
                file.document or "",
                int(file.settled),
                self._clock(),
            )
            for file in files
        ]
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "INSERT OR REPLACE INTO taken_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    async def move_file(self, file: TakenFile, moved: TakenFile) -> None:
        """The file belongs to another place now, whatever becomes of its message; in its old one it is not taken in again."""
        await self.keep_files([replace(file, answer="", document=None), replace(moved, message="")])

    async def known_files(self, place: Place, attachments: Sequence[str]) -> dict[str, TakenFile]:
        """Those of the attachments that were dealt with in the place."""
        parameters = (*_channel(place), place.thread, json.dumps(list(attachments)))
        rows = await self._database.fetch(_KNOWN_FILES, parameters)
        return {file.attachment: file for file in map(_file, rows)}

    async def brought_by(self, place: Place, message: str) -> list[TakenFile]:
        """The files that a message of the place's channel brought."""
        return [_file(row) for row in await self._database.fetch(_BROUGHT_BY, (*_channel(place), message))]

    async def drop_file(self, file: TakenFile) -> None:
        """Forget that the message brought the file."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM taken_files WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? "
                "AND attachment = ? AND message = ?",
                (*_channel(file.place), file.place.thread, file.attachment, file.message),
            )

    async def files_of(self, turn: ChatTurn) -> list[TakenFile]:
        """The files that a turn dealt with."""
        rows = await self._database.fetch(
            "SELECT * FROM taken_files WHERE answer = ? ORDER BY rowid", (turn.id,)
        )
        return [_file(row) for row in rows]

    async def _prune(self, transaction: Transaction) -> None:
        now = self._clock()
        if now - self._pruned_at < _PRUNED_EVERY_SECONDS:
            return
        self._pruned_at = now
        await transaction.execute("DELETE FROM answers WHERE updated_at < ?", (now - self._kept_seconds,))
        await transaction.execute("DELETE FROM events WHERE at < ?", (now - _EVENTS_KEPT_SECONDS,))


def _channel(place: Place) -> tuple[str, str, str]:
    return place.platform, place.workspace, place.channel


def _row(turn: ChatTurn) -> tuple[object, ...]:
    return (
        turn.id,
        *_channel(turn.place),
        turn.place.thread,
        turn.message,
        turn.uri,
        turn.person.id,
        turn.person.name,
        turn.person.language,
        int(turn.private),
        int(turn.by_bot),
        turn.question,
        turn.asked_at,
        turn.state,
        json.dumps(turn.messages),
        turn.conversation or "",
        turn.turn or "",
        json.dumps([asdict(citation) for citation in turn.citations], ensure_ascii=False),
        turn.updated_at,
    )


def _turn(row: Row) -> ChatTurn:
    (
        identity,
        platform,
        workspace,
        channel,
        thread,
        message,
        uri,
        person,
        name,
        language,
        private,
        by_bot,
        *rest,
    ) = row
    question, asked_at, state, messages, conversation, turn, citations, updated_at, *_ = rest
    return ChatTurn(
        id=identity,
        place=Place(platform=platform, workspace=workspace, channel=channel, thread=thread),
        message=message,
        uri=uri,
        person=Person(id=person, name=name, language=language),
        private=bool(private),
        by_bot=bool(by_bot),
        question=question,
        asked_at=asked_at,
        state=state,
        messages=tuple(json.loads(messages)),
        conversation=ConversationId(conversation) if conversation else None,
        turn=TurnId(turn) if turn else None,
        citations=tuple(Citation(**citation) for citation in json.loads(citations)),
        updated_at=updated_at,
    )


def _file(row: Row) -> TakenFile:
    platform, workspace, channel, thread, attachment, message, answer, name, uri, source, *rest = row
    knowledge_base, document, settled, *_ = rest
    return TakenFile(
        place=Place(platform=platform, workspace=workspace, channel=channel, thread=thread),
        attachment=attachment,
        message=message,
        answer=answer,
        name=name,
        uri=uri,
        source=source,
        settled=bool(settled),
        knowledge_base=KnowledgeBaseId(knowledge_base),
        document=DocumentId(document) if document else None,
    )
