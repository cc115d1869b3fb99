"""Databases are copied as of one instant, then the originals."""

from __future__ import annotations

import glob
import sqlite3
import tempfile
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.data_directory.atomic_swap import remove
from bot.maintenance.backup_manifest import BackupManifest
from bot.maintenance.data_files import originals_of
from rag_engine.archive.zip_container import (
    MANIFEST,
    PART,
    Checksum,
    Member,
    blocks,
    translate_errors,
    writing,
)
from rag_engine.errors import UserError
from rag_engine.storage.sqlite import errors as sqlite_errors
from rag_engine.storage.sqlite.snapshots import snapshots

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bot.maintenance.data_files import DataFiles

_LEVEL: Final = 1  # vectors hardly compress at any level


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """Writing was blocked for `held_seconds`."""

    databases: int
    originals: int
    bytes: int
    held_seconds: float
    missing: int


def back_up(contents: DataFiles, file: Path, *, index: str, check: Callable[[], None]) -> BackedUp:
    """For its owner only; replaces an earlier `file` at the end.

    `check` may raise to stop. Raises `UserError` for an unwritable file or no data, `Misconfigured` for a damaged
    database, `StorageUnavailable` if others never stop writing.
    """
    databases = contents.databases()
    if not databases:
        raise UserError(f"There is nothing in {contents.data_dir} to back up.")
    with translate_errors(file, doing="written"):
        contents.spare(file)
    with translate_errors(file, doing="written"), _scratch(file) as scratch:
        schemas: dict[str, int] = {}
        with _translate_sqlite_errors(contents.data_dir, file), snapshots(databases) as opened:
            for path in databases:
                name = contents.name(path)
                schemas[name] = opened.copy(path, scratch / name, check=check)
        with writing(file, level=_LEVEL) as archive:
            packer = _Packer(archive, check)
            for name in schemas:
                packer.add(name, scratch / name)
                (scratch / name).unlink()
            missing = _add_originals(packer, contents)
            manifest = BackupManifest(
                footnote=version("footnote-bot"),
                made_at=time.time(),
                index=index,
                schemas=schemas,
                members=packer.members,
            )
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    return BackedUp(
        databases=len(schemas),
        originals=originals_of(packer.members),
        bytes=file.stat().st_size,
        held_seconds=opened.held_seconds,
        missing=missing,
    )


class _Packer:
    def __init__(self, archive: zipfile.ZipFile, check: Callable[[], None]) -> None:
        self.members: dict[str, Member] = {}
        self._archive = archive
        self._check = check

    def add(self, name: str, path: Path, *, compressed: bool = True) -> None:
        checksum = Checksum()
        # zipfile stores a `ZipInfo`, and compresses a member given by name.
        member = name if compressed else zipfile.ZipInfo(name)
        with path.open("rb") as source, self._archive.open(member, "w", force_zip64=True) as target:
            for block in blocks(source):
                self._check()
                checksum.update(block)
                target.write(block)
        self.members[name] = Member(bytes=checksum.bytes, sha256=checksum.sha256)


def _add_originals(packer: _Packer, contents: DataFiles) -> int:
    missing = 0
    for path in contents.originals():
        try:
            packer.add(contents.name(path), path, compressed=False)
        except FileNotFoundError:
            missing += 1
    return missing


@contextmanager
def _scratch(file: Path) -> Generator[Path]:
    prefix = f".{file.name}."
    for left in file.parent.glob(f"{glob.escape(prefix)}*{PART}"):
        remove(left)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=prefix, suffix=PART) as folder:
        yield Path(folder)


@contextmanager
def _translate_sqlite_errors(data_dir: Path, file: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        full = sqlite_errors.primary_code(error) == sqlite3.SQLITE_FULL
        with sqlite_errors.translate_errors(file.parent if full else data_dir):
            raise
