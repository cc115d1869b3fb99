from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.storage.private_files import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_BYTES: Final = 64 << 20
_SECONDS: Final = 86_400.0
_UNFINISHED: Final = ".part"


class AudioCache:
    """By text; raises `OSError`."""

    def __init__(self, folder: Path, *, most_bytes: int = _MOST_BYTES, seconds: float = _SECONDS) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._seconds = seconds

    def find(self, *key: str) -> bytes | None:
        path = self._path(key)
        try:
            if path.stat().st_mtime < time.time() - self._seconds:
                return None
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def keep(self, content: bytes, *key: str) -> None:
        make_folder(self._folder)
        self._make_room(len(content))
        handle, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=self._folder)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(self._path(key))

    def expire(self) -> None:
        if self._folder.is_dir():
            self._make_room(0)

    def clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, key: tuple[str, ...]) -> Path:
        return self._folder / hashlib.sha256("\0".join(key).encode("utf-8", "replace")).hexdigest()

    def _make_room(self, size: int) -> None:
        oldest = time.time() - self._seconds
        total = size
        for at, length, path in sorted(self._entries(), reverse=True):
            total += length
            if at < oldest or total > self._most_bytes:
                path.unlink(missing_ok=True)

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        for path in self._folder.iterdir():
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            yield status.st_mtime, status.st_size, path
