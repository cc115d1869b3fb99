from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.errors import UserError
from rag_engine.metadata.comparison import folded
from rag_engine.metadata.properties import MOST_TAGS, derived, tag_of
from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.metadata.filter_types import Properties
    from rag_engine.storage.sqlite.database import Database, Row
    from rag_engine.types import (
        KnowledgeBaseId,
    )

_DOCUMENTS = """
    SELECT documents.id, documents.title, documents.uri, documents.created_at, knowledge_bases.id,
        knowledge_bases.name FROM documents
    JOIN knowledge_bases ON knowledge_bases.id = documents.knowledge_base
    WHERE documents.knowledge_base IN (SELECT value FROM json_each(?))
"""
_OWN = """
    SELECT document, key, value FROM properties
    WHERE document IN (SELECT id FROM documents WHERE knowledge_base IN (SELECT value FROM json_each(?)))
    ORDER BY document, key, ordinal
"""
_TAGS = """
    SELECT document, tag FROM tags
    WHERE document IN (SELECT id FROM documents WHERE knowledge_base IN (SELECT value FROM json_each(?)))
    ORDER BY document, folded
"""


_AUTHORS_AND_TAGS = """
    WITH searched AS (SELECT id FROM documents WHERE knowledge_base IN (SELECT value FROM json_each(?1)))
    SELECT value FROM properties WHERE key IN ('author', 'tags') AND document IN searched
    UNION SELECT tag FROM tags WHERE document IN searched
"""
_WILDCARD: Final = re.compile(r"[%_\\]")
_ESCAPED: Final = r"\\\g<0>"
_NAMES: Final = {
    "title": """
        SELECT DISTINCT title AS name FROM documents
        WHERE knowledge_base IN (SELECT value FROM json_each(?1)) AND state = 'ready'
            AND EXISTS (SELECT 1 FROM json_each(?2) AS text WHERE title LIKE text.value ESCAPE '\\')
        ORDER BY name COLLATE NOCASE LIMIT ?3
    """,
    "tag": """
        SELECT name FROM (
            SELECT tag AS name, document FROM tags
            UNION ALL SELECT value, document FROM properties WHERE key = 'tags'
        ) JOIN documents ON documents.id = document
        WHERE knowledge_base IN (SELECT value FROM json_each(?1)) AND state = 'ready'
            AND EXISTS (SELECT 1 FROM json_each(?2) AS text WHERE name LIKE text.value ESCAPE '\\')
        GROUP BY lower(name) ORDER BY name COLLATE NOCASE LIMIT ?3
    """,
}


class SqliteMetadata:
    """The port `Metadata`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def properties(
        self,
        knowledge_bases: Collection[KnowledgeBaseId],
        *,
        names: Mapping[KnowledgeBaseId, str] | None = None,
    ) -> Mapping[DocumentId, Properties]:
        bases = (json.dumps(sorted(knowledge_bases)),)
        documents = await self._database.fetch(_DOCUMENTS, bases)
        own = await self._database.fetch(_OWN, bases)
        tags = await self._database.fetch(_TAGS, bases)
        return await asyncio.to_thread(_joined, documents, own, tags, names or {})

    async def authors_and_tags(self, knowledge_bases: Collection[KnowledgeBaseId]) -> list[str]:
        rows = await self._database.fetch(_AUTHORS_AND_TAGS, (json.dumps(sorted(knowledge_bases)),))
        return [value for (value,) in rows]

    async def describe(self, document: DocumentId, properties: Properties) -> None:
        rows = [
            (document, key, ordinal, value)
            for key, values in properties.items()
            for ordinal, value in enumerate(values)
        ]
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM properties WHERE document = ?", (document,))
            known = await transaction.execute("SELECT 1 FROM documents WHERE id = ?", (document,))
            if known:
                await transaction.execute_many("INSERT INTO properties VALUES (?, ?, ?, ?)", rows)

    async def own(self, document: DocumentId) -> Properties:
        rows = await self._database.fetch(
            "SELECT document, key, value FROM properties WHERE document = ? ORDER BY key, ordinal",
            (document,),
        )
        return _by_document(rows).get(document, {})

    async def tags(self, document: DocumentId) -> list[str]:
        rows = await self._database.fetch(
            "SELECT tag FROM tags WHERE document = ? ORDER BY folded", (document,)
        )
        return [tag for (tag,) in rows]

    async def names(
        self,
        knowledge_bases: Collection[KnowledgeBaseId],
        *,
        kind: Literal["title", "tag"],
        text: str,
        limit: int,
    ) -> list[str]:
        """That contain the text; SQLite compares only ASCII without case, so it gets each spelling."""
        spellings = {text, text.lower(), text.upper(), text.title()}
        texts = [f"%{_WILDCARD.sub(_ESCAPED, spelling)}%" for spelling in spellings]
        values = (json.dumps(sorted(knowledge_bases)), json.dumps(texts), limit)
        return [name for (name,) in await self._database.fetch(_NAMES[kind], values)]

    async def tag(
        self, document: DocumentId, *, add: Collection[str] = (), remove: Collection[str] = ()
    ) -> None:
        new = [tag_of(text) for text in add]
        old = [(document, folded(tag_of(text))) for text in remove]
        async with self._database.transaction() as transaction:
            await transaction.execute_many("DELETE FROM tags WHERE document = ? AND folded = ?", old)
            await transaction.execute_many(
                "INSERT INTO tags (document, folded, tag) SELECT id, ?, ? FROM documents WHERE id = ?"
                " ON CONFLICT (document, folded) DO UPDATE SET tag = excluded.tag",
                [(folded(tag), tag, document) for tag in new],
            )
            ((count,),) = await transaction.execute(
                "SELECT count(*) FROM tags WHERE document = ?", (document,)
            )
            if count > MOST_TAGS:
                raise UserError(f"A file has at most {MOST_TAGS} tags; remove one first.")


def _joined(
    documents: Sequence[Row], own: Sequence[Row], tags: Sequence[Row], names: Mapping[KnowledgeBaseId, str]
) -> dict[DocumentId, Properties]:
    described = _by_document(own)
    tagged = _by_document([(document, "tag", tag) for document, tag in tags])
    return {
        DocumentId(identity): {
            **described.get(identity, {}),
            **derived(
                title=title,
                uri=uri,
                added=added,
                places=(names.get(base, ""), name),
                tags=(
                    *tagged.get(identity, {}).get("tag", ()),
                    *described.get(identity, {}).get("tags", ()),
                ),
            ),
        }
        for identity, title, uri, added, base, name in documents
    }


def _by_document(rows: Sequence[Row]) -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for document, key, value in rows:
        values = found.setdefault(document, {})
        values[key] = (*values.get(key, ()), value)
    return found
