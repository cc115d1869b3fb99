"""The long runs: `python -m tests.soak [turns] [ingest] [files] [day]`, all of them without a name. The exit code is 1 when one fails."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.doubles.chats import PLATFORMS
from tests.faults.add_killed import killed_and_repeated
from tests.faults.random_kills import random_kills
from tests.soak.day import day
from tests.soak.files import every_file

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping


async def _turns(folder: Path, chosen: argparse.Namespace) -> bool:
    """Killed while it answers, on each platform."""
    flawless = True
    for platform in PLATFORMS:
        (folder / platform).mkdir()
        figures = await random_kills(platform, folder / platform, moments=chosen.moments, seed=chosen.seed)
        caught = ", ".join(f"{number} {state}" for state, number in figures.caught.most_common())
        print(
            f"turns on {platform}: {figures.moments} kills, {figures.questions} questions ({caught}); unanswered "
            f"{len(figures.unanswered)}, doubled {len(figures.doubled)}, orphaned {len(figures.orphaned)}"
        )
        flawless = flawless and figures.flawless
    return flawless


async def _ingest(folder: Path, chosen: argparse.Namespace) -> bool:
    """Killed while it reads files."""
    outcome = await killed_and_repeated(folder, moments=chosen.moments, seed=chosen.seed)
    print(
        f"ingest: {outcome.kills} kills, {outcome.documents} documents, {outcome.passages:,} passages; "
        f"{'equal' if outcome.equal else 'NOT equal'} to one go, left over: {', '.join(outcome.left) or 'nothing'}"
    )
    return outcome.equal and not outcome.left


async def _files(folder: Path, chosen: argparse.Namespace) -> bool:
    """Every file that is there, the hostile ones too, within the limits that people have."""
    report = await every_file(folder)
    print(*report.lines(), sep="\n")
    return not report.failures()


async def _day(folder: Path, chosen: argparse.Namespace) -> bool:
    """A day in fast motion."""
    report = await day(folder, questions=chosen.questions, files=chosen.files, seed=chosen.seed)
    print(*report.lines(), sep="\n")
    print(*report.failures(), sep="\n", end="\n" if report.failures() else "")
    if chosen.log is not None:
        chosen.log.write_text(report.log, encoding="utf-8")
    return not report.failures()


_RUNS: Final[Mapping[str, Callable[[Path, argparse.Namespace], Awaitable[bool]]]] = {
    "turns": _turns,
    "ingest": _ingest,
    "files": _files,
    "day": _day,
}


def main() -> int:
    """Run what was named, or everything."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"{', '.join(_RUNS)} (all)")
    parser.add_argument("--moments", type=int, default=50, help="of killing, in turns and ingest (50)")
    parser.add_argument("--questions", type=int, default=5000, help="of the day (5000)")
    parser.add_argument("--files", type=int, default=500, help="of the day (500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="where the log of the day's bot is kept")
    chosen = parser.parse_args()
    unknown = set(chosen.runs) - _RUNS.keys()
    if unknown:
        parser.error(f"there is no run {', '.join(sorted(unknown))}")
    failed: list[str] = []
    for name in chosen.runs or _RUNS:
        with tempfile.TemporaryDirectory(prefix=f"footnote-soak-{name}-") as folder:
            if not asyncio.run(_RUNS[name](Path(folder), chosen)):
                failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
