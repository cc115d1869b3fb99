from __future__ import annotations

import json
import threading
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import closing, contextmanager
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast, overload

import numpy as np

from rag_engine.errors import DISK_FULL, StorageUnavailable
from rag_engine.types import Chunk, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path

    from rag_engine.types import Vector

_IN_MEMORY: Final = 1 << 20
"""Bytes; longer spools use a nameless file, which the system removes."""
_READ_AT_ONCE: Final = 1 << 16

Item = TypeVar("Item")


class Spool(Sequence[Item], Generic[Item]):
    """One thread may read while another appends. Raises `StorageUnavailable`."""

    def __init__(
        self, folder: Path | None, *, encode: Callable[[Item], bytes], decode: Callable[[bytes], Item]
    ) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY, dir=folder and str(folder))  # noqa: SIM115 - closed by `close`
        self._ends = array("Q", [0])
        self._lock = threading.Lock()
        self._encode = encode
        self._decode = decode

    def extend(self, items: Iterable[Item]) -> None:
        content = [self._encode(item) for item in items]
        with self._lock:
            self._file.seek(self._ends[-1])
            try:
                self._file.write(b"".join(content))
                self._file.flush()
            except OSError as error:
                if error.errno in DISK_FULL:
                    raise StorageUnavailable from error
                raise
            for one in content:
                self._ends.append(self._ends[-1] + len(one))

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        places = range(len(self))[index]
        if isinstance(places, int):
            return self._read(places, places + 1)[0]
        if places.step == 1:
            return self._read(places.start, places.stop) if places else []
        return [self._read(place, place + 1)[0] for place in places]

    def __iter__(self) -> Iterator[Item]:
        start = 0
        while part := self.part(start):
            yield from part
            start += len(part)

    def part(self, start: int, most: int | None = None) -> list[Item]:
        if start >= len(self):
            return []
        if most is not None:
            return self._read(start, min(start + most, len(self)))
        stop = bisect_right(self._ends, self._ends[start] + _READ_AT_ONCE) - 1
        return self._read(start, max(start + 1, stop))

    def _read(self, start: int, stop: int) -> list[Item]:
        first = self._ends[start]
        with self._lock:
            self._file.seek(first)
            content = memoryview(self._file.read(self._ends[stop] - first))
        cuts = [self._ends[place] - first for place in range(start, stop + 1)]
        return [self._decode(bytes(content[cuts[i] : cuts[i + 1]])) for i in range(stop - start)]


@contextmanager
def section_spool(folder: Path | None) -> Generator[Spool[Section]]:
    with closing(Spool(folder, encode=_section_bytes, decode=_section)) as spool:
        yield spool


@contextmanager
def chunk_spool(folder: Path | None) -> Generator[Spool[Chunk]]:
    with closing(Spool(folder, encode=_chunk_bytes, decode=_chunk)) as spool:
        yield spool


@contextmanager
def passage_spool(folder: Path | None) -> Generator[Spool[tuple[Chunk, Vector]]]:
    with closing(Spool(folder, encode=_passage_bytes, decode=_passage)) as spool:
        yield spool


def _section_bytes(section: Section) -> bytes:
    fields = (section.text, section.anchor, section.headings, section.kind)
    return json.dumps(fields).encode("ascii")


def _section(content: bytes) -> Section:
    text, anchor, headings, kind = json.loads(content)
    return Section(text=text, anchor=anchor, headings=tuple(headings), kind=kind)


_FIELDS: Final = (
    *("id", "document", "knowledge_base", "ordinal", "text", "title", "uri", "headings", "anchor", "kind"),
    "language",
)


def _chunk_bytes(chunk: Chunk) -> bytes:
    return json.dumps([getattr(chunk, field) for field in _FIELDS]).encode("ascii")


def _chunk(content: bytes) -> Chunk:
    fields = dict(zip(_FIELDS, cast("list[object]", json.loads(content)), strict=True))
    fields["headings"] = tuple(cast("list[str]", fields["headings"]))
    return Chunk(**fields)  # pyright: ignore[reportArgumentType]


def _passage_bytes(passage: tuple[Chunk, Vector]) -> bytes:
    chunk, vector = passage
    fields = _chunk_bytes(chunk)
    return len(fields).to_bytes(4, "big") + fields + np.asarray(vector, dtype="<f4").tobytes()


def _passage(content: bytes) -> tuple[Chunk, Vector]:
    end = 4 + int.from_bytes(content[:4], "big")
    return _chunk(content[4:end]), np.frombuffer(content, dtype="<f4", offset=end)
