"""What is read from the files of `../shared/docs`, by type: `python -m benchmarks documents [--only TYPE OR PART OF A NAME ...]`."""

from __future__ import annotations

import argparse
import asyncio
import sys

from tests.documents import corpus


async def main(only: list[str]) -> int:
    """Print the table; 1 when a file that must pass does not."""
    if not corpus.DOCUMENTS.is_dir():
        print("No documents beside the project.")
        return 0
    found = await corpus.readings(corpus.manifest(only))
    print(corpus.table(found))
    slowest = max(found, key=lambda reading: reading.seconds)
    print(f"\nSlowest: {slowest.path}, {slowest.seconds:.1f} s")
    return 0 if all(reading.passed for reading in found) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="types, or parts of names")
    arguments = parser.parse_args()
    sys.exit(asyncio.run(main(arguments.only)))
