"""Parses the files of `../shared/docs` by type: `python -m benchmarks documents [--only TYPE OR PART OF A NAME ...]`.

`--retrieval` compares structural splitting with fixed-size chunks; `--anchors` checks that chunks name the location of facts;
`--speed` measures PDFs. Without options, all of it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from benchmarks.corpus import production_embedder
from benchmarks.documents import retrieval, speed
from tests.documents import anchors, corpus


async def reading(only: list[str]) -> int:
    """Prints the table; 1 if a required file fails."""
    found = await corpus.readings(corpus.manifest(only))
    print(corpus.table(found))
    slowest = max(found, key=lambda reading: reading.seconds)
    print(f"\nSlowest: {slowest.path}, {slowest.seconds:.1f} s")
    return 0 if all(reading.passed for reading in found) else 1


async def places() -> int:
    """Prints how many facts are cited to their location and lists the others; 1 if there are any."""
    facts = anchors.facts()
    async with production_embedder() as (_, splitter):
        files = {fact.file for fact in facts}
        read = await corpus.readings(row for row in corpus.manifest() if row["path"] in files)
        wrong = anchors.wrong_places(facts, read, splitter)
    formats = len({fact.format for fact in facts})
    print(
        f"\nAnchors: {len(facts) - len(wrong)} of {len(facts)} facts in {formats} kinds of files at the right place"
    )
    print("\n".join(wrong))
    return 1 if wrong else 0


async def main(arguments: argparse.Namespace) -> int:
    if not corpus.DOCUMENTS.is_dir():
        print("No documents beside the project.")
        return 0
    everything = not (arguments.only or arguments.anchors or arguments.retrieval or arguments.speed)
    failed = 0
    if arguments.only or everything:
        failed |= await reading(arguments.only)
    if arguments.anchors or everything:
        failed |= await places()
    if arguments.retrieval or everything:
        print(f"\n{retrieval.__doc__}")
        await retrieval.measure(verbose=arguments.misses)
    if arguments.speed or everything:
        print(f"\n{speed.__doc__}")
        failed |= not await speed.measure()
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="*", default=[], help="read only these types, or files with these parts of names"
    )
    parser.add_argument("--anchors", action="store_true", help="only the places that chunks name")
    parser.add_argument("--retrieval", action="store_true", help="only how well they are found")
    parser.add_argument(
        "--misses", action="store_true", help="also the questions whose passage is not the first"
    )
    parser.add_argument("--speed", action="store_true", help="only the speed of PDFs")
    sys.exit(asyncio.run(main(parser.parse_args())))
