"""A backup is restored whole or not at all; what is no sound backup is refused before anything is touched."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from bot.data_directory import data_lock
from bot.maintenance import data_files
from bot.maintenance.backup import back_up
from bot.maintenance.restore import restore
from rag_engine.errors import (
    BadSettings,
    EncryptedFile,
    RagError,
    SchemaMismatch,
    StorageUnavailable,
    UserError,
)
from tests.unit.bot.maintenance import directories
from tests.unit.bot.maintenance.directories import PDF, wanted
from tests.unit.storage import programs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.maintenance.data_files import DataFiles

    Members = dict[str, bytes]
    Change = Callable[[Members, dict[str, Any]], None]


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound backup that says "new"."""
    folder = tmp_path_factory.mktemp("backup")
    file = folder / "backup.zip"
    back_up(directories.make(folder / "data", label="new"), file, index="embedded", check=wanted)
    return file


@pytest.fixture
def there(tmp_path: Path) -> DataFiles:
    """A directory that says "old"."""
    return directories.make(tmp_path / "data", label="old")


def put(there: DataFiles, file: Path, *, replace: bool = True) -> None:
    restore(there, file, index="embedded", replace=replace, check=wanted)


def changed(backup: Path, target: Path, change: Change) -> Path:
    """The backup with another content, with the manifest made to agree where the change did not."""
    with zipfile.ZipFile(backup) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(members, manifest)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        if manifest:
            archive.writestr("manifest.json", json.dumps(manifest))
    return target


def added(name: str, content: bytes = b"%PDF") -> Change:
    def change(members: Members, manifest: dict[str, Any]) -> None:
        members[name] = content
        manifest["members"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    return change


def another(name: str, content: bytes) -> Change:
    def change(members: Members, manifest: dict[str, Any]) -> None:
        members[name] = content

    return change


def told(**values: object) -> Change:
    def change(members: Members, manifest: dict[str, Any]) -> None:
        manifest.update(values)

    return change


def newer_inside(members: Members, manifest: dict[str, Any]) -> None:
    """The manifest lies about the schema of a database."""
    content = bytearray(members["chat.sqlite"])
    content[60:64] = (7000).to_bytes(4, "big")
    added("chat.sqlite", bytes(content))(members, manifest)


def one_byte(members: Members, manifest: dict[str, Any]) -> None:
    content = bytearray(members["index.sqlite"])
    content[-1] ^= 1
    members["index.sqlite"] = bytes(content)


def bomb(members: Members, manifest: dict[str, Any]) -> None:
    """It unpacks to far more than the manifest says."""
    name = f"originals/{'c' * 64}.pdf"
    members[name] = bytes(50_000_000)
    manifest["members"][name] = {"bytes": 1000, "sha256": hashlib.sha256(b"").hexdigest()}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(added("../evil.sqlite"), "holds '../evil.sqlite', which no backup", id="above"),
        pytest.param(added("/tmp/evil.pdf"), "holds '/tmp/evil.pdf', which no backup", id="absolute"),
        pytest.param(added(f"originals/../{PDF}.pdf"), "which no backup", id="back up again"),
        pytest.param(added(f"originals/{PDF}.pdf/x"), "which no backup", id="below a file"),
        pytest.param(added("index.lock"), "holds 'index.lock', which no backup", id="a lock"),
        pytest.param(added(".env"), "holds '.env', which no backup", id="settings"),
        pytest.param(
            another(f"originals/{'d' * 64}.pdf", b"x"),
            "manifest.json does not name originals/ddd",
            id="unnamed",
        ),
        pytest.param(
            lambda members, _: members.pop("chat.sqlite") and None,
            "it lacks chat.sqlite",
            id="one is missing",
        ),
        pytest.param(one_byte, "index.sqlite is not what the manifest says", id="one byte is another"),
        pytest.param(bomb, "does not have the size given in manifest.json", id="a bomb"),
        pytest.param(
            told(version=2, footnote="9.0"), "was made by a newer Footnote (9.0): update", id="newer format"
        ),
        pytest.param(
            told(schemas={"footnote.sqlite": 7000, "chat.sqlite": 1, "vectors.sqlite": 1, "index.sqlite": 1}),
            "(footnote.sqlite has schema 7000, this one knows",
            id="newer schema",
        ),
        pytest.param(newer_inside, "(chat.sqlite has schema 7000, this one knows", id="a schema that lies"),
        pytest.param(
            added("chat.sqlite", b"no database at all" * 9), "chat.sqlite is no database", id="no database"
        ),
        pytest.param(told(version=0), "manifest.json: version: Input should be greater", id="format 0"),
        pytest.param(told(members=7), "manifest.json: members: Input should be", id="no manifest of ours"),
        pytest.param(lambda _, manifest: manifest.clear(), "it lacks manifest.json", id="no manifest"),
        pytest.param(
            told(index="elasticsearch"),
            "set FOOTNOTE_INDEX__KIND=elasticsearch to restore it",
            id="other index",
        ),
    ],
)
def test_what_is_no_backup_of_ours_is_refused_before_anything_is_touched(
    backup: Path, there: DataFiles, tmp_path: Path, change: Change, sentence: str
) -> None:
    file = changed(backup, tmp_path / "changed.zip", change)
    before = directories.files_of(tmp_path)
    with pytest.raises(RagError) as refused:
        put(there, file)
    assert sentence in str(refused.value)
    assert isinstance(refused.value, UserError | SchemaMismatch | BadSettings)
    assert directories.files_of(tmp_path) == before


