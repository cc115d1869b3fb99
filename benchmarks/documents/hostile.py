"""Hostile files at the program's own limits: outcome, seconds and memory of each.

`python -m benchmarks.documents.hostile [PART OF A NAME ...]`; then the sandbox's cost for a harmless file.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.settings import ParsingSettings
from rag_engine.parsing.pool import ParserPool, parser_pool
from tests.hostile.every import FILES
from tests.hostile.watching import peak_memory, read

if TYPE_CHECKING:
    from collections.abc import Iterator

_CORPUS: Final = Path(__file__).parents[3] / "shared" / "docs"
_LATER: Final = 100


async def main(wanted: list[str]) -> None:
    limits = ParsingSettings()
    memory = limits.memory_mb << 20
    slowest, largest = 0.0, 0
    print("| File | Became | Seconds | MB |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for path in _files(Path(folder), wanted):
            # A new worker each, so that memory of the previous file does not count.
            async with parser_pool(workers=1, seconds=limits.seconds, memory_bytes=memory) as pool:
                with peak_memory() as peak:
                    outcome = await read(pool, path)
            slowest, largest = max(slowest, outcome.seconds), max(largest, peak[0])
            print(f"| {path.name} | {outcome.kind} | {outcome.seconds:.1f} | {peak[0] >> 20} |", flush=True)
        print(f"\nAt most {slowest:.1f} s and {largest >> 20} MB.\n")
        plain = Path(folder) / "plain.txt"
        plain.write_text("A few plain words. " * 50, encoding="utf-8")
        starts = [await _first(plain) for _ in range(7)]
        async with parser_pool(workers=1, seconds=limits.seconds, memory_bytes=memory) as pool:
            await read(pool, plain)
            later = [await _seconds(pool, plain) for _ in range(_LATER)]
    print("| A short text | ms, median |\n| --- | --- |")
    print(f"| as a worker's first file | {statistics.median(starts) * 1000:.0f} |")
    print(f"| as one of {_LATER} more | {statistics.median(later) * 1000:.1f} |")


def _files(folder: Path, wanted: list[str]) -> Iterator[Path]:
    for name, make in FILES.items():
        if not wanted or any(part in name for part in wanted):
            path = folder / name
            path.write_bytes(make())
            yield path
            path.unlink()
    manifest = _CORPUS / "manifest.jsonl"
    for line in manifest.read_text(encoding="utf-8").splitlines() if manifest.exists() else ():
        row = json.loads(line)
        if row["expect"] != "text" and (not wanted or any(part in row["path"] for part in wanted)):
            yield _CORPUS / row["path"]


async def _first(path: Path) -> float:
    began = time.perf_counter()
    async with parser_pool(workers=1, seconds=60, memory_bytes=1 << 30) as pool:
        await read(pool, path)
        return time.perf_counter() - began


async def _seconds(pool: ParserPool, path: Path) -> float:
    return (await read(pool, path)).seconds


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
