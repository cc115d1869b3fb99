"""OLE files, the containers of old Office files and of Outlook messages, by olefile."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, Protocol, cast

import olefile

from rag_engine.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path


class Ole(Protocol):
    """What is used here of olefile, which has no types."""

    def listdir(self, *, streams: bool = True, storages: bool = False) -> list[list[str]]: ...
    def exists(self, filename: str | Sequence[str]) -> bool: ...
    def get_size(self, filename: str | Sequence[str]) -> int: ...
    def openstream(self, filename: str | Sequence[str]) -> IO[bytes]: ...
    def close(self) -> None: ...


_open: Final = cast("Callable[..., Ole]", olefile.OleFileIO)
_DAMAGE: Final = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError)


@contextmanager
def open_ole(path: Path) -> Generator[Ole]:
    """The container. Raises `CorruptFile` for a damaged one, also where that shows while it is read."""
    try:
        container = _open(str(path))
    except _DAMAGE as error:
        raise CorruptFile("The file is damaged or was cut off; save or download it again.") from error
    try:
        yield container
    finally:
        container.close()


def stream(container: Ole, name: str | Sequence[str]) -> bytes:
    """A stream's content, empty where there is none. Raises `CorruptFile` where it cannot be read."""
    try:
        if not container.exists(name):
            return b""
        with container.openstream(name) as content:
            return content.read()
    except _DAMAGE as error:
        raise CorruptFile("The file is damaged or was cut off; save or download it again.") from error


def root_streams(path: Path) -> frozenset[str]:
    """The names of the streams that are not within a storage. Raises `CorruptFile`."""
    with open_ole(path) as container:
        try:
            return frozenset(name[0] for name in container.listdir() if len(name) == 1)
        except _DAMAGE as error:
            raise CorruptFile("The file is damaged or was cut off; save or download it again.") from error