@pytest.mark.parametrize("kept_bytes", [0, 100, 5_000, -30])
def test_what_was_cut_short_is_refused(
    backup: Path, there: DataFiles, tmp_path: Path, kept_bytes: int
) -> None:
    file = tmp_path / "cut.zip"
    file.write_bytes(backup.read_bytes()[:kept_bytes])
    before = directories.files_of(tmp_path)
    with pytest.raises(UserError, match="damaged, or no backup of Footnote"):
        put(there, file)
    assert directories.files_of(tmp_path) == before


def test_a_password_is_refused_before_anything_is_touched(
    backup: Path, there: DataFiles, tmp_path: Path
) -> None:
    content = bytearray(backup.read_bytes())
    for entry in re.finditer(b"PK\x01\x02", bytes(content)):
        content[entry.start() + 8] |= 1
    file = tmp_path / "locked.zip"
    file.write_bytes(content)
    before = directories.files_of(tmp_path)
    with pytest.raises(EncryptedFile, match=r"locked\.zip is protected by a password, which no backup is"):
        put(there, file)
    assert directories.files_of(tmp_path) == before


def test_links_in_an_archive_lead_nowhere(backup: Path, there: DataFiles, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    file = changed(backup, tmp_path / "changed.zip", lambda members, manifest: None)
    link = zipfile.ZipInfo(f"originals/{'e' * 64}.pdf")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    target = os.fsencode(outside)
    added(link.filename, target)({}, manifest)

    def relink(members: Members, told: dict[str, Any]) -> None:
        told.clear()
        told.update(manifest)

    file = changed(backup, tmp_path / "linked.zip", relink)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(link, target)
    put(there, file)
    unpacked = there.data_dir / link.filename
    assert unpacked.read_bytes() == target
    assert not unpacked.is_symlink()
    assert outside.read_bytes() == b"mine"


def test_an_archive_of_much_more_than_there_is_room_for_is_refused(
    backup: Path, there: DataFiles, tmp_path: Path
) -> None:
    def lie(members: Members, manifest: dict[str, Any]) -> None:
        manifest["members"]["chat.sqlite"]["bytes"] = 1 << 60

    file = changed(backup, tmp_path / "changed.zip", lie)
    _claim_size(file, "chat.sqlite", (1 << 32) - 2)
    with pytest.raises(UserError, match=r"needs [\d,]+ MB in .* free: make room|does not have the size"):
        put(there, file)
    assert set(directories.labels(there.data_dir).values()) == {"old"}


def _claim_size(file: Path, name: str, size: int) -> None:
    """Let the list of the archive claim another size of a member."""
    content = bytearray(file.read_bytes())
    place = content.rindex(b"PK\x01\x02", 0, content.rindex(name.encode()))
    content[place + 24 : place + 28] = size.to_bytes(4, "little")
    file.write_bytes(content)


def test_what_is_there_stays_unless_it_is_to_be_replaced(backup: Path, there: DataFiles) -> None:
    with pytest.raises(
        UserError, match=r".* already holds data: `--replace` deletes it and restores the backup"
    ):
        put(there, backup, replace=False)
    assert set(directories.labels(there.data_dir).values()) == {"old"}
    (there.data_dir / "chat.sqlite.schema-1.backup").write_bytes(b"old")
    (there.data_dir / f"originals/{'f' * 64}.pdf").write_bytes(b"%PDF of old")
    (there.data_dir / "mine.txt").write_bytes(b"no file of Footnote")
    put(there, backup)
    assert set(directories.labels(there.data_dir).values()) == {"new"}
    assert sorted(path.name for path in there.data_dir.iterdir()) == sorted(
        [*directories.SCRIPTS, directories.INDEX, "originals", "workers", "mine.txt"]
    )


def test_nothing_that_was_under_way_is_taken_up_again(tmp_path: Path) -> None:
    there = directories.make(tmp_path / "data", label="old")
    file, chat = tmp_path / "b.zip", there.data_dir / data_files.CHAT
    with closing(sqlite3.connect(chat)) as database, database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(answers)")]
        for state in ("received", "placeholder", "streaming", "final"):
            values = dict.fromkeys(columns, 0) | {"id": state, "message": state, "state": state}
            marks = ", ".join("?" * len(values))
            database.execute(f"INSERT INTO answers VALUES ({marks})", list(values.values()))  # noqa: S608 - marks only
        database.execute("INSERT INTO inbox (platform, event, payload, at) VALUES ('slack', 'E1', '{}', 1)")
        database.execute("INSERT INTO heard (platform, at) VALUES ('slack', 5)")
    back_up(there, file, index="embedded", check=wanted)
    put(there, file)
    with closing(sqlite3.connect(chat)) as database:
        states = dict(database.execute("SELECT id, state FROM answers"))
        assert states == {
            "received": "stopped",
            "placeholder": "stopped",
            "streaming": "stopped",
            "final": "final",
        }
        assert database.execute("SELECT count(*) FROM inbox").fetchone() == (0,)
        assert database.execute("SELECT at > 1e9 FROM heard").fetchone() == (1,)


def test_a_backup_from_before_there_was_a_chat_is_restored(tmp_path: Path, there: DataFiles) -> None:
    early = directories.make(tmp_path / "early", label="new", chat=False)
    back_up(early, tmp_path / "b.zip", index="embedded", check=wanted)
    put(there, tmp_path / "b.zip")
    assert set(directories.labels(there.data_dir).values()) == {"new"}
    assert not (there.data_dir / data_files.CHAT).exists()


RESTORE = """
import os, shutil, signal, sys
from pathlib import Path
from bot.maintenance.restore import restore
from tests.unit.bot.maintenance import directories

file, template, folder = map(Path, sys.argv[1:])
EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate"}

def restore_killed(there, at):
    seen = 0
    def killing(event, arguments):
        nonlocal seen
        if event in EVENTS:
            seen += 1
            if seen == at:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(killing)
    restore(there, file, index="embedded", replace=True, check=directories.wanted)

for number in range(1, 1000):
    data_dir = folder / str(number)
    shutil.copytree(template, data_dir)
    child = os.fork()
    if child == 0:
        try:
            restore_killed(directories.of(data_dir), number)
        finally:
            os._exit(3 if sys.exc_info()[0] else 0)
    _, status = os.waitpid(child, 0)
    print(os.WTERMSIG(status) or f"exit {os.WEXITSTATUS(status)}", flush=True)
    if not os.WTERMSIG(status):
        break
"""
"""Killed at each of its accesses to the file system, one process after the other, until one comes to its end."""


@pytest.mark.process
async def test_killed_at_any_step_it_is_the_old_content_or_the_new(
    backup: Path, there: DataFiles, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    folder.mkdir()
    process = await programs.start(RESTORE, backup, there.data_dir, folder)
    printed, complaints = await programs.end(process)
    assert complaints == ""
    *kills, last = printed.split("\n")[:-1]
    assert (set(kills), last) == ({"9"}, "exit 0")
    assert len(kills) > 30
    outcomes: list[str] = []
    for number in range(1, len(kills) + 1):
        data_dir = folder / str(number)
        async with data_lock.in_use(data_dir):
            [outcome] = set(directories.labels(data_dir).values())
            outcomes.append(outcome)
        assert not (data_dir / "restored").exists()
        assert sorted(directories.labels(data_dir)) == sorted(
            [*directories.SCRIPTS, directories.INDEX, f"{PDF}.pdf"]
        )
        # Done again, it comes to its end.
        put(directories.of(data_dir), backup)
        assert set(directories.labels(data_dir).values()) == {"new"}
        assert not list(data_dir.glob("restor*"))
    assert outcomes == sorted(outcomes, reverse=True), "once it was decided, it stayed so"
    assert set(outcomes) == {"old", "new"}


async def test_nobody_uses_the_directory_meanwhile(there: DataFiles) -> None:
    async with data_lock.in_use(there.data_dir):
        with pytest.raises(StorageUnavailable, match=r"Another Footnote program uses .*; stop it"):
            async with data_lock.alone(there.data_dir, seconds=0.1):
                pass
        async with data_lock.in_use(there.data_dir, seconds=0.1):
            pass
    async with data_lock.alone(there.data_dir, seconds=0.1):
        with pytest.raises(StorageUnavailable, match="A backup is being restored into"):
            async with data_lock.in_use(there.data_dir, seconds=0.1):
                pass
