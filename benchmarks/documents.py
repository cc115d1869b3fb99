"""What is read from the files of `../shared/docs`, by type: `python -m benchmarks documents [--only TYPE OR PART OF A NAME ...]`.

`--retrieval` prints how well the files are found, split along their structure and in chunks of a fixed size.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from benchmarks import document_retrieval
from tests.documents import corpus


async def reading(only: list[str]) -> int:
    """Print the table; 1 when a file that must pass does not."""
    found = await corpus.readings(corpus.manifest(only))
    print(corpus.table(found))
    slowest = max(found, key=lambda reading: reading.seconds)
    print(f"\nSlowest: {slowest.path}, {slowest.seconds:.1f} s")
    return 0 if all(reading.passed for reading in found) else 1


async def main(arguments: argparse.Namespace) -> int:
    """What was asked for, or everything."""
    if not corpus.DOCUMENTS.is_dir():
        print("No documents beside the project.")
        return 0
    everything = not (arguments.only or arguments.retrieval)
    failed = 0
    if arguments.only or everything:
        failed |= await reading(arguments.only)
    if arguments.retrieval or everything:
        print(f"\n{document_retrieval.__doc__}")
        await document_retrieval.measure(verbose=arguments.misses)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="*", default=[], help="read only these types, or files with these parts of names"
    )
    parser.add_argument("--retrieval", action="store_true", help="only how well they are found")
    parser.add_argument(
        "--misses", action="store_true", help="also the questions whose passage is not the first"
    )
    sys.exit(asyncio.run(main(parser.parse_args())))
