"""A backup of a data directory, made while other programs go on using it.

All databases are copied as they were at one instant: what a machine that stopped then would have left, which the order of all
writing makes harmless. The PDFs come after, as they never change: one that was removed meanwhile is missing, which costs the
pictures of its pages.
"""

from __future__ import annotations

import glob
import hashlib
import os
import secrets
import sqlite3
import tempfile
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.keeping.switching import remove
from bot.keeping.wire import MANIFEST, Manifest, Member, blocks
from rag_engine.archive.wire import translate_errors
from rag_engine.errors import UserError
from rag_engine.storage import faults
from rag_engine.storage.snapshots import snapshots

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bot.keeping.contents import Contents

_QUICKLY: Final = 1
"""The level of compression: vectors hardly get smaller however long one tries."""
_PART: Final = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """What a backup holds. Nobody could write to the databases for `held_seconds`."""

    databases: int
    originals: int
    bytes: int
    """Of the file."""
    held_seconds: float
    missing: int
    """PDFs that were removed while the backup was made."""


def back_up(contents: Contents, file: Path, *, index: str, check: Callable[[], None]) -> BackedUp:
    """Write the backup `file`, readable by its owner alone; it appears whole, or not at all. Synchronous: run it in a thread.

    `check` is called now and then, and may raise to end it. Raises `UserError` when the file cannot be written or there is
    nothing to back up, `Misconfigured` when a database is damaged, `StorageUnavailable` when others never cease to write.
    """
    databases = contents.databases()
    if not databases:
        raise UserError(f"There is nothing in {contents.data_dir} to back up.")
    with translate_errors(file, doing="written"):
        contents.spare(file)
    with translate_errors(file, doing="written"), _scratch(file) as scratch:
        schemas: dict[str, int] = {}
        with _told(contents.data_dir, file), snapshots(databases) as opened:
            for path in databases:
                name = contents.name(path)
                schemas[name] = opened.copy(path, scratch / name, check=check)
        with _appearing(file) as archive:
            packed = _Packed(archive, check)
            for name in schemas:
                packed.add(name, scratch / name)
                (scratch / name).unlink()
            missing = _add_originals(packed, contents)
            manifest = Manifest(
                footnote=version("footnote-bot"),
                made_at=time.time(),
                index=index,
                schemas=schemas,
                members=packed.members,
            )
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    return BackedUp(
        databases=len(schemas),
        originals=len(packed.members) - len(schemas),
        bytes=file.stat().st_size,
        held_seconds=opened.held_seconds,
        missing=missing,
    )


class _Packed:
    """The members of an archive so far."""

    def __init__(self, archive: zipfile.ZipFile, check: Callable[[], None]) -> None:
        self.members: dict[str, Member] = {}
        self._archive = archive
        self._check = check

    def add(self, name: str, path: Path, *, compressed: bool = True) -> None:
        """Pack a file, block by block. Raises `FileNotFoundError` where there is none."""
        digest, size = hashlib.sha256(), 0
        # A member that is given by its name alone is compressed as the archive says, one that is given so is not.
        member = name if compressed else zipfile.ZipInfo(name)
        with path.open("rb") as source, self._archive.open(member, "w", force_zip64=True) as target:
            for block in blocks(source):
                self._check()
                digest.update(block)
                size += len(block)
                target.write(block)
        self.members[name] = Member(bytes=size, sha256=digest.hexdigest())


def _add_originals(packed: _Packed, contents: Contents) -> int:
    missing = 0
    for path in contents.originals():
        try:
            packed.add(contents.name(path), path, compressed=False)
        except FileNotFoundError:
            missing += 1
    return missing


@contextmanager
def _scratch(file: Path) -> Generator[Path]:
    """A folder beside the file, for its owner alone; those that killed programs left there are removed."""
    prefix = f".{file.name}."
    for left in file.parent.glob(f"{glob.escape(prefix)}*{_PART}"):
        remove(left)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=prefix, suffix=_PART) as folder:
        yield Path(folder)


@contextmanager
def _appearing(file: Path) -> Generator[zipfile.ZipFile]:
    """An archive that stands there under its name once it is whole and on the disk."""
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}{_PART}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as output:
            with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=_QUICKLY) as archive:
                yield archive
            output.flush()
            os.fsync(output.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _told(data_dir: Path, file: Path) -> Generator[None]:
    """What SQLite says while it copies, as a sentence: a full disk is that of the backup, all else is the data directory's."""
    try:
        yield
    except sqlite3.Error as error:
        full = faults.primary_code(error) == sqlite3.SQLITE_FULL
        with faults.translate_errors(file.parent if full else data_dir):
            raise
