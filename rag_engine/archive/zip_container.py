"""The zip of exports and backups; members are checked before the first is read."""

from __future__ import annotations

import hashlib
import os
import secrets
import zipfile
import zlib
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Annotated, Final, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_engine.errors import CorruptFile, EncryptedFile, FileTooLarge, UnsupportedFile, UserError
from rag_engine.storage.private_files import FILE_MODE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rag_engine.errors import RagError

MANIFEST: Final = "manifest.json"
PART: Final = ".part"
_COMPRESSIONS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1
_BLOCK: Final = 1 << 20
LAST_SECOND: Final = 253_402_300_799.0
"""Of the year 9999; seconds since the epoch, UTC."""
Version = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ZipFormat:
    noun: str
    refusal: str
    advice: str
    version: int
    newer: type[RagError]
    manifest_bytes: int

    def damaged(self, file: Path, what: str) -> CorruptFile:
        return CorruptFile(
            f"{file.name} is damaged, or no {self.noun} of Footnote: {what}. {self.refusal}; {self.advice}."
        )

    @contextmanager
    def translate_damage(self, file: Path) -> Generator[None]:
        with translate_errors(file, doing="read"):
            try:
                yield
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
                reason = str(error).rstrip(".") or "it ends too early"
                raise self.damaged(file, f"it is no sound zip archive ({reason})") from error


class StrictModel(BaseModel):
    """Others may have written it: no coercion, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Member(StrictModel):
    bytes: int = Field(ge=0)
    sha256: str


class ZipManifest(Protocol):
    @property
    def members(self) -> Mapping[str, Member]: ...


class Checksum:
    def __init__(self) -> None:
        self.bytes = 0
        self._digest = hashlib.sha256()

    def update(self, content: bytes) -> None:
        self.bytes += len(content)
        self._digest.update(content)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


class _Version(BaseModel):
    version: Version
    footnote: str = ""


_Manifest = TypeVar("_Manifest", bound=ZipManifest)


@contextmanager
def opened(
    file: Path,
    kind: ZipFormat,
    *,
    parse: Callable[[bytes], _Manifest],
    allows: Callable[[str], bool],
    largest: Callable[[int], int] | None = None,
) -> Generator[tuple[zipfile.ZipFile, _Manifest]]:
    """Exactly the members listed, with names that `allows` accepts; `largest` limits the unpacked bytes by the packed
    ones. Raises a `UserError` that names the fault, or the format's `newer` error.
    """
    _refuse_device(file, doing="read")
    with kind.translate_damage(file), zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        for info in infos:
            if info.filename != MANIFEST and not allows(info.filename):
                raise UnsupportedFile(
                    f"{file.name} holds {info.filename!r}, which no {kind.noun} of Footnote has. {kind.refusal}."
                )
        _check_encoding(file, kind, infos)
        if largest is not None:
            _check_size(file, kind, infos, largest)
        manifest = _read_manifest(file, kind, archive, parse)
        for name in manifest.members:
            if not allows(name):
                raise kind.damaged(file, f"{MANIFEST} names {name!r}")
        _check_members(file, kind, infos, manifest)
        yield archive, manifest


def blocks(source: IO[bytes]) -> Iterator[bytes]:
    while block := source.read(_BLOCK):
        yield block


@contextmanager
def writing(file: Path, *, level: int) -> Generator[zipfile.ZipFile]:
    """For its owner only; replaces `file` when the block succeeds. `level` is zlib's."""
    _refuse_device(file, doing="written")
    file = file.resolve()
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}{PART}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(unfinished, flags, FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as output:
            with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
                yield archive
            output.flush()
            os.fsync(output.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _refuse_device(file: Path, *, doing: str) -> None:
    """A device would be replaced or read for ever."""
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise UserError(f"{file} cannot be {doing}: it is no file.")


@contextmanager
def translate_errors(file: Path, *, doing: str) -> Generator[None]:
    """`doing` is "read" or "written"."""
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(f"{file} cannot be {doing}: there is no such file or folder.") from error
    except OSError as error:
        raise UserError(f"{file} cannot be {doing}: {(error.strerror or str(error)).lower()}.") from error


def first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def _check_encoding(file: Path, kind: ZipFormat, infos: Iterable[zipfile.ZipInfo]) -> None:
    for info in infos:
        if info.flag_bits & _ENCRYPTED:
            raise EncryptedFile(
                f"{file.name} is protected by a password, which no {kind.noun} is; {kind.advice}."
            )
        if info.compress_type not in _COMPRESSIONS:
            raise kind.damaged(file, f"it is compressed in a way no {kind.noun} is")


def _read_manifest(
    file: Path, kind: ZipFormat, archive: zipfile.ZipFile, parse: Callable[[bytes], _Manifest]
) -> _Manifest:
    if MANIFEST not in archive.namelist():
        raise kind.damaged(file, f"it lacks {MANIFEST}")
    if archive.getinfo(MANIFEST).file_size > kind.manifest_bytes:
        raise kind.damaged(file, f"{MANIFEST} is too large")
    encoded = archive.read(MANIFEST)
    try:
        found = _Version.model_validate_json(encoded)
        if found.version > kind.version:
            newer = found.footnote or f"format {found.version}, this one reads {kind.version}"
            raise kind.newer(f"{file.name} was made by a newer Footnote ({newer}): update Footnote.")
        return parse(encoded)
    except ValidationError as error:
        raise kind.damaged(file, f"{MANIFEST}: {first_error(error)}") from error


def _check_size(
    file: Path, kind: ZipFormat, infos: Sequence[zipfile.ZipInfo], largest: Callable[[int], int]
) -> None:
    size = sum(info.file_size for info in infos)
    if size > largest(sum(info.compress_size for info in infos)):
        raise FileTooLarge(
            f"{file.name} would unpack to {size:,} bytes, which no {kind.noun} does. {kind.refusal}."
        )


def _check_members(
    file: Path, kind: ZipFormat, infos: Sequence[zipfile.ZipInfo], manifest: ZipManifest
) -> None:
    sizes = {info.filename: info.file_size for info in infos if info.filename != MANIFEST}
    for name, count in Counter(info.filename for info in infos).items():
        if count > 1:
            raise kind.damaged(file, f"it has {name} twice")
    for name, member in manifest.members.items():
        if name not in sizes:
            raise kind.damaged(file, f"it lacks {name}")
        if sizes.pop(name) != member.bytes:
            raise kind.damaged(file, f"{name} does not have the size given in {MANIFEST}")
    for name in sizes:
        raise kind.damaged(file, f"{MANIFEST} does not name {name}")
