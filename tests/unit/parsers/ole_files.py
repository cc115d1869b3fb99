"""Minimal OLE files: old Word documents, presentations and Outlook messages."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECTOR = 512
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


@dataclass
class _Entry:
    name: str
    content: bytes | None
    children: list[int] = field(default_factory=list[int])
    first: int = _END
    right: int = _NONE


def ole(streams: Mapping[str, bytes]) -> bytes:
    """An OLE file of these streams; slashes in names separate storages."""
    entries = [_Entry("Root Entry", None)]
    known = {"": 0}
    for name, content in streams.items():
        folder = ""
        for part in name.split("/")[:-1]:
            path = f"{folder}/{part}"
            if path not in known:
                known[path] = len(entries)
                entries[known[folder]].children.append(len(entries))
                entries.append(_Entry(part, None))
            folder = path
        entries[known[folder]].children.append(len(entries))
        entries.append(_Entry(name.rpartition("/")[2], content))
    # Streams below 4096 bytes would need the mini stream, so all are padded.
    sectors: list[bytes] = []
    chain: list[int] = []
    for entry in entries:
        for left, right in zip(entry.children, entry.children[1:], strict=False):
            entries[left].right = right
        if entry.content is not None:
            entry.first = _store(entry.content.ljust(4_096, b"\0"), sectors, chain)
    directory = b"".join(map(_directory_entry, entries))
    start = _store(directory, sectors, chain)
    fats = -(-(len(sectors) + 2) // 127)
    first_fat = len(sectors)
    chain += [_FAT] * fats
    table = b"".join(struct.pack("<L", link) for link in chain).ljust(fats * _SECTOR, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<5H6x3L4x5L", 0x3E, 3, 0xFFFE, 9, 6, 0, fats, start, 4_096, _END, 0, _END, 0)
    header += b"".join(struct.pack("<L", first_fat + number) for number in range(fats))
    return header.ljust(_SECTOR, b"\xff") + b"".join(sectors) + table


def _store(content: bytes, sectors: list[bytes], chain: list[int]) -> int:
    first = len(sectors)
    for at in range(0, len(content), _SECTOR):
        sectors.append(content[at : at + _SECTOR].ljust(_SECTOR, b"\0"))
        chain.append(len(sectors))
    chain[-1] = _END
    return first


def _directory_entry(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le") + b"\0\0"
    kind = 5 if entry.name == "Root Entry" else 1 if entry.content is None else 2
    child = entry.children[0] if entry.children else _NONE
    size = 0 if entry.content is None else max(len(entry.content), 4_096)
    links = struct.pack("<3L", _NONE, entry.right, child)
    first = entry.first if entry.content is not None else _END if kind == 5 else 0
    return (
        name.ljust(64, b"\0")
        + struct.pack("<HBB", len(name), kind, 1)
        + links
        + bytes(36)
        + struct.pack("<LQ", first, size)
    )


def word(text: str, *, notes: str = "", encrypted: bool = False, narrow: bool = False) -> bytes:
    """A Word 97 document of plain paragraphs; `notes` are footnotes; `narrow`: one byte per character."""
    whole = text + notes
    header = bytearray(0x300)
    struct.pack_into("<6H", header, 0, 0xA5EC, 0xC1, 0, 0x407, 0, 0x0200 | (0x0100 if encrypted else 0))
    struct.pack_into("<7L", header, 0x4C, len(text), len(notes), 0, 0, 0, 0, 0)
    place = len(header)
    pieces = struct.pack("<2L", 0, len(whole)) + struct.pack(
        "<HLH", 0, place * 2 | 0x40000000 if narrow else place, 0
    )
    clx = b"\2" + struct.pack("<L", len(pieces)) + pieces
    positions = struct.pack("<3L", 0, max(len(notes) - 1, 0), len(notes)) if notes else b""
    struct.pack_into("<2L", header, 0x1A2, 0, len(clx))
    struct.pack_into("<2L", header, 0xB2, len(clx), len(positions))
    content = bytes(header) + whole.encode("cp1252" if narrow else "utf-16-le")
    return ole({"WordDocument": content, "1Table": clx + positions})


def outlook(
    texts: Mapping[int, str],
    binary: Mapping[int, bytes] | None = None,
    *,
    more: Mapping[str, bytes] | None = None,
) -> bytes:
    """An Outlook message of these properties; `more` are streams of attachments."""
    streams = {"__properties_version1.0": bytes(32)}
    streams |= {f"__substg1.0_{number:04X}001F": _padded(text) for number, text in texts.items()}
    streams |= {f"__substg1.0_{number:04X}0102": content for number, content in (binary or {}).items()}
    return ole({**streams, **(more or {})})


def _padded(text: str) -> bytes:
    return text.encode("utf-16-le")


def attachment(number: int, name: str, content: bytes) -> dict[str, bytes]:
    """The streams of a message's attachment."""
    folder = f"__attach_version1.0_#{number:08X}"
    return {
        f"{folder}/__properties_version1.0": bytes(8),
        f"{folder}/__substg1.0_3707001F": _padded(name),
        f"{folder}/__substg1.0_37010102": content.ljust(4_096, b"\n"),
    }


def presentation(slides: Sequence[tuple[str, str]]) -> bytes:
    """A PowerPoint 97 presentation of slides with title and text."""
    texts = [record_text(0, title) + record_text(1, text) for title, text in slides]
    listed = b"".join(
        record(0x03F3, struct.pack("<5L", number + 1, 0, 0, 256 + number, 0)) + text
        for number, text in enumerate(texts)
    )
    return ole(
        {"PowerPoint Document": record(0x03E8, record(0x0FF0, listed, container=True), container=True)}
    )


def record(kind: int, content: bytes, *, instance: int = 0, container: bool = False) -> bytes:
    """A record of a PowerPoint 97 presentation."""
    return struct.pack("<HHL", instance << 4 | (15 if container else 0), kind, len(content)) + content


def record_text(kind: int, text: str) -> bytes:
    """The records of a text; kinds: 0 title, 1 body, 2 note, 4 other box, 6 centred title."""
    return record(0x0F9F, struct.pack("<L", kind)) + record(0x0FA0, text.encode("utf-16-le"))
