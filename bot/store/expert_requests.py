from __future__ import annotations

import json
import time
from dataclasses import astuple, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from bot.port import Person, Place
from bot.store.turns import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from rag_engine.storage.sqlite.database import Database, Row
    from rag_engine.types import KnowledgeBaseId

RequestState: TypeAlias = Literal[
    "draft",
    "sending",
    "waiting",
    "handing",
    "answered",
    "delivered",
    "declined",
    "withdrawn",
    "closed",
]
_OPEN: Final = ("sending", "waiting", "handing")
_DUE: Final = ("sending", "handing", "answered", "declined", "withdrawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertRequest:
    """The fields are the columns, in their order."""

    id: str = field(default_factory=new_id)
    parent: str = ""
    knowledge_base: KnowledgeBaseId
    platform: str
    workspace: str
    channel: str
    thread: str
    message: str
    answer_id: str
    private: bool
    person: str
    name: str
    language: str
    question: str
    body: str
    """What the experts are shown, as the asker saw it."""
    state: RequestState = "draft"
    expert_channel: str
    post: str = ""
    hop: int = 0
    waited: float = 0.0
    """Seconds of running, so that a clock that jumps reminds nobody."""
    reminded: bool = False
    expert: str = ""
    expert_name: str = ""
    said: str = ""
    said_in: str = ""
    said_uri: str = ""
    said_at: float = 0.0
    delivered: tuple[str, ...] = ()
    updated_at: float = 0.0

    @property
    def place(self) -> Place:
        return Place(
            platform=self.platform, workspace=self.workspace, channel=self.channel, thread=self.thread
        )

    @property
    def expert_place(self) -> Place:
        return Place(platform=self.platform, workspace=self.workspace, channel=self.expert_channel)

    @property
    def asker(self) -> Person:
        return Person(id=self.person, name=self.name, language=self.language)

    @property
    def is_open(self) -> bool:
        return self.state in _OPEN


_COLUMNS: Final = tuple(each.name for each in fields(ExpertRequest))
_SELECT: Final = f"SELECT {', '.join(_COLUMNS)} FROM expert_requests"  # noqa: S608
_PUT: Final = f"INSERT OR REPLACE INTO expert_requests ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
_CHANGE: Final = (
    f"UPDATE expert_requests SET {', '.join(f'{name} = ?' for name in _COLUMNS)} "  # noqa: S608
    "WHERE id = ? AND state = ? AND said = ? RETURNING 1"
)


class ExpertRequests:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def experts(
        self, knowledge_bases: Collection[KnowledgeBaseId], place: Place
    ) -> list[tuple[KnowledgeBaseId, str]]:
        """Knowledge base and channel, of the place's workspace, in the order of asking."""
        sql = """SELECT knowledge_base, channel FROM experts WHERE knowledge_base IN (SELECT value FROM json_each(?))
            AND platform = ? AND workspace = ? ORDER BY knowledge_base, position"""
        values = (json.dumps(sorted(knowledge_bases)), place.platform, place.workspace)
        return [(base, channel) for base, channel in await self._database.fetch(sql, values)]

    async def name_experts(
        self, knowledge_base: KnowledgeBaseId, place: Place, channel: str, *, add: bool
    ) -> None:
        key = (knowledge_base, place.platform, place.workspace, channel)
        async with self._database.transaction() as transaction:
            if add:
                await transaction.execute(
                    "INSERT OR IGNORE INTO experts SELECT ?, ?, ?, ?, coalesce(max(position), 0) + 1 FROM experts",
                    key,
                )
            else:
                await transaction.execute(
                    "DELETE FROM experts WHERE knowledge_base = ? AND platform = ? AND workspace = ? AND channel = ?",
                    key,
                )

    async def add(self, request: ExpertRequest) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(_PUT, self._row(request))

    async def change(self, before: ExpertRequest, after: ExpertRequest) -> bool:
        """False if its state or answer changed meanwhile, or it was erased."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                _CHANGE, (*self._row(after), before.id, before.state, before.said)
            )
        return bool(rows)

    async def remove(self, request: ExpertRequest) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM expert_requests WHERE id = ?", (request.id,))

    async def find(self, identity: str) -> ExpertRequest | None:
        return await self._one("id = ?", identity)

    async def of_answer(self, answer: str) -> ExpertRequest | None:
        """The newest that is more than a draft."""
        return await self._one("answer_id = ? AND state <> 'draft' ORDER BY updated_at DESC", answer)

    async def in_thread(self, place: Place) -> ExpertRequest | None:
        values = (place.platform, place.workspace, place.channel, place.thread)
        condition = "platform = ? AND workspace = ? AND expert_channel = ? AND post = ? AND post <> ''"
        return await self._one(condition, *values)

    async def said_in(self, place: Place, message: str) -> ExpertRequest | None:
        values = (place.platform, place.workspace, place.channel, message)
        condition = "platform = ? AND workspace = ? AND expert_channel = ? AND said_in = ? AND said_in <> ''"
        return await self._one(condition, *values)

    async def open_in(self, place: Place) -> list[ExpertRequest]:
        """Waiting for the experts of this channel."""
        condition = (
            "platform = ? AND workspace = ? AND expert_channel = ? AND parent = ''"
            " AND state IN ('sending', 'waiting', 'handing')"
        )
        return await self._many(condition, place.platform, place.workspace, place.channel)

    async def followers(self, request: ExpertRequest) -> list[ExpertRequest]:
        return await self._many("parent = ?", request.id)

    async def due(self, platform: str) -> list[ExpertRequest]:
        """With something to write."""
        return await self._many(
            "platform = ? AND state IN (SELECT value FROM json_each(?))", platform, json.dumps(_DUE)
        )

    async def waiting(self, platform: str) -> list[ExpertRequest]:
        return await self._many("platform = ? AND state = 'waiting' AND parent = ''", platform)

    async def prune(self, *, before: float) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM expert_requests WHERE updated_at < ?", (before,))

    async def _one(self, condition: str, *parameters: object) -> ExpertRequest | None:
        found = await self._many(f"{condition} LIMIT 1", *parameters)
        return found[0] if found else None

    async def _many(self, condition: str, *parameters: object) -> list[ExpertRequest]:
        rows = await self._database.fetch(f"{_SELECT} WHERE {condition}", parameters)
        return [_request(row) for row in rows]

    def _row(self, request: ExpertRequest) -> tuple[object, ...]:
        stored = replace(request, updated_at=self._clock())
        return tuple(json.dumps(value) if isinstance(value, tuple) else value for value in astuple(stored))


def _request(row: Row) -> ExpertRequest:
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    values |= {name: bool(values[name]) for name in ("private", "reminded")}
    values["delivered"] = tuple(json.loads(values["delivered"]))
    return ExpertRequest(**values)
