from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from bot.port import Citation, Person, Place
from rag_engine.types import ConversationId, TurnId

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.storage.sqlite.database import Database, Row, Transaction

State: TypeAlias = Literal["received", "placeholder", "streaming", "final", "stopped", "failed", "withdrawn"]
_UNFINISHED_STATES: Final[frozenset[State]] = frozenset({"received", "placeholder", "streaming"})
Rating: TypeAlias = Literal["up", "down"]

_CLAIM = """
    INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (platform, workspace, channel, message) DO NOTHING RETURNING id
"""
_SAVE = """
    UPDATE answers SET thread = ?, question = ?, asked_at = ?, state = ?, messages = ?, conversation = ?, turn = ?, citations = ?,
        updated_at = ?, attempts = ?, begun = ?, handle = ?, unasked = ?, about = ?, model = ?, scope = ?,
        choices = ?, versions = ? WHERE id = ? RETURNING id
"""
_ANSWERED = """
    SELECT message FROM answers WHERE platform = ? AND workspace = ? AND channel = ?
        AND message IN (SELECT value FROM json_each(?)) AND turn <> '' AND state <> 'withdrawn'
"""
_UNFINISHED = """
    SELECT * FROM answers WHERE platform = ? AND (state IN ('received', 'placeholder', 'streaming')
        OR (state = 'withdrawn' AND messages <> '[]')) ORDER BY asked_at DESC
"""
_MESSAGES = """
    SELECT messages FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ?
"""
_CHANNELS = """
    SELECT channel FROM answers WHERE platform = ? AND workspace = ? GROUP BY channel ORDER BY max(updated_at) DESC LIMIT ?
"""
_TAKES_PART = """
    SELECT 1 FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND thread <> ''
        AND private = 0 AND state <> 'withdrawn' LIMIT 1
"""
_OF_ANSWER = """
    SELECT * FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND state <> 'withdrawn'
        AND EXISTS (SELECT 1 FROM json_each(messages) WHERE value = ?) ORDER BY asked_at DESC LIMIT 1
"""
_LATEST_OF = """
    SELECT * FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND person = ? AND (thread = ? OR ? = '')
        AND turn <> '' AND state <> 'withdrawn' ORDER BY asked_at DESC LIMIT 1
"""
_LATEST_IN = """
    SELECT * FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND private = ? AND (? = '' OR person = ?)
        AND turn <> '' AND state <> 'withdrawn' ORDER BY asked_at DESC LIMIT 1
"""
_BOT_TURNS = """
    SELECT count(*) FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND by_bot = 1
        AND (thread <> '' OR asked_at > ?)
"""
_PRUNE_AUTHORS = """
    DELETE FROM authors WHERE (platform, workspace, channel, message) NOT IN
        (SELECT platform, workspace, channel, message FROM taken_files UNION SELECT platform, workspace, channel, about FROM answers)
"""
_RETENTION_SECONDS = 90 * 86_400.0
_PRUNE_INTERVAL_SECONDS = 3600.0


