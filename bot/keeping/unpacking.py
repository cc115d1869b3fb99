"""Reading a backup: all of it is checked, nothing in it is believed, and only files that a data directory has are written."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import zipfile
import zlib
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from bot.keeping.wire import MANIFEST, MANIFEST_BYTES, VERSION, Manifest, ManifestVersion, blocks, damaged
from rag_engine.archive.wire import translate_errors
from rag_engine.errors import BadSettings, SchemaMismatch, UnsupportedFile, UserError
from rag_engine.storage import faults

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from bot.keeping.contents import Contents
    from bot.keeping.wire import Member

_READABLE: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1
_SPARE: Final = 16 << 20
"""Bytes that stay free on the disk."""


@contextmanager
def opened(file: Path, contents: Contents, *, index: str) -> Generator[tuple[zipfile.ZipFile, Manifest]]:
    """A backup that this Footnote with its index can restore, as far as its manifest and its list of members tell.

    Raises a `UserError` that says what is wrong with the file, `SchemaMismatch` when a newer Footnote made it, `BadSettings`
    when the settings name another index.
    """
    with translate_errors(file, doing="read"), _sound(file), zipfile.ZipFile(file) as archive:
        manifest = _manifest(file, archive)
        if manifest.index != index:
            raise BadSettings(
                f"{file.name} was made with the {manifest.index} index and the settings name {index}: set "
                f"FOOTNOTE_INDEX__KIND={manifest.index} to restore it."
            )
        _check_members(file, archive, manifest, contents)
        for name, schema in manifest.schemas.items():
            _check_schema(file, name, schema, contents)
        yield archive, manifest


def unpack(
    file: Path,
    archive: zipfile.ZipFile,
    manifest: Manifest,
    contents: Contents,
    folder: Path,
    *,
    check: Callable[[], None],
) -> None:
    """Write every member to the folder, and make sure that each is what the manifest says. `check` may raise to end it."""
    needed = sum(member.bytes for member in manifest.members.values())
    free = shutil.disk_usage(folder).free
    if needed + _SPARE > free:
        raise UserError(
            f"{file.name} needs {needed / 1e6:,.0f} MB in {contents.data_dir} and {free / 1e6:,.0f} MB are free: make room."
        )
    with _sound(file):
        for name, expected in manifest.members.items():
            _write(file, archive, name, expected, folder / name, check=check)
    for name in manifest.schemas:
        _check_schema(file, name, _schema(file, folder / name), contents)


def _write(
    file: Path,
    archive: zipfile.ZipFile,
    name: str,
    expected: Member,
    target: Path,
    *,
    check: Callable[[], None],
) -> None:
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as source, faults.translate_errors(target):
        target.parent.mkdir(mode=0o700, exist_ok=True)
        with target.open("xb") as output:
            target.chmod(0o600)
            for block in blocks(source):
                check()
                digest.update(block)
                size += len(block)
                if size > expected.bytes:
                    break
                output.write(block)
    if (size, digest.hexdigest()) != (expected.bytes, expected.sha256):
        raise damaged(file, f"{name} is not what the manifest says (its size or its SHA-256 differ)")


def _manifest(file: Path, archive: zipfile.ZipFile) -> Manifest:
    names = [member.filename for member in archive.infolist()]
    if names.count(MANIFEST) != 1:
        raise damaged(file, f"it lacks {MANIFEST}" if MANIFEST not in names else f"it has {MANIFEST} twice")
    if archive.getinfo(MANIFEST).file_size > MANIFEST_BYTES:
        raise damaged(file, f"{MANIFEST} is too large")
    encoded = archive.read(MANIFEST)
    try:
        first = ManifestVersion.model_validate_json(encoded)
        if first.version > VERSION:
            raise SchemaMismatch(
                f"{file.name} was made by a newer Footnote ({first.footnote}): update Footnote, then restore it."
            )
        return Manifest.model_validate_json(encoded)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in wrong["loc"])
        raise damaged(file, f"{MANIFEST}: {place}: {wrong['msg']}".replace(" : ", " ")) from error


def _check_members(file: Path, archive: zipfile.ZipFile, manifest: Manifest, contents: Contents) -> None:
    members = [member for member in archive.infolist() if member.filename != MANIFEST]
    names = [member.filename for member in members]
    for name in (*names, *manifest.members):
        if not contents.keeps(name):
            raise UnsupportedFile(
                f"{file.name} holds {name!r}, which no backup made with these settings has. Nothing was restored."
            )
    if sorted(names) != sorted(manifest.members):
        raise damaged(file, "its members are not those that the manifest tells of")
    if set(manifest.schemas) != {name for name in names if name in contents.schemas}:
        raise damaged(file, "its databases are not those that the manifest tells of")
    for member in members:
        if member.flag_bits & _ENCRYPTED or member.compress_type not in _READABLE:
            raise damaged(file, f"{member.filename} is encrypted, or compressed in a way no backup is")
        if member.file_size != manifest.members[member.filename].bytes:
            raise damaged(file, f"{member.filename} is not of the size that the manifest says")


def _check_schema(file: Path, name: str, schema: int, contents: Contents) -> None:
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
        raise damaged(file, f"{path.name} is no database") from error


@contextmanager
def _sound(file: Path) -> Generator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise damaged(
            file, f"it is no sound zip archive ({str(error).rstrip('.') or 'it ends too early'})"
        ) from error
