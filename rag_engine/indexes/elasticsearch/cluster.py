from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rag_engine.indexes.elasticsearch import lifecycle

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
        # `retry` handles busy clusters, because it knows the time left.
        self.reader = client.options(retry_on_status=())
        self.writer = client.options(retry_on_status=(), request_timeout=settings.write_timeout)
        self._opener = client.options(request_timeout=settings.write_timeout)
        self._rebuilding = rebuilding
        self._names: IndexNames | None = None
        self._opening = asyncio.Lock()

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

    def forget_names(self) -> None:
        self._names = None
