"""Every benchmark in turn, each in a process of its own: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMANDS = (
    "retrieval --quality",
    "embedding",
    "index",
    "retrieval",
    "elastic --quality",
    "elastic",
    "vector_index_options",
    "ingestion",
    "startup",
    "citations",
    "extraction",
    "hostile",
    "chat",
)


def main() -> int:
    """Run the named benchmarks, or all; a failing one does not stop the others."""
    failed = 0
    for command in sys.argv[1:] or COMMANDS:
        print(f"\n## {command}\n", flush=True)
        name, *arguments = command.split()
        process = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
        failed |= subprocess.run(process, cwd=Path(__file__).parents[1], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
