from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.errors import UserError
from rag_engine.metadata.comparison import folded
from rag_engine.metadata.properties import DERIVED, MOST_TAGS, derived, tag_of
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
    WHERE documents.knowledge_base IN (SELECT value FROM json_each(?1))
    ORDER BY documents.created_at DESC LIMIT ?2
"""
_VALUES = """
    WITH searched AS (
        SELECT id FROM documents WHERE knowledge_base IN (SELECT value FROM json_each(?1))
        ORDER BY created_at DESC LIMIT ?2
    )
    SELECT * FROM (
        SELECT document, key, value FROM properties
        WHERE document IN searched AND (?3 IS NULL OR key IN (SELECT value FROM json_each(?3)))
        ORDER BY document, key, ordinal
    )
    UNION ALL SELECT * FROM (
        SELECT document, 'tag', tag FROM tags
        WHERE document IN searched AND (?3 IS NULL OR 'tags' IN (SELECT value FROM json_each(?3)))
        ORDER BY document, folded
    )
"""


_AUTHORS_AND_TAGS = """
    WITH searched AS (SELECT id FROM documents WHERE knowledge_base IN (SELECT value FROM json_each(?1)))
    SELECT value FROM properties WHERE key IN ('author', 'tags') AND document IN searched
    UNION SELECT tag FROM tags WHERE document IN searched
"""
_STORED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("in", *DERIVED), ()),
    "tag": ("tags",),
    "date": ("created", "modified"),
}
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


_CITED: Final = """
    SELECT sources.document, synced_entries.link, synced_entries.version FROM sources
    JOIN synced_entries ON synced_entries.uri = sources.uri
    JOIN synced_sources ON synced_sources.id = synced_entries.source
    WHERE sources.document IN (SELECT value FROM json_each(?)) AND synced_entries.version <> ''
        AND synced_sources.knowledge_base = sources.knowledge_base
    ORDER BY sources.ordinal DESC
"""


class SqliteMetadata:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def properties(
        self,
        knowledge_bases: Collection[KnowledgeBaseId],
        *,
        names: Mapping[KnowledgeBaseId, str] | None = None,
        keys: Collection[str] | None = None,
        latest: int | None = None,
    ) -> Mapping[DocumentId, Properties]:
        bounds = (json.dumps(sorted(knowledge_bases)), -1 if latest is None else latest)
        documents = await self._database.fetch(_DOCUMENTS, bounds)
        wanted = None if keys is None else {own for key in keys for own in _STORED.get(key, (key,))}
        values: Sequence[Row] = ()
        if wanted is None or wanted:
            needed = None if wanted is None else json.dumps(sorted(wanted))
            values = await self._database.fetch(_VALUES, (*bounds, needed))
        return await asyncio.to_thread(_joined, documents, values, names or {})

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

    async def versions(self, documents: Collection[DocumentId]) -> dict[DocumentId, tuple[str, str]]:
        rows = await self._database.fetch(_CITED, (json.dumps(sorted(documents)),))
        return {DocumentId(document): (link, version) for document, link, version in rows}

    async def link(self, document: DocumentId, links: Mapping[str, str]) -> None:
        rows = [(document, anchor, link, document) for anchor, link in links.items()]
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM passage_links WHERE document = ?", (document,))
            await transaction.execute_many(
                "INSERT INTO passage_links SELECT ?, ?, ? FROM documents WHERE id = ?", rows
            )

    async def links(self, documents: Collection[DocumentId]) -> dict[tuple[DocumentId, str], str]:
        rows = await self._database.fetch(
            "SELECT document, anchor, link FROM passage_links WHERE document IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(documents)),),
        )
        return {(DocumentId(document), anchor): link for document, anchor, link in rows}

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
    documents: Sequence[Row], values: Sequence[Row], names: Mapping[KnowledgeBaseId, str]
) -> dict[DocumentId, Properties]:
    described = _by_document(values)
    found: dict[DocumentId, Properties] = {}
    for identity, title, uri, added, base, name in documents:
        own = described.get(identity, {})
        tags = (*own.get("tag", ()), *own.get("tags", ()))
        places = (names.get(base, ""), name)
        found[DocumentId(identity)] = {
            **own,
            **derived(title=title, uri=uri, added=added, places=places, tags=tags),
        }
    return found


def _by_document(rows: Sequence[Row]) -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for document, key, value in rows:
        values = found.setdefault(document, {})
        values[key] = (*values.get(key, ()), value)
    return found
