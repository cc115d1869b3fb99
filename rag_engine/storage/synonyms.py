from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rag_engine.errors import UserError
from rag_engine.retrieval.queries.synonyms import MOST_ENTRIES, folded, merged
from rag_engine.storage.pending_work import knowledge_base_expected
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.storage.sqlite.database import Database, Transaction

_SELECT = """
    SELECT knowledge_base, terms FROM synonyms WHERE knowledge_base IN (SELECT value FROM json_each(?)) ORDER BY ordinal
"""
_PUT = """
    INSERT INTO synonyms (knowledge_base, folded, terms) VALUES (?, ?, ?)
    ON CONFLICT (knowledge_base, folded) DO UPDATE SET terms = excluded.terms
"""


class SqliteSynonyms:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> dict[KnowledgeBaseId, list[tuple[str, ...]]]:
        found: dict[KnowledgeBaseId, list[tuple[str, ...]]] = {}
        for base, terms in await self._database.fetch(_SELECT, (json.dumps(sorted(knowledge_bases)),)):
            found.setdefault(KnowledgeBaseId(base), []).append(tuple(json.loads(terms)))
        return found

    async def add(self, knowledge_base: KnowledgeBaseId, entries: Sequence[tuple[str, ...]]) -> None:
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                stored = await _entries(transaction, knowledge_base)
                for terms in entries:
                    name = folded(terms[0])
                    stored[name] = merged(stored.get(name, ()), terms)
                    row = (knowledge_base, name, json.dumps(stored[name], ensure_ascii=False))
                    await transaction.execute(_PUT, row)
                if len(stored) > MOST_ENTRIES:
                    raise UserError(
                        f"A knowledge base may have {MOST_ENTRIES} entries of synonyms: remove some first."
                    )

    async def remove(self, knowledge_base: KnowledgeBaseId, term: str) -> bool:
        name = folded(term)
        async with self._database.transaction() as transaction:
            stored = await _entries(transaction, knowledge_base)
            changed = {name: ()} if name in stored else _without(stored, name)
            for first, terms in changed.items():
                if len(terms) < 2:
                    await transaction.execute(
                        "DELETE FROM synonyms WHERE knowledge_base = ? AND folded = ?",
                        (knowledge_base, first),
                    )
                else:
                    row = (knowledge_base, first, json.dumps(terms, ensure_ascii=False))
                    await transaction.execute(_PUT, row)
        return bool(changed)


async def _entries(transaction: Transaction, knowledge_base: KnowledgeBaseId) -> dict[str, tuple[str, ...]]:
    rows = await transaction.execute(
        "SELECT folded, terms FROM synonyms WHERE knowledge_base = ? ORDER BY ordinal", (knowledge_base,)
    )
    return {first: tuple(json.loads(terms)) for first, terms in rows}


def _without(stored: dict[str, tuple[str, ...]], name: str) -> dict[str, tuple[str, ...]]:
    return {
        first: kept
        for first, terms in stored.items()
        if len(kept := tuple(term for term in terms if folded(term) != name)) < len(terms)
    }
