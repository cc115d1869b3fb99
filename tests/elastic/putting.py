"""Puts one document again and again until it is killed, telling each version when it is there."""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from rag_engine.indexes import elasticsearch
from tests.contracts.indexing import IDENTITY, document, put


async def main(url: str, alias: str, first: int) -> None:
    settings = elasticsearch.Settings(url=url, alias=alias)
    async with elasticsearch.connect(settings, data_dir=Path("/nonexistent"), identity=IDENTITY) as index:
        for version in itertools.count(first):
            await put(index, document("a"), *texts(version))
            sys.stdout.write(f"{version}\n")
            sys.stdout.flush()


def texts(version: int) -> list[str]:
    """The chunks of a version: their number follows from it."""
    return [f"apple v{version}"] * (1 + version % 4)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
