"""Time and memory of reading PDFs against a bare `page.get_text()` loop: `python -m benchmarks documents --speed`.

Both alternate in one process, so compare ratios. Only PDFs with text on every page count, as recognition would dominate. Through
the pool, the same files cross two processes and a sandbox.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pymupdf

from benchmarks.made_files import long_pdf
from rag_engine.parsers.documents import pdf
from rag_engine.parsers.documents._pdf.text_quality import fault
from rag_engine.parsing.pool import parser_pool
from tests.documents import corpus
from tests.hostile.watching import peak_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TURNS: Final = 3
PAGES: Final = 1_000
LEAST_RATIO: Final = 0.7
MOST_MEMORY: Final = 300 << 20
LEFT_OUT: Final = {"made/pages-5000.pdf"}
"""One line per page, unlike real files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Median pages per second of both, and the median ratio."""

    name: str
    pages: int
    bare: float
    ours: float
    ratio: float

    def __str__(self) -> str:
        missed = "" if self.ratio >= LEAST_RATIO else f"  MISSED, at least {LEAST_RATIO}"
        return f"{self.name:34}{self.pages:7,}{self.bare:12,.0f}{self.ours:12,.0f}{self.ratio:8.2f}{missed}"


async def measure() -> bool:
    """Prints the table; False if a limit is missed."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "long.pdf"
        long_pdf(made, pages=PAGES)
        paces = [
            _pace("PDFs of the corpus", _with_text(_readable())),
            _pace(f"a made PDF of {PAGES:,} pages", [made]),
        ]
        print(f"{'pages a second':34}{'pages':>7}{'get_text':>12}{'parser':>12}{'ratio':>8}")
        print("\n".join(map(str, paces)), flush=True)
        seconds, memory = await _through_the_pool(made)
    missed = "" if memory < MOST_MEMORY else f"  MISSED, less than {MOST_MEMORY >> 20} MB"
    print(
        f"\nThrough the pool: {PAGES / seconds:,.0f} pages a second; the worker holds {memory >> 20} MB{missed}"
    )
    return not missed and all(pace.ratio >= LEAST_RATIO for pace in paces)


def _readable() -> list[Path]:
    rows = corpus.manifest(["pdf"]) if corpus.DOCUMENTS.is_dir() else []
    wanted = (
        row
        for row in rows
        if row["type"] == "pdf" and row["expect"] == "text" and row["path"] not in LEFT_OUT
    )
    return [corpus.DOCUMENTS / row["path"] for row in wanted]


def _with_text(paths: Iterable[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in paths:
        try:
            with pymupdf.open(path) as document:
                whole = document.is_pdf and all(_is_usable(str(page.get_text())) for page in document)
        except RuntimeError:
            continue
        if whole:
            kept.append(path)
    return kept


def _is_usable(text: str) -> bool:
    return fault(text, pictured=_unpictured) is None


def _unpictured(*, with_shapes: bool) -> float:
    return 1.0


def _pace(name: str, paths: list[Path]) -> Pace:
    pages = 0
    for path in paths:
        with pymupdf.open(path) as document:
            pages += document.page_count
    turns = [(_seconds(_bare, paths), _seconds(_parse, paths)) for _ in range(TURNS)]
    return Pace(
        name=name,
        pages=pages,
        bare=pages / statistics.median(bare for bare, _ in turns),
        ours=pages / statistics.median(ours for _, ours in turns),
        ratio=statistics.median(bare / ours for bare, ours in turns),
    )


def _seconds(read: Callable[[Path], None], paths: Iterable[Path]) -> float:
    """Processor time of this process, independent of other load."""
    began = time.process_time()
    for path in paths:
        read(path)
    return time.process_time() - began


def _bare(path: Path) -> None:
    with pymupdf.open(path) as document:
        for page in document:
            page.get_text()


def _parse(path: Path) -> None:
    for _ in pdf.parse(path):
        pass


async def _through_the_pool(path: Path) -> tuple[float, int]:
    """Seconds, and the worker's peak resident bytes."""
    async with parser_pool(workers=1, seconds=120, memory_bytes=1 << 30) as pool:
        with peak_memory() as peak:
            began = time.perf_counter()
            async for _ in pool.parse(corpus.blob_of(path)):
                pass
            return time.perf_counter() - began, peak[0]


if __name__ == "__main__":
    asyncio.run(measure())
