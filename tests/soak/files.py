"""Every file of the corpus beside the project, and every file made to harm, read within the program's own limits."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.settings import ParsingSettings
from rag_engine.parsing.pool import parser_pool
from tests.conftest import SHARED
from tests.hostile.every import FILES
from tests.hostile.watching import Outcome, peak_memory, read

if TYPE_CHECKING:
    from pathlib import Path

_LATE_SECONDS: Final = 10.0
"""By which a busy machine may notice the limit later."""
_MOST_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One file, and the most memory that was held for it."""

    outcome: Outcome
    peak: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The results of all; `left` is what they wrote anywhere."""

    files: list[Read]
    left: list[str]
    limit_seconds: float

    def failures(self) -> list[str]:
        """What must not be; nothing when all is well."""
        late = [
            f"{each.outcome}"
            for each in self.files
            if each.outcome.seconds > self.limit_seconds + _LATE_SECONDS
        ]
        large = [f"{each.outcome}: {each.peak >> 20} MB" for each in self.files if each.peak > _MOST_BYTES]
        odd = [
            f"{each.outcome}"
            for each in self.files
            if each.outcome.kind != "text" and "\n" in each.outcome.sentence
        ]
        return [*late, *large, *odd, *self.left]

    def lines(self) -> list[str]:
        """The report for people: the kinds, the worst, and what failed."""
        kinds = Counter(each.outcome.kind for each in self.files)
        slowest = max(self.files, key=lambda each: each.outcome.seconds)
        largest = max(self.files, key=lambda each: each.peak)
        return [
            f"{len(self.files)} files: "
            + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()),
            f"slowest {slowest.outcome.seconds:.1f} s ({slowest.outcome.name}), "
            f"most memory {largest.peak >> 20} MB ({largest.outcome.name}), written outside: {len(self.left)}",
            *self.failures(),
        ]


async def every_file(folder: Path) -> Report:
    """Read them one after the other, each with a temporary folder that must be empty again at the end."""
    made = folder / "made"
    made.mkdir()
    for name, make in FILES.items():
        (made / name).write_bytes(make())
    corpus = SHARED / "docs"
    paths = sorted(path for path in corpus.rglob("*") if path.is_file()) if corpus.is_dir() else []
    paths += sorted(made.iterdir())
    limits = ParsingSettings()
    temporary = folder / "temporary"
    temporary.mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(temporary)
    read_so_far: list[Read] = []
    try:
        for path in paths:
            with peak_memory() as peak:
                pool = parser_pool(workers=1, seconds=limits.seconds, memory_bytes=limits.memory_mb << 20)
                async with pool as opened:
                    outcome = await read(opened, path)
            read_so_far.append(Read(outcome=outcome, peak=peak[0]))
    finally:
        tempfile.tempdir = before
    left = [str(path.relative_to(temporary)) for path in temporary.rglob("*")]
    return Report(files=read_so_far, left=left, limit_seconds=limits.seconds)
