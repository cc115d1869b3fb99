"""Databases of a backup that somebody else made, or that were damaged before they were packed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine.errors import UserError
from tests.unit.bot.maintenance import directories
from tests.unit.bot.maintenance.test_restore import added, backup, changed, put, there, told

if TYPE_CHECKING:
    from pathlib import Path

    from bot.maintenance.data_files import DataFiles
    from tests.unit.bot.maintenance.test_restore import Change, Members

__all__ = ["backup", "there"]


def pages_lost(members: Members, manifest: dict[str, Any]) -> None:
    content = members["footnote.sqlite"]
    added("footnote.sqlite", content[:4096] + b"A" * (len(content) - 4096))(members, manifest)


def no_databases(members: Members, manifest: dict[str, Any]) -> None:
    members.clear()
    manifest.update(members={}, schemas={})


def another_program(members: Members, manifest: dict[str, Any]) -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("CREATE TABLE songs (name TEXT)")
        made.execute(f"PRAGMA user_version = {manifest['schemas']['footnote.sqlite']}")
        added("footnote.sqlite", made.serialize())(members, manifest)


def trigger(members: Members, manifest: dict[str, Any]) -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        content = bytearray(members["chat.sqlite"])
        content[18:20] = b"\1\1"  # without a write-ahead log, which a database in memory cannot have
        made.deserialize(bytes(content))
        made.execute("CREATE TRIGGER own AFTER INSERT ON label BEGIN DELETE FROM answers; END")
        added("chat.sqlite", made.serialize())(members, manifest)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (added("chat.sqlite", b""), "chat.sqlite does not have the schema given in manifest.json"),
        (pages_lost, "footnote.sqlite is no sound database"),
        (another_program, "footnote.sqlite is another program's database"),
        (trigger, "chat.sqlite is another program's database"),
        (no_databases, "it lacks footnote.sqlite"),
        (told(made_at=1e300), "manifest.json: made_at: Input should be less than"),
    ],
)
def test_it_is_refused_before_anything_is_touched(
    backup: Path, there: DataFiles, tmp_path: Path, change: Change, sentence: str
) -> None:
    file = changed(backup, tmp_path / "changed.zip", change)
    before = directories.files_of(tmp_path)
    with pytest.raises(UserError) as refused:
        put(there, file)
    assert sentence in str(refused.value)
    assert directories.files_of(tmp_path) == before
