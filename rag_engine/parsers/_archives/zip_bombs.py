from __future__ import annotations

import lzma
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, FileTooLarge

if TYPE_CHECKING:
    from pathlib import Path

ZIP_ERRORS: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError)

_LARGEST: Final = 1 << 30
_LARGEST_MEMBER: Final = 64 << 20
_DENSEST: Final = 150
_MOST_MEMBERS: Final = 20_000


def check_archive(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (*ZIP_ERRORS, ValueError) as error:
        raise CorruptFile("The file is damaged or was cut off; save or download it again.") from error
    dense = any(
        member.file_size > _LARGEST_MEMBER and member.file_size > member.compress_size * _DENSEST
        for member in members
    )
    if dense or sum(member.file_size for member in members) > _LARGEST or len(members) > _MOST_MEMBERS:
        raise FileTooLarge(
            "The file unpacks to far more than its size, so it is not read; split it into smaller files."
        )
