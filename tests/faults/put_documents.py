"""Puts documents into an embedded index until it is killed, telling each one when it is there."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np

from rag_engine.indexes.embedded import Settings, connect
from rag_engine.ports import IndexIdentity
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId

IDENTITY = IndexIdentity(model="test@fp32", dimensions=32, analyzer="test")
DOCUMENTS = 25


def document(number: int) -> Document:
    return Document(
        id=DocumentId(f"d{number:03}"),
        knowledge_base=KnowledgeBaseId("kb"),
        title="",
        uri="",
        media_type="text/plain",
        digest="",
    )


def chunks(number: int, turn: int) -> list[tuple[Chunk, np.ndarray]]:
    """The chunks of a document at a turn; how many there are, and each one's text and vector, follow from both."""
    random = np.random.default_rng([number, turn])
    made: list[tuple[Chunk, np.ndarray]] = []
    for ordinal in range(1 + (number + turn) % 5):
        vector = random.standard_normal(IDENTITY.dimensions)
        chunk = Chunk(
            id=ChunkId(f"{number}-{turn}-{ordinal}"),
            document=document(number).id,
            knowledge_base=document(number).knowledge_base,
            ordinal=ordinal,
            text=" ".join(f"word{word}" for word in random.integers(0, 500, 60))
            + f" document{number} turn{turn}",
            language="en",
        )
        made.append((chunk, (vector / np.linalg.norm(vector)).astype(np.float32)))
    return made


async def main(directory: Path, first_turn: int) -> None:
    async with connect(Settings(), data_dir=directory, identity=IDENTITY) as index:
        turn = first_turn
        while True:
            for number in range(DOCUMENTS):
                await index.put(document(number), chunks(number, turn))
                sys.stdout.write(f"{number} {turn}\n")
                sys.stdout.flush()
            turn += 1


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
