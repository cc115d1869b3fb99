from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag_engine.indexes.embedded.database.rows import CHUNK_COLUMNS, chunk_of, key
from rag_engine.indexes.embedded.vectors.dense import restored, unit

if TYPE_CHECKING:
    import sqlite3

    from rag_engine.types import Chunk, DocumentId, Expansion, KnowledgeBaseId, Vector

_PAGE = 200

Place = tuple[bytes, int, int]
"""Of a page's last chunk: document, ordinal, rowid."""


def page_after(
    connection: sqlite3.Connection,
    knowledge_base: KnowledgeBaseId,
    place: Place | None,
    *,
    dimensions: int,
    document: DocumentId | None = None,
) -> tuple[list[tuple[Chunk, Vector]], Place | None]:
    """None at the end."""
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT chunk.document, chunk.ordinal, chunk.id, vec.v, {CHUNK_COLUMNS} FROM chunk"  # noqa: S608
        " JOIN vec ON vec.id = chunk.id JOIN base ON base.id = chunk.base"
        " WHERE base.name = ? AND (chunk.document, chunk.ordinal, chunk.id) > (?, ?, ?)"
        + (" AND chunk.document = ?" if document else "")
        + " ORDER BY chunk.document, chunk.ordinal, chunk.id LIMIT ?",
        (key(knowledge_base), *(place or (b"", -1, 0)), *((key(document),) if document else ()), _PAGE),
    ).fetchall()
    if not rows:
        return [], None
    vectors = unit(restored((row[3] for row in rows), dimensions))
    page = [(chunk_of(row[4:], knowledge_base), vector) for row, vector in zip(rows, vectors, strict=True)]
    last = rows[-1]
    return page, (last[0], last[1], last[2]) if len(rows) == _PAGE else None


def chunks_of(
    connection: sqlite3.Connection,
    knowledge_base: KnowledgeBaseId,
    document: DocumentId,
    limit: int,
    start: int,
) -> list[Chunk]:
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunk JOIN base ON base.id = chunk.base"  # noqa: S608
        " WHERE base.name = ? AND chunk.document = ? AND chunk.ordinal >= ?"
        " ORDER BY chunk.ordinal, chunk.id LIMIT ?",
        (key(knowledge_base), key(document), start, limit),
    )
    return [chunk_of(row, knowledge_base) for row in rows]


def count_of(connection: sqlite3.Connection, knowledge_base: KnowledgeBaseId) -> int:
    return connection.execute(
        "SELECT count(*) FROM chunk JOIN base ON base.id = chunk.base WHERE base.name = ?",
        (key(knowledge_base),),
    ).fetchone()[0]


def expansions_of(connection: sqlite3.Connection, knowledge_base: KnowledgeBaseId, kind: Expansion) -> int:
    return connection.execute(
        "SELECT count(*) FROM expansion JOIN chunk ON chunk.id = expansion.chunk JOIN base ON base.id = chunk.base"
        " WHERE base.name = ? AND expansion.kind = ?",
        (key(knowledge_base), kind),
    ).fetchone()[0]
