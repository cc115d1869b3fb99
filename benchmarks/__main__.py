"""Runs every benchmark in its own process: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMANDS = (
    "retrieval --quality",
    "embedding",
    "index",
    "answers.understanding",
    "retrieval",
    "elastic --quality",
    "elastic",
    "elastic.vector_index_options",
    "ingestion",
    "documents",
    "startup",
    "answers.citations",
    "answers.extraction",
    "answers.tables",
    "answers.table_questions",
    "answers.research",
    "answers.ordinary",
    "graph",
    "documents.hostile",
    "chat",
)


def _commands(words: list[str]) -> list[str]:
    """The named commands; options belong to the name before them."""
    commands: list[str] = []
    for word in words:
        if commands and (word.startswith("-") or " -" in commands[-1]):
            commands[-1] += f" {word}"
        else:
            commands.append(word)
    return commands or list(COMMANDS)


def main() -> int:
    """Runs the named benchmarks, or all, even if one fails."""
    failed = 0
    for command in _commands(sys.argv[1:]):
        print(f"\n## {command}\n", flush=True)
        name, *arguments = command.split()
        process = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
        failed |= subprocess.run(process, cwd=Path(__file__).parents[1], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
