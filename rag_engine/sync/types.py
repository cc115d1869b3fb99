from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NewType, Protocol

from rag_engine.errors import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from rag_engine.types import KnowledgeBaseId

SourceId = NewType("SourceId", int)

SourceState = Literal["waiting", "running", "ready", "failed"]
EntryState = Literal["unread", "present", "forgotten", "leaving"]
"""`unread`: not yet, or not readable; `forgotten`: removed by a person."""


class EntryGone(UserError):
    """It is no longer there."""


class SourceRefused(UserError):
    """This address cannot be a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """`key` is its place within the source; an empty `fingerprint` is unknown."""

    key: str
    uri: str
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContent:
    """Without a `fingerprint` it is read again."""

    name: str
    fingerprint: str
    validator: str = ""
    """For the next `read`."""
    title: str = ""
    link: str = ""
    """Of citations; empty: the URI."""
    version: str = ""
    """A commit, or the date of reading."""


class ListedSource(Protocol):
    def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        """In batches. Raises `UserError` or `Unavailable` if incomplete."""
        ...

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        """None if unchanged by the validator `since`. Raises as `entries`, and `EntryGone`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncCounts:
    new: int = 0
    changed: int = 0
    gone: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedSource:
    id: SourceId
    knowledge_base: KnowledgeBaseId
    kind: str
    address: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    every_seconds: float
    state: SourceState = "waiting"
    error: str = ""
    ran_at: float | None = None
    next_at: float = 0.0
    entries: int = 0
    counts: SyncCounts = SyncCounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntry:
    key: str
    uri: str
    fingerprint: str = ""
    validator: str = ""
    digest: str = ""
    state: EntryState = "unread"
    reason: str = ""
    title: str = ""
    link: str = ""
    version: str = ""