def new_id() -> str:
    """Not guessable, because buttons carry it."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """`message` is the platform's id of the question."""

    place: Place
    message: str
    person: Person
    id: str = field(default_factory=new_id)
    uri: str = ""
    private: bool = False
    by_bot: bool = False
    question: str = ""
    asked_at: float = 0.0
    """UTC, in seconds since the epoch."""
    state: State = "received"
    messages: tuple[str, ...] = ()
    """Empty: one that may exist but was never confirmed."""
    conversation: ConversationId | None = None
    turn: TurnId | None = None
    """The engine's id of the answer, if any."""
    citations: tuple[Citation, ...] = ()
    updated_at: float = 0.0
    attempts: int = 1
    """Processes, since a person last requested it."""
    starts: int = 1
    handle: str = ""
    unprompted: bool = False
    about: str = ""
    """If not `message`: where the text and files are."""
    model: str = ""
    scope: str = ""
    choices: tuple[str, ...] = ()
    """What its choice buttons ask."""
    versions: tuple[TurnId, ...] = ()
    """Oldest first; `turn` is the one shown."""

    @property
    def unfinished(self) -> bool:
        return self.state in _UNFINISHED_STATES

    @property
    def withdrawing(self) -> bool:
        return self.state == "withdrawn" and bool(self.messages)

    @property
    def version_number(self) -> int:
        """From 1; past the last if none is shown."""
        shown = self.turn in self.versions
        return self.versions.index(cast("TurnId", self.turn)) + 1 if shown else len(self.versions) + 1

    def showing(self, version: TurnId, citations: Sequence[Citation]) -> ChatTurn:
        return replace(self, turn=version, citations=tuple(citations), choices=())

    @property
    def engine_turn(self) -> TurnId:
        return TurnId(f"{self.id}-{self.starts}")


