from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, Protocol, cast

import olefile

from rag_engine.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path


class Ole(Protocol):
    def listdir(self, *, streams: bool = True, storages: bool = False) -> list[list[str]]: ...
    def exists(self, filename: str | Sequence[str]) -> bool: ...
    def openstream(self, filename: str | Sequence[str]) -> IO[bytes]: ...
    def close(self) -> None: ...


DAMAGED: Final = "The file is damaged or was cut off; save or download it again."
_open: Final = cast("Callable[..., Ole]", olefile.OleFileIO)
_DAMAGE: Final = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError)


@contextmanager
def open_ole(path: Path) -> Generator[Ole]:
    try:
        container = _open(str(path))
    except _DAMAGE as error:
        raise CorruptFile(DAMAGED) from error
    try:
        yield container
    finally:
        container.close()


def stream(container: Ole, name: str | Sequence[str]) -> bytes:
    try:
        if not container.exists(name):
            return b""
        with container.openstream(name) as content:
            return content.read()
    except _DAMAGE as error:
        raise CorruptFile(DAMAGED) from error


def root_streams(path: Path) -> frozenset[str]:
    with open_ole(path) as container:
        try:
            return frozenset(name[0] for name in container.listdir() if len(name) == 1)
        except _DAMAGE as error:
            raise CorruptFile(DAMAGED) from error
