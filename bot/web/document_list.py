from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import KnowledgeBaseId

_MOST_SEARCHED: Final = 5_000
STATES: Final = {
    "": ("ready", "failed", "queued", "parsing", "embedding"),
    "ready": ("ready",),
    "failed": ("failed",),
    "waiting": ("queued", "parsing", "embedding"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocument:
    id: str
    title: str
    uri: str
    media_type: str
    size: int
    state: str
    reason: str
    passages: int
    pages: int
    updated_at: float


async def documents(
    database: Database,
    base: KnowledgeBaseId,
    *,
    state: str,
    text: str,
    after: tuple[str, str],
    limit: int,
) -> tuple[list[ListedDocument], tuple[str, str] | None]:
    states = ", ".join(f"'{each}'" for each in STATES[state])
    looked_at = _MOST_SEARCHED if text else limit + 1
    rows = await database.fetch(
        "SELECT id, title, uri, media_type, size, state, reason, chunks, pages, updated_at FROM documents "  # noqa: S608
        f"WHERE knowledge_base = ? AND (title, id) > (?, ?) AND state IN ({states}) "
        "AND id NOT IN (SELECT document FROM removals) ORDER BY title, id LIMIT ?",
        (base, *after, looked_at),
    )
    wanted = text.casefold()
    found = [_document(*row) for row in rows if wanted in row[1].casefold()]
    if len(found) > limit:
        return found[:limit], (found[limit - 1].title, found[limit - 1].id)
    return found, (rows[-1][1], rows[-1][0]) if len(rows) == looked_at else None


def _document(
    identity: str,
    title: str,
    uri: str,
    media_type: str,
    size: int,
    state: str,
    reason: str,
    passages: int,
    pages: int,
    updated_at: float,
) -> ListedDocument:
    return ListedDocument(
        id=identity,
        title=title,
        uri=uri,
        media_type=media_type,
        size=size,
        state=state,
        reason=reason,
        passages=passages,
        pages=pages,
        updated_at=updated_at,
    )