class Turns:
    def __init__(
        self,
        database: Database,
        *,
        retention_seconds: float = _RETENTION_SECONDS,
        clock: Callable[[], float] = time.time,
        retention_clock: Callable[[], float] | None = None,
    ) -> None:
        self._database = database
        self._retention_seconds = retention_seconds
        self._clock = clock
        self._retention_clock = retention_clock or clock
        self._pruned_at = 0.0

    async def claim(self, turn: ChatTurn) -> bool:
        """False if its message is claimed already."""
        turn = replace(turn, updated_at=self._clock())
        async with self._database.transaction() as transaction:
            await self._prune(transaction)
            rows = await transaction.execute(_CLAIM, _row(turn))
        return bool(rows)

    async def note_authors(self, place: Place, authors: Mapping[str, str]) -> None:
        """Of messages in another person's question: person ids."""
        rows = [
            (*_channel(place), message, person) for message, person in authors.items() if message and person
        ]
        if rows:
            async with self._database.transaction() as transaction:
                await transaction.execute_many("INSERT OR REPLACE INTO authors VALUES (?, ?, ?, ?, ?)", rows)

    async def save(self, turn: ChatTurn) -> bool:
        """False if it was erased meanwhile."""
        handle = turn.handle if turn.unfinished else ""
        turn = replace(turn, updated_at=self._clock(), handle=handle)
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(_SAVE, (turn.place.thread, *_row(turn)[12:], turn.id))
        return bool(rows)

    async def drop(self, turn: ChatTurn) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM answers WHERE id = ?", (turn.id,))

    async def of_message(self, place: Place, message: str) -> ChatTurn | None:
        rows = await self._database.fetch(
            "SELECT * FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND message = ?",
            (*_channel(place), message),
        )
        return _turn(rows[0]) if rows else None

    async def of_answer(self, place: Place, message: str) -> ChatTurn | None:
        rows = await self._database.fetch(_OF_ANSWER, (*_channel(place), message))
        return _turn(rows[0]) if rows else None

    async def latest_of(self, place: Place, person: str) -> ChatTurn | None:
        values = (*_channel(place), person, place.thread, place.thread)
        rows = await self._database.fetch(_LATEST_OF, values)
        return _turn(rows[0]) if rows else None

    async def latest_in(self, place: Place, person: Person | None = None) -> ChatTurn | None:
        """Public, or the person's private one."""
        who = person.id if person is not None else ""
        values = (*_channel(place), place.thread, person is not None, who, who)
        rows = await self._database.fetch(_LATEST_IN, values)
        return _turn(rows[0]) if rows else None

    async def find(self, identity: str) -> ChatTurn | None:
        rows = await self._database.fetch("SELECT * FROM answers WHERE id = ?", (identity,))
        return _turn(rows[0]) if rows else None

    async def unfinished(self, platform: str) -> list[ChatTurn]:
        return [_turn(row) for row in await self._database.fetch(_UNFINISHED, (platform,))]

    async def messages_in(self, place: Place) -> frozenset[str]:
        rows = await self._database.fetch(_MESSAGES, (*_channel(place), place.thread))
        return frozenset(message for (messages,) in rows for message in json.loads(messages) if message)

    async def channels(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        rows = await self._database.fetch(_CHANNELS, (platform, workspace, limit))
        return [channel for (channel,) in rows]

    async def answered(self, place: Place, messages: Sequence[str]) -> frozenset[str]:
        rows = await self._database.fetch(_ANSWERED, (*_channel(place), json.dumps(list(messages))))
        return frozenset(message for (message,) in rows)

    async def takes_part(self, place: Place) -> bool:
        rows = await self._database.fetch(_TAKES_PART, (*_channel(place), place.thread))
        return bool(rows)

    async def bot_turns(self, place: Place, *, since: float) -> int:
        rows = await self._database.fetch(_BOT_TURNS, (*_channel(place), place.thread, since))
        return int(rows[0][0])

    async def rate(self, turn: ChatTurn, person: str, rating: Rating) -> None:
        """Replaces the person's earlier rating."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO feedback (answer, person, rating, turn, at) "
                "SELECT id, ?, ?, ?, ? FROM answers WHERE id = ?",
                (person, rating, turn.turn or "", self._clock(), turn.id),
            )

    async def explain_rating(self, turn: ChatTurn, person: str, reason: str, *, note: str = "") -> bool:
        """False if the person did not rate it down."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                "UPDATE feedback SET reason = ?, note = coalesce(nullif(?, ''), note) "
                "WHERE answer = ? AND person = ? AND rating = 'down' RETURNING 1",
                (reason, note, turn.id, person),
            )
        return bool(rows)

    async def add_note(self, place: Place, person: str, note: str, *, since: float) -> bool:
        sql = """UPDATE feedback SET note = ? WHERE rowid = (SELECT feedback.rowid FROM feedback JOIN answers ON answers.id = answer
            WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND feedback.person = ? AND rating = 'down' AND at > ?
            ORDER BY at DESC LIMIT 1) RETURNING 1"""
        values = (note, *_channel(place), place.thread, person, since)
        async with self._database.transaction() as transaction:
            return bool(await transaction.execute(sql, values))

    async def note_group(self, place: Place) -> None:
        """Its channel is a group message."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO group_messages VALUES (?, ?, ?) ON CONFLICT DO NOTHING", _channel(place)
            )

    async def ratings(self, turn: ChatTurn) -> dict[str, Rating]:
        rows = await self._database.fetch("SELECT person, rating FROM feedback WHERE answer = ?", (turn.id,))
        return dict(rows)

    async def _prune(self, transaction: Transaction) -> None:
        now = self._clock()
        if now - self._pruned_at < _PRUNE_INTERVAL_SECONDS:
            return
        self._pruned_at = now
        await transaction.execute(
            "DELETE FROM answers WHERE updated_at < ?", (self._retention_clock() - self._retention_seconds,)
        )
        await transaction.execute(_PRUNE_AUTHORS)


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
        turn.attempts,
        turn.starts,
        turn.handle,
        int(turn.unprompted),
        turn.about,
        turn.model,
        turn.scope,
        json.dumps(turn.choices, ensure_ascii=False),
        json.dumps(turn.versions),
    )


def _turn(row: Row) -> ChatTurn:
    identity, platform, workspace, channel, thread, message, uri, person, name, language, *rest = row
    private, by_bot, question, asked_at, state, messages, conversation, turn, citations, *rest = rest
    updated_at, attempts, starts, handle, unprompted, about, model, scope, choices, versions, *_ = rest
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
        attempts=attempts,
        starts=starts,
        handle=handle,
        unprompted=bool(unprompted),
        about=about,
        model=model,
        scope=scope,
        choices=tuple(json.loads(choices)),
        versions=tuple(map(TurnId, json.loads(versions))),
    )
