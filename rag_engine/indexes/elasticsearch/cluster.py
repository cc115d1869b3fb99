"""The index as it is reached: the client, and the names of what is behind the alias, found out when they are first needed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rag_engine.indexes.elasticsearch import lifecycle

if TYPE_CHECKING:
    from elasticsearch import AsyncElasticsearch

    from rag_engine.indexes.elasticsearch.lifecycle import Names
    from rag_engine.indexes.elasticsearch.settings import Settings
    from rag_engine.ports import IndexIdentity


class Cluster:
    """One index of one cluster. A cluster that is down when the program starts is asked again at the next use."""

    def __init__(
        self, client: AsyncElasticsearch, *, settings: Settings, identity: IndexIdentity, rebuilding: bool
    ) -> None:
        self.settings = settings
        self.identity = identity
        # What is busy or red is asked again by us (see `repeating`), who know how much time there is.
        self.reader = client.options(retry_on_status=())
        self.writer = client.options(retry_on_status=(), request_timeout=settings.write_timeout)
        self._opener = client.options(request_timeout=settings.write_timeout)
        self._rebuilding = rebuilding
        self._names: Names | None = None
        self._opening = asyncio.Lock()

    @property
    def server_timeout(self) -> str:
        """How long the server may wait for a shard before it answers: less than we wait for the server."""
        return f"{max(1, int(self.settings.write_timeout / 2))}s"

    async def names(self) -> Names:
        """What is behind the alias. Raises as `lifecycle.opened` does."""
        if self._names is None:
            async with self._opening:
                if self._names is None:
                    self._names = await lifecycle.opened(
                        self._opener, self.settings, self.identity, rebuilding=self._rebuilding
                    )
        return self._names

    def forget_names(self) -> None:
        """Look behind the alias again at the next use: what was there has been removed."""
        self._names = None
