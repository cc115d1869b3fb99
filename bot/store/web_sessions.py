from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_engine.storage.sqlite.database import Database

LINK_MINUTES: Final = 10
_IDLE_SECONDS: Final = 8 * 3600.0
_LONGEST_SECONDS: Final = 7 * 86_400.0
_SEEN_SECONDS: Final = 60.0
_MOST_LINKS: Final = 20
_RANDOM_BYTES: Final = 32
_MARK_LETTERS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """An administrator of one workspace; all empty for the operator."""

    platform: str = ""
    workspace: str = ""
    person: str = ""
    name: str = ""

    @property
    def is_operator(self) -> bool:
        return not self.platform


OPERATOR: Final = Visitor()


class WebSessions:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._key = b""

    async def link(self, visitor: Visitor) -> str:
        token, now = await self._token(), self._clock()
        who = (visitor.platform, visitor.workspace, visitor.person)
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM web_links WHERE expires_at <= ?", (now,))
            await transaction.execute(
                "DELETE FROM web_links WHERE digest IN (SELECT digest FROM web_links WHERE platform = ? AND workspace = ? "
                "AND person = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?)",
                (*who, _MOST_LINKS - 1),
            )
            await transaction.execute(
                "INSERT INTO web_links (digest, platform, workspace, person, name, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                (_digest(token), *who, visitor.name, now + LINK_MINUTES * 60),
            )
        return token

    async def begin(self, token: str) -> str | None:
        """Of a new session; None for a used, old or made-up link."""
        if not await self.is_marked(token):
            return None
        session, now = await self._token(), self._clock()
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                "DELETE FROM web_links WHERE digest = ? AND expires_at > ? RETURNING platform, workspace, person, name",
                (_digest(token), now),
            )
            if not rows:
                return None
            await transaction.execute(
                "DELETE FROM web_sessions WHERE seen_at < ? OR began_at < ?",
                (now - _IDLE_SECONDS, now - _LONGEST_SECONDS),
            )
            await transaction.execute(
                "INSERT INTO web_sessions (digest, platform, workspace, person, name, began_at, seen_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (_digest(session), *rows[0], now, now),
            )
        return session

    async def visitor(self, session: str) -> Visitor | None:
        if not await self.is_marked(session):
            return None
        now = self._clock()
        rows = await self._database.fetch(
            "SELECT platform, workspace, person, name, seen_at FROM web_sessions "
            "WHERE digest = ? AND seen_at >= ? AND began_at >= ?",
            (_digest(session), now - _IDLE_SECONDS, now - _LONGEST_SECONDS),
        )
        if not rows:
            return None
        platform, workspace, person, name, seen_at = rows[0]
        if abs(now - seen_at) > _SEEN_SECONDS:
            async with self._database.transaction() as transaction:
                await transaction.execute(
                    "UPDATE web_sessions SET seen_at = ? WHERE digest = ?", (now, _digest(session))
                )
        return Visitor(platform=platform, workspace=workspace, person=person, name=name)

    async def is_marked(self, token: str) -> bool:
        """Made here, valid or not."""
        random, mark = token[:-_MARK_LETTERS], token[-_MARK_LETTERS:]
        expected = await self._mark(random)
        return hmac.compare_digest(expected.encode(), mark.encode("utf-8", "replace"))

    async def _token(self) -> str:
        random = secrets.token_urlsafe(_RANDOM_BYTES)
        return random + await self._mark(random)

    async def _mark(self, random: str) -> str:
        if not self._key:
            ((self._key,),) = await self._database.fetch("SELECT key FROM web_token_key")
        marked = hmac.new(self._key, random.encode("utf-8", "replace"), hashlib.sha256)
        return marked.hexdigest()[:_MARK_LETTERS]

    async def end(self, session: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM web_sessions WHERE digest = ?", (_digest(session),))

    async def end_all(self) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM web_sessions")
            await transaction.execute("DELETE FROM web_links")


class SignInLinks:
    """`address`: empty until the page listens."""

    def __init__(self, sessions: WebSessions, address: str = "") -> None:
        self.sessions = sessions
        self.address = address

    async def link(self, visitor: Visitor) -> str:
        if not self.address:
            return ""
        return f"{self.address}/sign-in/{await self.sessions.link(visitor)}"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
