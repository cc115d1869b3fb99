"""Writes a file that is made from the code, or with `--check` compares it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def write_or_compare(file: Path, content: str, *, script: str) -> int:
    """The exit code: 1 if `--check` is given and the file differs. `script` is the module that makes the file."""
    if "--check" not in sys.argv:
        file.write_text(content, encoding="utf-8")
    elif not file.exists() or file.read_text(encoding="utf-8") != content:
        name = file.relative_to(ROOT).as_posix()
        print(f"{name} is out of date: python -m scripts.{script}", file=sys.stderr)
        return 1
    return 0
