"""Turns as they are kept: claimed before anything is done, their messages known at once, their citations for later checks."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from bot.port import Citation, Person, Place
from rag_engine.types import ConversationId, TurnId

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.storage.sqlite import Database, Row, Transaction

State: TypeAlias = Literal["received", "placeholder", "streaming", "final", "stopped", "failed", "withdrawn"]
"""How far a turn is: claimed, a message of ours stands, it shows text; or how it ended."""
_UNFINISHED_STATES: Final[frozenset[State]] = frozenset({"received", "placeholder", "streaming"})
Rating: TypeAlias = Literal["up", "down"]

_CLAIM = """
    INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (platform, workspace, channel, message) DO NOTHING RETURNING id
"""
_SAVE = """
    UPDATE answers SET thread = ?, question = ?, asked_at = ?, state = ?, messages = ?, conversation = ?, turn = ?, citations = ?,
        updated_at = ?, attempts = ?, begun = ?, handle = ?, unasked = ?, about = ? WHERE id = ? RETURNING id
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
_BOT_TURNS = """
    SELECT count(*) FROM answers WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND by_bot = 1
        AND (thread <> '' OR asked_at > ?)
"""
_KEPT_SECONDS = 90 * 86_400.0
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
    """Our messages: the parts of the answer, in order. An empty id is one that may stand and that nobody heard of."""
    conversation: ConversationId | None = None
    turn: TurnId | None = None
    """The engine's id of the answer; None while there is none."""
    citations: tuple[Citation, ...] = ()
    updated_at: float = 0.0
    attempts: int = 1
    """How many processes began it, since somebody last asked for it."""
    begun: int = 1
    """How often it was begun in all."""
    handle: str = ""
    """`IncomingMessage.handle`, kept while it is unfinished."""
    unasked: bool = False
    """Nobody asked us: we speak only if the files say something."""
    about: str = ""
    """The message that was asked about, where `message` is another one."""

    @property
    def unfinished(self) -> bool:
        """Whether somebody still waits for its end."""
        return self.state in _UNFINISHED_STATES

    @property
    def withdrawing(self) -> bool:
        """Whether its messages are still to be taken away."""
        return self.state == "withdrawn" and bool(self.messages)

    @property
    def engine_turn(self) -> TurnId:
        """The engine's id of what this beginning of it leads to."""
        return TurnId(f"{self.id}-{self.begun}")


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

    async def save(self, turn: ChatTurn) -> bool:
        """Replace what is kept of a claimed turn, and no key to its place outlives its end; False when somebody has forgotten it."""
        handle = turn.handle if turn.unfinished else ""
        turn = replace(turn, updated_at=self._clock(), handle=handle)
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(_SAVE, (turn.place.thread, *_row(turn)[12:], turn.id))
        return bool(rows)

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

    async def unfinished(self, platform: str) -> list[ChatTurn]:
        """The turns that somebody waits for, and those that are being withdrawn, the latest question first."""
        return [_turn(row) for row in await self._database.fetch(_UNFINISHED, (platform,))]

    async def messages_in(self, place: Place) -> frozenset[str]:
        """All messages of ours in the place's thread that are known to belong to a turn."""
        rows = await self._database.fetch(_MESSAGES, (*_channel(place), place.thread))
        return frozenset(message for (messages,) in rows for message in json.loads(messages) if message)

    async def channels(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        """The channels of the workspace that have turns, the one with the latest first."""
        rows = await self._database.fetch(_CHANNELS, (platform, workspace, limit))
        return [channel for (channel,) in rows]

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

    async def _prune(self, transaction: Transaction) -> None:
        now = self._clock()
        if now - self._pruned_at < _PRUNED_EVERY_SECONDS:
            return
        self._pruned_at = now
        await transaction.execute("DELETE FROM answers WHERE updated_at < ?", (now - self._kept_seconds,))


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
        turn.begun,
        turn.handle,
        int(turn.unasked),
        turn.about,
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
    question, asked_at, state, messages, conversation, turn, citations, updated_at, *rest = rest
    attempts, begun, handle, unasked, about, *_ = rest
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
        begun=begun,
        handle=handle,
        unasked=bool(unasked),
        about=about,
    )
