"""Documents of one passage with ready vectors, stored a second: `python -m benchmarks.bulk [DOCUMENTS]`.

One after another, 64 put at once, and imported from an export; in one run, because machines differ.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.made_files import sentences
from rag_engine.archive import export, import_
from rag_engine.indexes.embedded import Settings, connect
from rag_engine.ports import DocumentSave, IndexIdentity
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite import database
from rag_engine.text.analyzer import VERSION
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, DocumentRecord, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.types import KnowledgeBaseId, Vector

    Made = tuple[Document, list[tuple[Chunk, Vector]]]

_AT_ONCE: Final = 64
_IDENTITY: Final = IndexIdentity(model="synthetic", dimensions=384, analyzer=VERSION)


def _documents(count: int, base: KnowledgeBaseId) -> list[Made]:
    chance = random.Random(1)
    vectors = np.random.default_rng(1).normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made: list[Made] = []
    for number in range(count):
        name = f"document {number}.txt"
        identity = DocumentId(f"d{number}")
        document = Document(
            id=identity, knowledge_base=base, title=name, uri=f"file:///{number}", media_type="", digest=name
        )
        chunk = Chunk(
            id=ChunkId(f"c{number}"),
            document=identity,
            knowledge_base=base,
            ordinal=0,
            text=sentences(chance, 5),
            title=name,
            uri=document.uri,
            language="en",
        )
        made.append((document, [(chunk, vectors[number])]))
    return made


async def _one_by_one(index: EmbeddedIndex, made: Sequence[Made]) -> None:
    for document, chunks in made:
        await index.put(document, chunks)


async def _at_once(index: EmbeddedIndex, made: Sequence[Made]) -> None:
    for start in range(0, len(made), _AT_ONCE):
        await asyncio.gather(*(index.put(*one) for one in made[start : start + _AT_ONCE]))


async def measure(count: int) -> dict[str, float]:
    """Documents a second, by way."""
    figures: dict[str, float] = {}

    async def timed(name: str, work: Coroutine[object, object, object]) -> None:
        began, used = time.perf_counter(), time.process_time()
        await work
        figures[name] = count / (time.perf_counter() - began)
        figures[f"{name}, of processor time"] = count / (time.process_time() - used)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "export.zip"
        async with database.connect(folder / "catalog.sqlite") as opened:
            catalog = SqliteCatalog(opened)
            base = await catalog.open("bench", model="synthetic")
            made = _documents(count, base.id)
            ways: dict[str, Callable[[EmbeddedIndex, Sequence[Made]], Coroutine[object, object, object]]] = {
                "one by one": _one_by_one,
                "64 at once": _at_once,
            }
            for way, put in ways.items():
                where = folder / way
                where.mkdir()
                async with connect(Settings(), data_dir=where, identity=_IDENTITY) as index:
                    await timed(way, put(index, made))
                    if put is _at_once:
                        saves = [
                            DocumentSave(
                                record=DocumentRecord(document=document, state="ready", chunks=1),
                                sections=[Section(text=chunk.text) for chunk, _ in chunks],
                            )
                            for document, chunks in made
                        ]
                        await catalog.save_all(saves)
                        await export(base, file, library=catalog, contents=index, identity=_IDENTITY)
            target = folder / "imported"
            target.mkdir()
            async with (
                database.connect(target / "catalog.sqlite") as other,
                connect(Settings(), data_dir=target, identity=_IDENTITY) as index,
            ):
                into = SqliteCatalog(other)
                await timed(
                    "import",
                    import_(file, catalog=into, documents=into, index=index, identity=_IDENTITY),
                )
    return figures


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    for name, figure in asyncio.run(measure(count)).items():
        print(f"{name}: {figure:,.0f} documents a second")


if __name__ == "__main__":
    main()
