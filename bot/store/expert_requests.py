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
    "asking",
    "asked",
    "replying",
    "answered",
    "delivered",
    "declined",
    "withdrawn",
    "closed",
]
PostState: TypeAlias = Literal["open", "asked", "declined", "refused"]
_MOST_HEARD: Final = 100
OPEN: Final[tuple[RequestState, ...]] = ("sending", "waiting", "handing", "asking", "asked", "replying")
_DUE: Final = ("sending", "handing", "asking", "replying", "answered", "declined", "withdrawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertPost:
    """What a channel or one person was sent; `person` is empty for a channel. The fields are the columns."""

    request: str
    hop: int
    person: str
    platform: str
    workspace: str
    channel: str
    post: str = ""
    also: tuple[str, ...] = ()
    """Further messages of ours there that can be replied to."""
    state: PostState = "open"

    @property
    def place(self) -> Place:
        return Place(platform=self.platform, workspace=self.workspace, channel=self.channel)


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
    quotes: tuple[tuple[str, str, str], ...] = ()
    """Knowledge base, document, text. The asker saw them, too; shown to those who may read them."""
    state: RequestState = "draft"
    expert_channel: str
    """Or the mention of a person or group."""
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
    said_by_post: str = ""
    """The `person` of the post that it was said below."""
    carry: bool = False
    """Its files are still to be brought to the asker's place."""
    files: tuple[tuple[str, str], ...] = ()
    """Names and, of those that the asker's place has now, addresses."""
    delivered: tuple[str, ...] = ()
    receipt: tuple[str, ...] = ()
    replied: str = ""
    replied_in: str = ""
    heard: tuple[str, ...] = ()
    """Ids of its messages, latest last."""
    round: int = 0
    updated_at: float = 0.0

    @property
    def place(self) -> Place:
        return Place(
            platform=self.platform, workspace=self.workspace, channel=self.channel, thread=self.thread
        )

    @property
    def asker(self) -> Person:
        return Person(id=self.person, name=self.name, language=self.language)

    def hearing(self, message: str) -> tuple[str, ...]:
        return (*self.heard, message)[-_MOST_HEARD:]

    @property
    def is_gone(self) -> bool:
        """What the expert said."""
        return not (self.said or self.files)

    @property
    def is_awaited(self) -> bool:
        """People may answer before it is recorded that they were asked, and after they took an answer back."""
        asked = ("sending", "waiting", "asking", "asked", "replying")
        return self.state in asked or (self.state in ("answered", "delivered") and self.is_gone)

    @property
    def is_turning(self) -> bool:
        """What is still to be written makes room for the next message."""
        return self.state == "replying" or (self.state == "answered" and self.is_gone)

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


_POST_COLUMNS: Final = tuple(each.name for each in fields(ExpertPost))
_POSTS: Final = f"SELECT {', '.join(f'expert_posts.{name}' for name in _POST_COLUMNS)} FROM expert_posts"  # noqa: S608
_COLUMNS: Final = tuple(each.name for each in fields(ExpertRequest))
_SELECT: Final = f"SELECT {', '.join(_COLUMNS)} FROM expert_requests"  # noqa: S608
_PUT: Final = f"""INSERT OR REPLACE INTO expert_requests ({", ".join(_COLUMNS)}) SELECT {", ".join("?" * len(_COLUMNS))}
    WHERE EXISTS (SELECT 1 FROM answers WHERE id = ?) OR EXISTS (SELECT 1 FROM gap_questions WHERE question = ?)"""  # noqa: S608
_CHANGE: Final = (
    f"UPDATE expert_requests SET {', '.join(f'{name} = ?' for name in _COLUMNS)} "  # noqa: S608
    "WHERE id = ? AND state = ? AND said = ? AND round = ? RETURNING 1"
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

    async def named(self, knowledge_bases: Collection[KnowledgeBaseId]) -> dict[KnowledgeBaseId, list[Place]]:
        """The channels of experts, of all workspaces, in the order of asking."""
        rows = await self._database.fetch(
            "SELECT knowledge_base, platform, workspace, channel FROM experts "
            "WHERE knowledge_base IN (SELECT value FROM json_each(?)) ORDER BY position",
            (json.dumps(sorted(knowledge_bases)),),
        )
        found: dict[KnowledgeBaseId, list[Place]] = {}
        for base, platform, workspace, channel in rows:
            found.setdefault(base, []).append(Place(platform=platform, workspace=workspace, channel=channel))
        return found

    async def latest(self, platform: str, workspace: str, *, limit: int) -> list[ExpertRequest]:
        """Of the workspace; without a `platform`, of all."""
        condition = "state <> 'draft' AND (? = '' OR (platform = ? AND workspace = ?)) ORDER BY updated_at DESC LIMIT ?"
        return await self._many(condition, platform, platform, workspace, limit)

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
        question = request.answer_id.removeprefix("gap:")
        async with self._database.transaction() as transaction:
            await transaction.execute(_PUT, (*self._row(request), question, question))

    async def change(self, before: ExpertRequest, after: ExpertRequest) -> bool:
        """False if its state or answer changed meanwhile, or it was erased."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                _CHANGE, (*self._row(after), before.id, before.state, before.said, before.round)
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

    async def below(self, place: Place, *, replies_to: str = "") -> tuple[ExpertRequest, ExpertPost] | None:
        """Of the post whose thread or reply this is."""
        sql = f"""{_POSTS} JOIN expert_requests ON expert_requests.id = request AND expert_requests.hop = expert_posts.hop
            WHERE expert_posts.platform = ? AND expert_posts.workspace = ? AND expert_posts.channel = ? AND post <> ''
            AND (post IN (?, ?) OR EXISTS (SELECT 1 FROM json_each(also) WHERE value = ?)) LIMIT 1"""  # noqa: S608
        values = (place.platform, place.workspace, place.channel, place.thread, replies_to, replies_to)
        posts = [_post(row) for row in await self._database.fetch(sql, values)]
        found = await self.find(posts[0].request) if posts else None
        return (found, posts[0]) if found is not None else None

    async def is_being_sent(self, place: Place) -> bool:
        sql = f"{_POSTS} WHERE platform = ? AND workspace = ? AND channel = ? AND state = 'open' LIMIT 1"
        return bool(await self._database.fetch(sql, (place.platform, place.workspace, place.channel)))

    async def said_in(self, place: Place, message: str) -> ExpertRequest | None:
        condition = """said_in = ? AND said_in <> '' AND EXISTS (SELECT 1 FROM expert_posts WHERE request = id
            AND expert_posts.hop = expert_requests.hop AND expert_posts.person = said_by_post
            AND expert_posts.platform = ? AND expert_posts.workspace = ? AND expert_posts.channel = ?)"""
        return await self._one(condition, message, place.platform, place.workspace, place.channel)

    async def was_reply(self, place: Place, message: str) -> bool:
        """Of the asker, delivered again."""
        condition = """platform = ? AND workspace = ? AND channel = ? AND thread = ?
            AND (replied_in = ? OR EXISTS (SELECT 1 FROM json_each(heard) WHERE value = ?))"""
        values = (place.platform, place.workspace, place.channel, place.thread, message, message)
        return await self._one(condition, *values) is not None

    async def asked_back(self, place: Place, person: str) -> ExpertRequest | None:
        """Whose expert waits for words of the asker."""
        condition = (
            "platform = ? AND workspace = ? AND channel = ? AND thread = ? AND person = ?"
            " AND (state = 'asked' OR (state = 'asking' AND delivered <> '[]'))"
            " AND private = 0 AND parent = '' ORDER BY updated_at DESC"
        )
        return await self._one(
            condition, place.platform, place.workspace, place.channel, place.thread, person
        )

    async def open_with(self, place: Place, experts: str) -> list[ExpertRequest]:
        condition = (
            "platform = ? AND workspace = ? AND expert_channel = ? AND parent = ''"
            " AND state IN (SELECT value FROM json_each(?))"
        )
        return await self._many(condition, place.platform, place.workspace, experts, json.dumps(OPEN))

    async def posts(self, request: ExpertRequest) -> list[ExpertPost]:
        sql = f"{_POSTS} WHERE request = ? AND hop = ? ORDER BY rowid"
        rows = await self._database.fetch(sql, (request.id, request.hop))
        return [_post(row) for row in rows]

    async def keep_post(self, post: ExpertPost) -> None:
        names = ", ".join(_POST_COLUMNS)
        marks = ", ".join("?" * len(_POST_COLUMNS))
        changes = """post = excluded.post, also = excluded.also, state = CASE expert_posts.state
            WHEN 'declined' THEN 'declined' ELSE excluded.state END"""
        sql = f"""INSERT INTO expert_posts ({names}) SELECT {marks} WHERE EXISTS (SELECT 1 FROM expert_requests WHERE id = ?)
            AND (? = '' OR EXISTS (SELECT 1 FROM expert_posts WHERE request = ? AND hop = ? AND person = ?))
            ON CONFLICT (request, hop, person) DO UPDATE SET {changes}"""  # noqa: S608
        async with self._database.transaction() as transaction:
            key = (post.request, post.hop, post.person)
            await transaction.execute(sql, (*_values(post), post.request, post.post, *key))

    async def followers(self, request: ExpertRequest) -> list[ExpertRequest]:
        return await self._many("parent = ?", request.id)

    async def due(self, platform: str) -> list[ExpertRequest]:
        return await self._many(
            "platform = ? AND state IN (SELECT value FROM json_each(?))", platform, json.dumps(_DUE)
        )

    async def waiting(self, platform: str) -> list[ExpertRequest]:
        return await self._many("platform = ? AND state = 'waiting' AND parent = ''", platform)

    async def prune(self, *, before: float) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM expert_requests WHERE updated_at < ?", (before,))
            await transaction.execute(
                "DELETE FROM expert_posts WHERE request NOT IN (SELECT id FROM expert_requests)", ()
            )

    async def _one(self, condition: str, *parameters: object) -> ExpertRequest | None:
        found = await self._many(f"{condition} LIMIT 1", *parameters)
        return found[0] if found else None

    async def _many(self, condition: str, *parameters: object) -> list[ExpertRequest]:
        rows = await self._database.fetch(f"{_SELECT} WHERE {condition}", parameters)
        return [_request(row) for row in rows]

    def _row(self, request: ExpertRequest) -> tuple[object, ...]:
        return _values(replace(request, updated_at=self._clock()))


def _values(record: ExpertRequest | ExpertPost) -> tuple[object, ...]:
    return tuple(json.dumps(value) if isinstance(value, tuple) else value for value in astuple(record))


def _post(row: Row) -> ExpertPost:
    values: dict[str, Any] = dict(zip(_POST_COLUMNS, row, strict=True))
    values["also"] = tuple(json.loads(values["also"]))
    return ExpertPost(**values)


def _request(row: Row) -> ExpertRequest:
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    values |= {name: bool(values[name]) for name in ("private", "reminded", "carry")}
    values |= {name: tuple(json.loads(values[name])) for name in ("delivered", "receipt", "heard")}
    values |= {name: tuple(tuple(each) for each in json.loads(values[name])) for name in ("quotes", "files")}
    return ExpertRequest(**values)
