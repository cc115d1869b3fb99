"""What every index module offers for a rebuild beside the index in use: `rebuilding`, `replace`, `abandon`, `remove`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine.errors import Misconfigured, SchemaMismatch
from rag_engine.indexes import elasticsearch, embedded
from tests.contracts.conftest import elastic_settings
from tests.contracts.indexing import IDENTITY, base, document, found, lexical, put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.ports import IndexIdentity
    from tests.contracts.indexing import StoredIndex

OTHER = replace(IDENTITY, model="other@fp32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """An index module with settings that lead to a place of this test."""

    module: Any
    settings: Any
    data_dir: Path

    def open(
        self, identity: IndexIdentity = IDENTITY, *, rebuilding: bool = False
    ) -> AbstractAsyncContextManager[StoredIndex]:
        return self.module.connect(
            self.settings, data_dir=self.data_dir, identity=identity, rebuilding=rebuilding
        )

    async def fill(self, name: str, identity: IndexIdentity = IDENTITY, *, rebuilding: bool = False) -> None:
        async with self.open(identity, rebuilding=rebuilding) as index:
            await put(index, document(name), f"{name} text")

    async def holds(self, identity: IndexIdentity = IDENTITY, *, rebuilding: bool = False) -> list[str]:
        async with self.open(identity, rebuilding=rebuilding) as index:
            ((names),) = await found(index, lexical("text"))
            return names

    async def replace(self, identity: IndexIdentity = IDENTITY) -> None:
        await self.module.replace(self.settings, data_dir=self.data_dir, identity=identity)

    async def abandon(self) -> None:
        await self.module.abandon(self.settings, data_dir=self.data_dir)

    async def remove(self) -> None:
        await self.module.remove(self.settings, data_dir=self.data_dir)


@pytest.fixture(params=["embedded", "elasticsearch"])
async def module(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Module]:
    if request.param == "embedded":
        yield Module(module=embedded, settings=embedded.Settings(), data_dir=tmp_path)
        return
    made = Module(module=elasticsearch, settings=elastic_settings(tmp_path), data_dir=tmp_path)
    yield made
    await made.remove()


async def test_what_is_built_is_not_found_before_it_is_in_place_and_then_alone(module: Module) -> None:
    await module.fill("old")
    await module.fill("new", rebuilding=True)
    assert await module.holds() == ["old/0"]
    await module.replace()
    assert await module.holds() == ["new/0"]
    assert await module.holds(rebuilding=True) == []


async def test_an_interrupted_rebuild_continues(module: Module) -> None:
    await module.fill("one", rebuilding=True)
    async with module.open(rebuilding=True) as index:
        assert await index.count(base("kb")) == 1
    await module.fill("two", rebuilding=True)
    await module.replace()
    assert sorted(await module.holds()) == ["one/0", "two/0"]


async def test_a_rebuild_for_another_model_takes_the_place_of_the_old_index(module: Module) -> None:
    await module.fill("old")
    await module.fill("new", OTHER, rebuilding=True)
    await module.replace(OTHER)
    assert await module.holds(OTHER) == ["new/0"]
    with pytest.raises(SchemaMismatch, match="footnote kb reindex --all"):
        await module.holds()


async def test_a_left_over_of_another_model_is_started_over(module: Module) -> None:
    await module.fill("left", OTHER, rebuilding=True)
    await module.fill("new", rebuilding=True)
    await module.replace()
    assert await module.holds() == ["new/0"]


async def test_an_abandoned_rebuild_leaves_the_index_as_it_was(module: Module) -> None:
    await module.abandon()
    await module.fill("old")
    await module.fill("new", rebuilding=True)
    await module.abandon()
    await module.abandon()
    await module.replace()
    assert await module.holds() == ["old/0"]
    assert await module.holds(rebuilding=True) == []


async def test_putting_in_place_may_be_repeated(module: Module) -> None:
    await module.fill("new", rebuilding=True)
    await module.replace()
    await module.replace()
    assert await module.holds() == ["new/0"]


async def test_a_removed_index_is_empty_when_it_is_opened_again(module: Module) -> None:
    await module.remove()
    await module.fill("old")
    await module.fill("new", rebuilding=True)
    await module.remove()
    assert await module.holds(OTHER) == []
    assert await module.holds(OTHER, rebuilding=True) == []


async def test_a_rebuild_does_not_replace_what_another_installation_has(module: Module) -> None:
    """Only where an index can be shared by mistake; a file in the data directory cannot."""
    await module.fill("old")
    async with module.open() as index:
        await put(index, document("theirs", knowledge_base="theirs"), "their text")
    await module.fill("new", rebuilding=True)
    if module.module is embedded:
        return
    with pytest.raises(Misconfigured, match="FOOTNOTE_INDEX__ALIAS"):
        await elasticsearch.replace(
            module.settings, data_dir=module.data_dir, identity=IDENTITY, knowledge_bases=[base("kb")]
        )
    assert await module.holds() == ["old/0"]
    await elasticsearch.replace(
        module.settings,
        data_dir=module.data_dir,
        identity=IDENTITY,
        knowledge_bases=[base("kb"), base("theirs")],
    )
    assert await module.holds() == ["new/0"]
