"""Databases as a new installation has them. They are copied, because making their tables takes most of a test's set-up."""

from __future__ import annotations

import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path

from rag_engine.storage.private_files import make_file
from rag_engine.storage.sqlite.migrations import migrate


def new_database(path: Path) -> Path:
    """`path`, with the tables of chat.sqlite or footnote.sqlite if there is no such file yet."""
    if not path.exists():
        make_file(path)
        path.write_bytes(_content("bot.store" if path.name == "chat.sqlite" else "rag_engine.storage"))
    return path


@cache
def _content(package: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.sqlite"
        migrate(path, files(package) / "sql")
        return path.read_bytes()
