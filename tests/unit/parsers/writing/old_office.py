"""RTF and Microsoft Office formats before 2007, written by hand."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.unit.parsers.ole_files import ole, presentation, word
from tests.unit.parsers.writing.words import CHINESE, GERMAN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_rtf(path: Path) -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}}"
    row = r"\trowd\cellx1\cellx2 \pard\intbl Office\cell Days\cell\row"
    body = rf"\pard Before any heading.\par\pard\s1 Leave\par\pard {_rtf(GERMAN)}\par {row}{row}\pard {_rtf(CHINESE)}\par"
    path.write_bytes(rf"{{\rtf1\ansi\ansicpg1252{{\fonttbl{{\f0 Arial;}}}}{styles}{body}}}".encode("ascii"))


def _rtf(text: str) -> str:
    signed = struct.unpack(f"<{len(text)}h", text.encode("utf-16-le"))
    return "".join(
        character if character.isascii() else rf"\u{code}?"
        for character, code in zip(text, signed, strict=True)
    )


def write_doc(path: Path) -> None:
    path.write_bytes(word(f"Leave\r{GERMAN}\rOffice\x07Days\x07\x07{CHINESE}\r"))


def write_ppt(path: Path) -> None:
    path.write_bytes(presentation([("Kick-off", GERMAN), ("Reports", CHINESE)]))


def write_xls(path: Path) -> None:
    """One sheet with cells of text."""
    sheet = _beginning(0x10)
    for row, cells in enumerate((("Office", "Days"), ("Köln", "30"), (CHINESE, "28"))):
        sheet += _cells(row, cells)
    sheet += _record(0x0A)
    name = b"Leave"
    # The offset from the beginning of the workbook.
    length = len(_beginning(5)) + len(_record(0x85, bytes(8) + name)) + len(_record(0x0A))
    listed = _record(0x85, struct.pack("<LBBBB", length, 0, 0, len(name), 0) + name)
    path.write_bytes(ole({"Workbook": _beginning(5) + listed + _record(0x0A) + sheet}))


def _beginning(kind: int) -> bytes:
    return _record(0x0809, struct.pack("<4H2L", 0x0600, kind, 0x0DBB, 1996, 0, 6))


def _cells(row: int, texts: Sequence[str]) -> bytes:
    return b"".join(
        _record(0x0204, struct.pack("<4HB", row, column, 0, len(text), 1) + text.encode("utf-16-le"))
        for column, text in enumerate(texts)
    )


def _record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content
