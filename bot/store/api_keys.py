from __future__ import annotations

import hashlib
import json
import secrets
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UserError
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from rag_engine.storage.sqlite.database import Database

PREFIX: Final = "fn-"
_LONGEST_NAME: Final = 60
_SELECT: Final = "SELECT id, name, knowledge_bases, created_at FROM api_keys"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What a program may read."""

    id: str
    name: str
    knowledge_bases: frozenset[KnowledgeBaseId]
    created_at: float
    """Seconds since the epoch, UTC."""


class ApiKeys:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def create(self, name: str, knowledge_bases: Collection[KnowledgeBaseId]) -> str:
        """Shown this once. Raises `UserError` if the name is unusable or taken."""
        name = " ".join(name.split())
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise UserError(f"A key needs a name of at most {_LONGEST_NAME} characters.")
        key = PREFIX + secrets.token_urlsafe(32)
        values = (uuid.uuid4().hex, name, _digest(key), json.dumps(sorted(knowledge_bases)), self._clock())
        async with self._database.transaction() as transaction:
            if await transaction.execute("SELECT 1 FROM api_keys WHERE name = ?", (name,)):
                raise UserError(f"There is a key named {name!r} already: revoke it, or choose another name.")
            await transaction.execute(
                "INSERT INTO api_keys (id, name, digest, knowledge_bases, created_at) VALUES (?, ?, ?, ?, ?)",
                values,
            )
        return key

    async def find(self, key: str) -> ApiKey | None:
        """By digest: the time of the search reveals nothing."""
        rows = await self._database.fetch(f"{_SELECT} WHERE digest = ?", (_digest(key),))
        return _api_key(*rows[0]) if rows else None

    async def all(self) -> list[ApiKey]:
        return [_api_key(*row) for row in await self._database.fetch(f"{_SELECT} ORDER BY name")]

    async def revoke(self, name: str) -> bool:
        async with self._database.transaction() as transaction:
            return bool(
                await transaction.execute("DELETE FROM api_keys WHERE name = ? RETURNING id", (name,))
            )


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _api_key(identity: str, name: str, knowledge_bases: str, created_at: float) -> ApiKey:
    ids = frozenset(KnowledgeBaseId(each) for each in json.loads(knowledge_bases))
    return ApiKey(id=identity, name=name, knowledge_bases=ids, created_at=created_at)
