from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rag_engine.tables.collection import TableCollection
    from rag_engine.tables.store import TableStore
    from rag_engine.types import Document, Section


@dataclass(slots=True, kw_only=True)
class TableIntake:
    """Without a store it only drops the cells."""

    store: TableStore | None
    document: Document
    collection: TableCollection | None

    async def extend(self, sections: Sequence[Section]) -> None:
        if self.collection is not None and any(section.kind == "table" for section in sections):
            await asyncio.to_thread(self.collection.extend, sections)

    async def keep(self) -> None:
        """Tables of an interrupted reading are more exact than those of its text."""
        if self.store is None or self.collection is None:
            return
        if not self.document.digest or not await self.store.is_kept(self.document):
            await self.store.keep(self.document, self.collection)

    async def publish(self) -> None:
        """A document indexed again keeps its tables."""
        if self.store is not None and self.collection is not None:
            await self.store.publish(self.document)
        elif self.store is not None:
            await self.store.rename(self.document)


@contextmanager
def table_intake(store: TableStore | None, document: Document, *, reads: bool) -> Generator[TableIntake]:
    """`reads`: False for a document indexed from its text."""
    if store is None or not reads:
        yield TableIntake(store=store, document=document, collection=None)
        return
    with store.collection() as collection:
        yield TableIntake(store=store, document=document, collection=collection)


def without_cells(sections: Sequence[Section]) -> list[Section]:
    return [section if section.grid is None else replace(section, grid=None) for section in sections]
