from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rag_engine.indexes.elasticsearch import lifecycle, schema
from rag_engine.indexes.elasticsearch.errors import translate_errors

if TYPE_CHECKING:
    from elasticsearch import AsyncElasticsearch

    from rag_engine.indexes.elasticsearch.lifecycle import IndexNames
    from rag_engine.indexes.elasticsearch.settings import Settings
    from rag_engine.ports import IndexIdentity


class Cluster:
    def __init__(
        self, client: AsyncElasticsearch, *, settings: Settings, identity: IndexIdentity, rebuilding: bool
    ) -> None:
        self.settings = settings
        self.identity = identity
        self.reader = client.options(retry_on_status=())
        self.writer = client.options(retry_on_status=(), request_timeout=settings.write_timeout)
        self._opener = client.options(request_timeout=settings.write_timeout)
        self._rebuilding = rebuilding
        self._names: IndexNames | None = None
        self._opening = asyncio.Lock()
        self._expandable: set[str] = set()

    @property
    def server_timeout(self) -> str:
        """Less than our own timeout."""
        return f"{max(1, int(self.settings.write_timeout / 2))}s"

    async def names(self) -> IndexNames:
        """Raises like `lifecycle.opened`."""
        if self._names is None:
            async with self._opening:
                if self._names is None:
                    self._names = await lifecycle.opened(
                        self._opener, self.settings, self.identity, rebuilding=self._rebuilding
                    )
        return self._names

    async def make_expandable(self) -> None:
        """Once for each index."""
        names = await self.names()
        if names.chunks not in self._expandable:
            with translate_errors():
                await self._opener.indices.put_mapping(
                    index=names.chunks, properties=schema.expansion_fields(self.settings, self.identity)
                )
            self._expandable.add(names.chunks)

    def forget_names(self) -> None:
        self._names = None
