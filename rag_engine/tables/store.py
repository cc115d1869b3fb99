"""A folder per knowledge base with a file per document."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.errors import StorageUnavailable
from rag_engine.tables import table_file
from rag_engine.tables.collection import TableCollection, TableLimits
from rag_engine.tables.columns import sql_name

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
    from pathlib import Path

    from rag_engine.tables.table_file import StoredTable
    from rag_engine.tables.types import TypedTable, Value
    from rag_engine.types import Document, DocumentId, KnowledgeBaseId

_SAFE: Final = re.compile(r"[a-z0-9_-]{1,64}")
_SUFFIX: Final = ".sqlite"
_PENDING: Final = ".pending"


class TableStore:
    """Files never change. Raises `StorageUnavailable`."""

    def __init__(self, folder: Path, *, limits: TableLimits | None = None) -> None:
        self._folder = folder
        self._limits = limits or TableLimits()

    @contextmanager
    def collection(self) -> Generator[TableCollection]:
        collection = TableCollection(self._limits)
        try:
            yield collection
        finally:
            collection.close()

    async def keep(self, document: Document, collection: TableCollection) -> None:
        """No question finds them before `publish`, also after a crash."""
        await asyncio.to_thread(collection.write, self._pending(document), document)

    async def is_kept(self, document: Document) -> bool:
        """Tables of these bytes wait for `publish`."""
        return await asyncio.to_thread(table_file.digest, self._pending(document)) == document.digest

    async def publish(self, document: Document) -> None:
        """What was kept replaces its earlier tables."""
        await asyncio.to_thread(self._publish, document)

    def _publish(self, document: Document) -> None:
        pending, path = self._pending(document), self._path(document)
        try:
            if pending.exists():
                pending.replace(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageUnavailable from error

    async def stored(self, document: Document) -> list[StoredTable]:
        return await asyncio.to_thread(table_file.read, self._path(document))

    async def holds(self, document: Document) -> bool:
        """Tables of these bytes."""
        return await asyncio.to_thread(table_file.digest, self._path(document)) == document.digest

    async def replace(
        self,
        document: Document,
        tables: Sequence[tuple[TypedTable, Sequence[str], Iterable[Sequence[Value]]]],
    ) -> None:
        await asyncio.to_thread(self._replace, document, tables)

    def _replace(
        self,
        document: Document,
        tables: Sequence[tuple[TypedTable, Sequence[str], Iterable[Sequence[Value]]]],
    ) -> None:
        with table_file.written(self._path(document)) as database:
            for table, _, rows in tables:
                if not table.too_large:
                    table_file.create(database, table)
                    table_file.insert(database, table, rows)
            table_file.describe(database, document, [(table, list(layout)) for table, layout, _ in tables])

    async def rename(self, document: Document) -> None:
        await asyncio.to_thread(
            table_file.rename, self._path(document), title=document.title, uri=document.uri
        )

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        """No error if there are none."""
        await asyncio.to_thread(self._drop, knowledge_base, document)

    def _drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None) -> None:
        folder = self._folder / _safe(knowledge_base)
        try:
            if document is not None:
                for suffix in (_SUFFIX, _PENDING):
                    path = folder / f"{_safe(document)}{suffix}"
                    path.unlink(missing_ok=True)
                    table_file.remove_unfinished(path)
            elif folder.exists():
                shutil.rmtree(folder)
        except OSError as error:
            raise StorageUnavailable from error

    async def tables(
        self,
        documents: Mapping[DocumentId, KnowledgeBaseId],
        *,
        beside: Collection[KnowledgeBaseId] = (),
        most: int = 0,
    ) -> list[StoredTable]:
        """In the order of documents, with unique names; then those of the knowledge bases `beside`, if at most `most`
        documents have any.
        """
        return await asyncio.to_thread(self._tables, documents, beside, most)

    def _tables(
        self,
        documents: Mapping[DocumentId, KnowledgeBaseId],
        beside: Collection[KnowledgeBaseId],
        most: int,
    ) -> list[StoredTable]:
        paths = [
            self._folder / _safe(base) / f"{_safe(document)}{_SUFFIX}" for document, base in documents.items()
        ]
        others = [path for base in sorted(beside) for path in self._files(base)]
        if len(others) <= most:
            paths = list(dict.fromkeys((*paths, *others)))
        return _named(paths)

    def _files(self, knowledge_base: KnowledgeBaseId) -> list[Path]:
        return sorted((self._folder / _safe(knowledge_base)).glob(f"*{_SUFFIX}"))

    def _pending(self, document: Document) -> Path:
        return self._path(document).with_suffix(_PENDING)

    def _path(self, document: Document) -> Path:
        return self._folder / _safe(document.knowledge_base) / f"{_safe(document.id)}{_SUFFIX}"


def _safe(identity: str) -> str:
    if _SAFE.fullmatch(identity):
        return identity
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def _named(paths: Iterable[Path]) -> list[StoredTable]:
    taken: set[str] = set()
    named: list[StoredTable] = []
    for path in paths:
        for stored in table_file.read(path):
            name = sql_name(stored.table.sql_name, taken, otherwise="table_1")
            is_own = name == stored.table.sql_name
            one = stored if is_own else replace(stored, table=replace(stored.table, sql_name=name))
            taken |= {name, one.table.all_name}
            named.append(one)
    return named
