from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile
from rag_engine.parsers._shared.ole import stream
from rag_engine.parsers.mail._mail.encodings import decoded

if TYPE_CHECKING:
    from rag_engine.parsers._shared.ole import Ole

_PROPERTIES: Final = "__properties_version1.0"
_CODE_PAGES: Final = (0x3FFD, 0x3FDE)
_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)
_COMPRESSED: Final = b"LZFu"
_UNCOMPRESSED: Final = b"MELA"
_LARGEST: Final = 64 << 20
# Initial dictionary of the compression ([MS-OXRTFCP] 2.1.2.1).
_DICTIONARY: Final = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbol"
    rb"ArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


@dataclass(frozen=True, slots=True)
class MsgStorage:
    """Fixed-length properties follow after `header` bytes."""

    container: Ole
    path: tuple[str, ...]
    header: int

    def text(self, *properties: int) -> str:
        for number in properties:
            wide = self._stream(number, "001F")
            if wide:
                return wide.decode("utf-16-le", "replace").rstrip("\0").strip()
            narrow = self._stream(number, "001E")
            if narrow:
                return decoded(narrow.rstrip(b"\0"), self._code_page()).strip()
        return ""

    def content(self, number: int) -> bytes:
        return self._stream(number, "0102")

    def number(self, number: int) -> int:
        return struct.unpack("<L", self._fixed(number)[:4])[0]

    def time(self, *properties: int) -> str:
        for number in properties:
            (ticks,) = struct.unpack("<Q", self._fixed(number))
            if 0 < ticks < 3 << 61:
                try:
                    return f"{_EPOCH + timedelta(microseconds=ticks // 10):%Y-%m-%d %H:%M} UTC"
                except OverflowError:
                    continue
        return ""

    def _stream(self, number: int, kind: str) -> bytes:
        return stream(self.container, [*self.path, f"__substg1.0_{number:04X}{kind}"])

    def _fixed(self, number: int) -> bytes:
        entries = stream(self.container, [*self.path, _PROPERTIES])[self.header :]
        for at in range(0, len(entries) - 15, 16):
            if int.from_bytes(entries[at + 2 : at + 4], "little") == number:
                return entries[at + 8 : at + 16]
        return bytes(8)

    def _code_page(self) -> str:
        page = next((page for page in map(self.number, _CODE_PAGES) if page), 0)
        return {0: "", 65001: "utf-8", 20127: "ascii", 936: "gb18030"}.get(page, f"cp{page}")


def decompressed(content: bytes) -> bytes:
    kind, size = content[8:12], int.from_bytes(content[4:8], "little")
    if kind == _UNCOMPRESSED:
        return content[16 : 16 + size]
    if kind != _COMPRESSED or size > _LARGEST:
        raise CorruptFile("The text of the message is damaged; save the message again.")
    window = bytearray(_DICTIONARY.ljust(4_096, b"\0"))
    position = len(_DICTIONARY)
    text = bytearray()
    at = 16
    while at < len(content) and len(text) < size:
        flags = content[at]
        at += 1
        for bit in range(8):
            if flags >> bit & 1:
                reference = int.from_bytes(content[at : at + 2], "big")
                at += 2
                offset, length = reference >> 4, (reference & 15) + 2
                if offset == position % 4_096 or at > len(content):
                    return bytes(text)
                piece = bytearray()
                for step in range(length):
                    letter = window[(offset + step) % 4_096]
                    piece.append(letter)
                    window[position % 4_096] = letter
                    position += 1
                text += piece
            else:
                letters = content[at : at + 1]
                at += 1
                if letters:
                    window[position % 4_096] = letters[0]
                    position += 1
                text += letters
    return bytes(text)
