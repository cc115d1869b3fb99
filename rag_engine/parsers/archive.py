"""Members are never extracted to their own paths."""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import tarfile
import zipfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from rag_engine.errors import CorruptFile, EncryptedFile, UnsupportedFile
from rag_engine.parsers._archives.member_names import member_names
from rag_engine.parsers._archives.nested_files import CHUNK, NestedFile, parsed, sections, written
from rag_engine.parsers._archives.unpacking_limits import Unpacking
from rag_engine.parsers._archives.zip_bombs import ZIP_ERRORS
from rag_engine.parsers._ocr.ocr import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from rag_engine.types import Section

SUFFIXES: Final = "zip tar gz tgz bz2 tbz tbz2 xz txz"
MAGIC: Final = ((b"\x1f\x8b", "gz"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"))

__all__ = ["PROGRAMS", "parse", "within"]

_ENCRYPTED: Final = 0x1
_AES: Final = 99
_COMPRESSIONS: Final = frozenset(
    {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
)
_OPENERS: Final[dict[bytes, Callable[[Path], IO[bytes]]]] = {
    b"\x1f\x8b": cast("Callable[[Path], IO[bytes]]", gzip.open),
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_LONGEST_NAME: Final = 300
_TAR_MARK: Final = slice(257, 262)
_DAMAGED: Final = "The archive is damaged or was cut off; pack it or download it again."


def parse(path: Path) -> Iterator[Section]:
    """Members are anchored "docs/leave.md › § Leave"."""
    yield from within(path, Unpacking())


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    with path.open("rb") as file:
        head = file.read(512)
    if head.startswith(b"PK"):
        with _translate_errors(), zipfile.ZipFile(path) as archive:
            yield from sections(_zip_members(archive), unpacking)
        return
    opener = next((opener for mark, opener in _OPENERS.items() if head.startswith(mark)), None)
    if opener is None or _holds_tar(opener, path):
        with _translate_errors(), closing(tarfile.open(path, "r|*")) as archive:
            yield from sections(_tar_members(archive), unpacking)
        return
    member = NestedFile(
        name=_plain_name(path), chunks=lambda: _chunks(opener(path)), packed=path.stat().st_size
    )
    with written(member, unpacking) as plain:
        yield from parsed(plain, member.name, unpacking.deeper())


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except (*ZIP_ERRORS, *(tarfile.TarError, gzip.BadGzipFile, ValueError, OSError)) as error:
        raise CorruptFile(_DAMAGED) from error


def _zip_members(archive: zipfile.ZipFile) -> Iterator[NestedFile]:
    entries = archive.infolist()
    for entry, name in zip(entries, member_names(entries), strict=True):
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if entry.is_dir() or name.endswith(("/", "\\")) or kind not in {0, stat.S_IFREG}:
            continue
        yield NestedFile(
            name=name,
            chunks=lambda entry=entry: _chunks(archive.open(entry)),
            packed=entry.compress_size,
            obstacle=_obstacle(entry),
        )


def _obstacle(entry: zipfile.ZipInfo) -> Exception | None:
    if entry.flag_bits & _ENCRYPTED or entry.compress_type == _AES:
        return EncryptedFile()
    return None if entry.compress_type in _COMPRESSIONS else UnsupportedFile()


def _tar_members(archive: tarfile.TarFile) -> Iterator[NestedFile]:
    for entry in archive:
        # tarfile keeps a list of all members.
        cast("list[tarfile.TarInfo]", vars(archive)["members"]).clear()
        if not entry.isreg() or entry.issparse():
            continue
        content = archive.extractfile(entry)
        if content is not None:
            yield NestedFile(name=entry.name, chunks=lambda content=content: _chunks(content))


def _chunks(content: IO[bytes]) -> Iterator[bytes]:
    with _translate_errors(), content:
        while chunk := content.read(CHUNK):
            yield chunk


def _holds_tar(opener: Callable[[Path], IO[bytes]], path: Path) -> bool:
    with _translate_errors(), opener(path) as file:
        return file.read(512)[_TAR_MARK] == b"ustar"


def _plain_name(path: Path) -> str:
    name = path.stem if path.suffix.lower() in {".gz", ".bz2", ".xz"} else path.name
    if Path(name).suffix:
        return name
    with path.open("rb") as file:
        head = file.read(_LONGEST_NAME)
    plain = head[:4] == b"\x1f\x8b\x08\x08"
    return head[10:].partition(b"\0")[0].decode("latin-1") if plain else name
