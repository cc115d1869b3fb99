from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from bot.maintenance import database_check
from bot.maintenance.backup_manifest import BACKUP, BackupManifest
from bot.maintenance.data_files import CATALOG, migrations
from rag_engine.archive import zip_container
from rag_engine.archive.zip_container import Checksum, blocks
from rag_engine.errors import BadSettings, SchemaMismatch, UserError
from rag_engine.storage.private_files import make_folder
from rag_engine.storage.sqlite import errors as sqlite_errors

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable, Generator
    from pathlib import Path

    from bot.maintenance.data_files import DataFiles
    from rag_engine.archive.zip_container import Member

_FREE_BYTES: Final = 16 << 20


@contextmanager
def opened(
    file: Path, contents: DataFiles, *, index: str
) -> Generator[tuple[zipfile.ZipFile, BackupManifest]]:
    """Raises `UserError` for a bad file, `SchemaMismatch` for a newer one, `BadSettings` for another index."""
    with zip_container.opened(
        file, BACKUP, parse=BackupManifest.model_validate_json, allows=contents.keeps
    ) as (archive, manifest):
        if manifest.index != index:
            raise BadSettings(
                f"{file.name} was made with the {manifest.index} index and the settings name {index}: set "
                f"FOOTNOTE_INDEX__KIND={manifest.index} to restore it."
            )
        if manifest.schemas.keys() != manifest.members.keys() & contents.schemas.keys():
            raise BACKUP.damaged(file, "its databases are not those of its manifest")
        if CATALOG not in manifest.schemas:
            raise BACKUP.damaged(file, f"it lacks {CATALOG}")
        for name, schema in manifest.schemas.items():
            _check_schema(file, name, schema, contents)
        yield archive, manifest


def unpack(
    file: Path,
    archive: zipfile.ZipFile,
    manifest: BackupManifest,
    contents: DataFiles,
    folder: Path,
    *,
    check: Callable[[], None],
) -> None:
    needed = sum(member.bytes for member in manifest.members.values())
    free = shutil.disk_usage(folder).free
    if needed + _FREE_BYTES > free:
        raise UserError(
            f"{file.name} needs {needed / 1e6:,.0f} MB in {contents.data_dir} and {free / 1e6:,.0f} MB are free: make room."
        )
    with BACKUP.translate_damage(file):
        for name, expected in manifest.members.items():
            _write(file, archive, name, expected, folder / name, check=check)
    for name, schema in manifest.schemas.items():
        _check_schema(file, name, _schema(file, folder / name), contents)
        scripts = migrations().get(name)
        if reason := database_check.fault(folder / name, schema=schema, scripts=scripts, check=check):
            raise BACKUP.damaged(file, reason)


def _write(
    file: Path,
    archive: zipfile.ZipFile,
    name: str,
    expected: Member,
    target: Path,
    *,
    check: Callable[[], None],
) -> None:
    checksum = Checksum()
    with archive.open(name) as source, sqlite_errors.translate_errors(target):
        for folder in (target.parent.parent, target.parent):
            make_folder(folder)
        with target.open("xb") as output:
            target.chmod(0o600)
            for block in blocks(source):
                check()
                checksum.update(block)
                if checksum.bytes > expected.bytes:
                    break
                output.write(block)
    if (checksum.bytes, checksum.sha256) != (expected.bytes, expected.sha256):
        raise BACKUP.damaged(file, f"{name} is not what the manifest says (its size or its SHA-256 differ)")


def _check_schema(file: Path, name: str, schema: int, contents: DataFiles) -> None:
    known = contents.schemas[name]
    if schema > known:
        raise SchemaMismatch(
            f"{file.name} was made by a newer Footnote ({name} has schema {schema}, this one knows {known}): update "
            "Footnote, then restore it."
        )


def _schema(file: Path, path: Path) -> int:
    try:
        with closing(sqlite3.connect(path)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.DatabaseError as error:
        raise BACKUP.damaged(file, f"{path.name} is no database") from error
