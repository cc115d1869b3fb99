"""A backup is one file, for its owner alone, whole or not there at all."""

from __future__ import annotations

import sqlite3
import stat
import zipfile
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.maintenance import backup, blocking_work, data_files
from bot.maintenance.restore import restore
from rag_engine.errors import Misconfigured, UserError
from tests.unit.bot.maintenance import directories
from tests.unit.bot.maintenance.directories import PDF, wanted
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

BACK_UP = """
import resource, sys
from pathlib import Path
from bot.maintenance.backup import back_up
from rag_engine.errors import RagError
from tests.unit.bot.maintenance import directories

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    back_up(directories.of(Path(sys.argv[1])), Path(sys.argv[2]), index="embedded", check=directories.wanted)
except RagError as error:
    print(error)
"""


def earlier_backup(file: Path) -> bytes:
    """The file's content now."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", "an earlier one")
    return file.read_bytes()


def test_what_was_backed_up_is_what_is_restored(tmp_path: Path) -> None:
    there = directories.make(tmp_path / "data", label="old")
    file = tmp_path / "kept" / "backup.zip"
    file.parent.mkdir()
    made = backup.back_up(there, file, index="embedded", check=wanted)
    assert (made.databases, made.originals, made.missing, made.bytes) == (4, 1, 0, file.stat().st_size)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]
    other = directories.of(tmp_path / "other")
    other.data_dir.mkdir()
    restored = restore(other, file, index="embedded", replace=False, check=wanted)
    assert (restored.databases, restored.originals) == (4, 1)
    assert directories.labels(other.data_dir) == directories.labels(there.data_dir)
    assert not list(other.data_dir.glob("restor*"))


def test_files_of_tables_are_restored_and_are_no_pdfs(tmp_path: Path) -> None:
    there = directories.make(tmp_path / "data", label="old")
    table = there.data_dir / "tables" / "base" / "document.sqlite"
    table.parent.mkdir(parents=True)
    table.write_bytes(b"rows")
    file, other = tmp_path / "backup.zip", directories.of(tmp_path / "other")
    other.data_dir.mkdir()
    assert backup.back_up(there, file, index="embedded", check=wanted).originals == 1
    assert restore(other, file, index="embedded", replace=False, check=wanted).originals == 1
    restored = other.data_dir / "tables" / "base" / "document.sqlite"
    assert restored.read_bytes() == b"rows"
    assert (
        stat.S_IMODE(restored.parent.parent.stat().st_mode)
        == stat.S_IMODE(restored.parent.stat().st_mode)
        == 0o700
    )


def test_a_backup_holds_no_locks_no_keys_and_no_weights(tmp_path: Path) -> None:
    there = directories.make(tmp_path / "data", label="old")
    for name in (".env", "models/weights.onnx", "rebuilding/index.sqlite", "chat.sqlite.schema-1.backup"):
        (there.data_dir / name).parent.mkdir(exist_ok=True)
        (there.data_dir / name).write_bytes(b"secret")
    (there.data_dir / "originals" / "notes.txt").write_bytes(b"of somebody else")
    file = tmp_path / "backup.zip"
    backup.back_up(there, file, index="embedded", check=wanted)
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == sorted(
            [*directories.SCRIPTS, directories.INDEX, f"originals/{PDF}.pdf", "manifest.json"]
        )


def test_a_directory_without_anything_in_it_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"There is nothing in .*data to back up\."):
        backup.back_up(directories.of(tmp_path / "data"), tmp_path / "b.zip", index="embedded", check=wanted)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", [20_000, 190_000], ids=["while it copies", "while it packs"])
@pytest.mark.process
async def test_a_disk_that_is_full_leaves_the_earlier_backup_and_nothing_else(
    tmp_path: Path, limit: int
) -> None:
    there = directories.make(tmp_path / "data", label="old")
    big = there.data_dir / "originals" / f"{'b' * 64}.pdf"
    big.write_bytes(b"%PDF of " + b"old" * 80_000)
    folder = tmp_path / "kept"
    folder.mkdir()
    file = folder / "backup.zip"
    earlier = earlier_backup(file)
    process = await programs.start(BACK_UP, there.data_dir, file, limit)
    printed, complaints = await programs.end(process)
    assert complaints == ""
    assert printed.count("\n") == 1
    assert "cannot be written: file too large." in printed or "disk" in printed
    assert directories.files_of(folder) == {"backup.zip": earlier}
    assert directories.labels(there.data_dir)[data_files.CATALOG] == "old"


def test_what_a_killed_backup_left_is_removed_by_the_next(tmp_path: Path) -> None:
    there = directories.make(tmp_path / "data", label="old")
    file = tmp_path / "backup.zip"
    (tmp_path / ".backup.zip.abc.part").mkdir()
    (tmp_path / ".backup.zip.abc.part" / "chat.sqlite").write_bytes(b"half of it")
    (tmp_path / ".backup.zip.def.part").write_bytes(b"half of it")
    backup.back_up(there, file, index="embedded", check=wanted)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.zip", "data"]


def test_a_damaged_database_is_not_backed_up_over_a_good_backup(tmp_path: Path) -> None:
    there = directories.make(tmp_path / "data", label="old")
    file = tmp_path / "backup.zip"
    earlier = earlier_backup(file)
    content = bytearray((there.data_dir / data_files.CATALOG).read_bytes())
    content[4096:8192] = bytes(range(256)) * 16
    (there.data_dir / data_files.CATALOG).write_bytes(content)
    with pytest.raises(Misconfigured, match="is damaged"):
        backup.back_up(there, file, index="embedded", check=wanted)
    assert file.read_bytes() == earlier


@pytest.mark.parametrize(
    "name", ["data/footnote.sqlite", "data/directory.lock", "data/absent.sqlite", "notes.md"]
)
def test_nothing_but_an_earlier_backup_is_replaced(tmp_path: Path, name: str) -> None:
    there = directories.make(tmp_path / "data", label="old")
    (tmp_path / "notes.md").write_text("Mine.", encoding="utf-8")
    (there.data_dir / "directory.lock").write_text("held", encoding="utf-8")
    there = replace(there, schemas={**there.schemas, "absent.sqlite": 1})
    before = directories.files_of(tmp_path)
    with pytest.raises(UserError, match="would overwrite"):
        backup.back_up(there, tmp_path / name, index="embedded", check=wanted)
    assert directories.files_of(tmp_path) == before


def test_who_stops_waiting_ends_it_and_finds_nothing_left(tmp_path: Path) -> None:
    there = directories.make(tmp_path / "data", label="old")

    def interrupted() -> None:
        raise blocking_work.WorkAbandoned

    with pytest.raises(blocking_work.WorkAbandoned):
        backup.back_up(there, tmp_path / "b.zip", index="embedded", check=interrupted)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    with closing(sqlite3.connect(there.data_dir / data_files.CHAT)) as database, database:
        database.execute("INSERT INTO label VALUES ('it can be written again')")
