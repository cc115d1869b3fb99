"""The index on a real node as the tests of faults open it, and what is physically in it."""

from __future__ import annotations

import re
import uuid
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import AsyncElasticsearch

from rag_engine.errors import IndexUnavailable
from rag_engine.indexes import elasticsearch
from tests.contracts.indexing import IDENTITY
from tests.elastic.proxy import Proxy, checking_proxy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from rag_engine.indexes.elasticsearch import ElasticsearchIndex
    from rag_engine.ports import IndexIdentity

NOWHERE = Path("/nonexistent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """An index of the test's own on a node, with a proxy between the two, and a client that goes round the proxy."""

    alias: str
    proxy: Proxy
    raw: AsyncElasticsearch

    def settings(self, **more: Any) -> elasticsearch.Settings:
        return elasticsearch.Settings.model_validate(
            {"url": self.proxy.url, "alias": self.alias, "timeout": 20, "ca_file": self.proxy.ca_file, **more}
        )

    @asynccontextmanager
    async def opened(
        self, identity: IndexIdentity = IDENTITY, **more: Any
    ) -> AsyncGenerator[ElasticsearchIndex]:
        settings = self.settings(**more)
        async with elasticsearch.connect(settings, data_dir=NOWHERE, identity=identity) as index:
            yield index

    async def names(self) -> list[str]:
        """The indexes there are of this alias."""
        answer = await self.raw.indices.get(index=f"{self.alias}*", features=["aliases"])
        return sorted(answer)

    async def chunks(self) -> str:
        """The one index of chunks."""
        (name,) = [name for name in await self.names() if name.endswith("-chunks")]
        return name

    async def manifests(self) -> str:
        """The one index of manifests."""
        return (await self.chunks()).removesuffix("-chunks") + "-manifests"

    async def texts(self) -> list[str]:
        """The text of every chunk that is physically there, whether it counts or not."""
        await self.raw.indices.refresh(index=self.alias)
        answer = await self.raw.search(index=self.alias, size=1_000, source_includes=["text"])
        return sorted(hit["_source"]["text"] for hit in answer["hits"]["hits"])

    async def stored_manifests(self) -> dict[str, dict[str, Any]]:
        """Each manifest by its id, as it is stored."""
        name = await self.manifests()
        await self.raw.indices.refresh(index=name)
        answer = await self.raw.search(index=name, size=100)
        return {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}


@asynccontextmanager
async def bench(url: str, *, api_key: str | None = None, tls: bool = False) -> AsyncGenerator[Bench]:
    """A bench at the node of that URL; its indexes are removed in the end."""
    alias = f"fault-{uuid.uuid4().hex[:12]}"
    async with AsyncExitStack() as stack:
        raw = await stack.enter_async_context(AsyncElasticsearch(url, request_timeout=60))
        proxy = await stack.enter_async_context(checking_proxy(url, api_key=api_key, tls=tls))
        yield Bench(alias=alias, proxy=proxy, raw=raw)
        if left := list(await raw.indices.get(index=f"{alias}*", features=["aliases"])):
            await raw.indices.delete(index=left)


@contextmanager
def failing(reason: str) -> Generator[None]:
    """The block ends with `IndexUnavailable` of that reason, in one plain sentence."""
    with pytest.raises(IndexUnavailable) as raised:
        yield
    error = raised.value
    assert (error.reason, error.backend) == (reason, "elasticsearch")
    assert is_plain_sentence(str(error)), str(error)


def is_plain_sentence(text: str) -> bool:
    """One sentence for a person: no line break, no second full stop, no name of a class or of an exception."""
    return bool(re.fullmatch(r"(The|A) [^.\n]+\.", text)) and not re.search(r"_exception|Error\b|http", text)
