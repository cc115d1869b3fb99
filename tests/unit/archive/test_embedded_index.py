"""The round trip over the embedded index: it keeps half precision, and still both scans are equal, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rag_engine import archive
from rag_engine.indexes import embedded
from rag_engine.types import Search
from tests.unit.archive.shelf import IDENTITY, shelf

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.types import Chunk, Hit, KnowledgeBaseId


async def scan(index: EmbeddedIndex, base: KnowledgeBaseId) -> list[tuple[Chunk, bytes]]:
    return [(chunk, vector.tobytes()) async for chunk, vector in index.scan(base)]


async def found(index: EmbeddedIndex, base: KnowledgeBaseId) -> list[tuple[Hit, ...]]:
    vector = np.random.default_rng(1).standard_normal(IDENTITY.dimensions)
    everything = frozenset({base})
    searches = [
        Search(leg="lexical", knowledge_bases=everything, limit=10, tokens=("absatz", "3")),
        Search(
            leg="dense",
            knowledge_bases=everything,
            limit=10,
            vector=(vector / np.linalg.norm(vector)).astype(np.float32),
        ),
    ]
    return [ranking.hits for ranking in await index.search(searches)]


async def test_an_import_finds_what_the_original_found(tmp_path: Path) -> None:
    settings = embedded.Settings()
    async with (
        shelf(tmp_path / "here") as here,
        shelf(tmp_path / "there") as there,
        embedded.connect(settings, data_dir=tmp_path / "here", identity=IDENTITY) as original,
        embedded.connect(settings, data_dir=tmp_path / "there", identity=IDENTITY) as copy,
    ):
        base = await here.fill(documents=40, chunks=12)
        for record in await here.catalog.records(base.id):
            await original.put(record.document, here.index.documents[base.id, record.document.id])
        file = tmp_path / "kb.zip"
        told = await archive.export(base, file, library=here.catalog, contents=original, identity=IDENTITY)
        assert (told.documents, told.chunks) == (40, 480)
        for _ in range(2):
            await archive.import_(
                file, catalog=there.catalog, documents=there.catalog, index=copy, identity=IDENTITY
            )
        assert await scan(copy, base.id) == await scan(original, base.id)
        assert await copy.count(base.id) == 480
        hits = await found(copy, base.id)
        assert hits == await found(original, base.id)
        assert all(len(ranking) == 10 for ranking in hits)
        again = tmp_path / "again.zip"
        await archive.export(base, again, library=there.catalog, contents=copy, identity=IDENTITY)
        assert again.read_bytes() == file.read_bytes()
