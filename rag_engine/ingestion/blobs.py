from __future__ import annotations

import asyncio
import errno
import hashlib
import mimetypes
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rag_engine.errors import EmptyDocument, FileTooLarge, UnsupportedFile, UserError
from rag_engine.parsing.media_types import shown
from rag_engine.types import Blob

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

LARGEST_FILE = 100_000_000
"""Bytes."""

_SENTENCES = {
    errno.ENOENT: "There is no file {name}; check the path.",
    errno.ENOTDIR: "There is no file {name}; check the path.",
    errno.EACCES: "{name} may not be read; change its permissions and add it again.",
    errno.EPERM: "{name} may not be read; change its permissions and add it again.",
}


async def blob_from_path(path: Path, *, uri: str | None = None, max_bytes: int = LARGEST_FILE) -> Blob:
    """Read once; `uri` defaults to its file URI. Raises a `UserError` if the file is missing, unreadable, empty, or
    over `max_bytes`.
    """
    return await asyncio.to_thread(_blob, path, uri, max_bytes)


def _blob(path: Path, uri: str | None, max_bytes: int) -> Blob:
    name = os.fsencode(path.name).decode("utf-8", "replace")
    with _readable(name):
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UnsupportedFile(f"{shown(name)} is a folder, not a file.")
        if not stat.S_ISREG(status.st_mode):
            raise UnsupportedFile(f"{shown(name)} is not a file that can be read from beginning to end.")
        if status.st_size > max_bytes:
            size, most = status.st_size / 1e6, max_bytes / 1e6
            raise FileTooLarge(
                f"{shown(name)} has {size:,.0f} MB, and at most {most:,.0f} MB are read; split it into smaller files."
            )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        uri = uri or path.resolve().as_uri()
    if size == 0:
        raise EmptyDocument(f"{shown(name)} is empty.")
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Blob(name=name, media_type=media_type, path=path, digest=digest, size=size, uri=uri)


@contextmanager
def _readable(name: str) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        sentence = _SENTENCES.get(
            error.errno or 0, "{name} cannot be read ({reason}); check it and add it again."
        )
        raise UserError(sentence.format(name=shown(name), reason=reason)) from error
