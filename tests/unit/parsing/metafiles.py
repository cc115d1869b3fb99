"""Windows metafiles, written record by record."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

Colour = tuple[int, int, int]
_SOLID: Final = 0
_NO_LINE: Final = 5


def emf(halves: Sequence[Colour], *, width: int = 300, height: int = 200, words: str = "") -> bytes:
    """Rectangles of these colours side by side, with words on them; sizes in pixels of 0.1 mm."""
    records: list[bytes] = []

    def record(kind: int, inside: bytes) -> None:
        inside += bytes(-len(inside) % 4)
        records.append(struct.pack("<II", kind, 8 + len(inside)) + inside)

    record(38, struct.pack("<IIiiI", 1, _NO_LINE, 0, 0, 0))
    record(37, struct.pack("<I", 1))
    for at, (red, green, blue) in enumerate(halves):
        record(39, struct.pack("<IIBBBBI", 2 + at, _SOLID, red, green, blue, 0, 0))
        record(37, struct.pack("<I", 2 + at))
        left = width * at // len(halves)
        record(43, struct.pack("<iiii", left, 0, left + width // len(halves), height))
    if words:
        text = words.encode("utf-16-le")
        placed = struct.pack("<iiIIIiiiiI", 20, 20, len(words), 76, 0, 0, 0, -1, -1, 0)
        record(84, struct.pack("<iiiiIff", 0, 0, -1, -1, 1, 1.0, 1.0) + placed + text)
    record(14, struct.pack("<III", 0, 16, 20))
    box = struct.pack("<iiii", 0, 0, width, height) + struct.pack("<iiii", 0, 0, width * 10, height * 10)
    size = 88 + sum(map(len, records))
    head = struct.pack("<II", 1, 88) + box + b" EMF" + struct.pack("<III", 0x10000, size, len(records) + 1)
    head += struct.pack("<HHIIIii", 2 + len(halves), 0, 0, 0, 0, 1_000, 1_000) + struct.pack("<ii", 100, 100)
    return head + b"".join(records)


def wmf(halves: Sequence[Colour], *, width: int = 300, height: int = 200) -> bytes:
    """With the placeable header; 96 units are an inch."""
    records: list[bytes] = []

    def record(kind: int, inside: bytes = b"") -> None:
        records.append(struct.pack("<IH", 3 + len(inside) // 2, kind) + inside)

    record(0x020B, struct.pack("<hh", 0, 0))
    record(0x020C, struct.pack("<hh", height, width))
    record(0x02FA, struct.pack("<HhhI", _NO_LINE, 0, 0, 0))
    record(0x012D, struct.pack("<H", 0))
    for at, (red, green, blue) in enumerate(halves):
        record(0x02FC, struct.pack("<HBBBBH", _SOLID, red, green, blue, 0, 0))
        record(0x012D, struct.pack("<H", 1 + at))
        left = width * at // len(halves)
        record(0x041B, struct.pack("<hhhh", height, left + width // len(halves), 0, left))
    record(0)
    words = 9 + sum(map(len, records)) // 2
    largest = max(map(len, records)) // 2
    head = struct.pack("<HHHIHIH", 1, 9, 0x0300, words, 1 + len(halves), largest, 0)
    placeable = struct.pack("<IHhhhhHI", 0x9AC6CDD7, 0, 0, 0, width, height, 96, 0)
    check = 0
    for (word,) in struct.iter_unpack("<H", placeable):
        check ^= word
    return placeable + struct.pack("<H", check) + head + b"".join(records)
