"""Every benchmark in turn, each in a process of its own: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NAMES = ("embedding", "index", "retrieval", "ingestion", "citations", "extraction", "startup")


def main() -> int:
    """Run the named benchmarks, or all; a failing one does not stop the others."""
    chosen = sys.argv[1:] or NAMES
    failed = 0
    for name in chosen:
        print(f"\n## {name}\n", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        failed |= subprocess.run(command, cwd=Path(__file__).parents[1], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
