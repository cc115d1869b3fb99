from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers._shared.code_pages import code_page
from rag_engine.parsers._shared.lines import NumberedLine
from rag_engine.parsers._shared.utf16 import wide_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SAMPLE: Final = 65_536
_BLOCK: Final = 1 << 20
_LONGEST_LINE: Final = 100_000
"""Characters; longer lines come in parts, which bounds memory."""

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE: Final = frozenset(
    {"utf-16", "utf-32", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"}
)
_DECLARED: Final = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]{2,30})", re.IGNORECASE)
# Browsers read these older names as the larger character set (WHATWG Encoding).
TRUE_NAMES: Final = {
    **dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk", "gb_2312-80", "x-gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "euckr"), "cp949"),
    **dict.fromkeys(("iso-8859-9",), "cp1254"),
    **dict.fromkeys(("big5", "x-x-big5"), "big5hkscs"),
    **dict.fromkeys(("tis-620", "iso-8859-11", "windows-874"), "cp874"),
    "iso-8859-8-i": "iso8859-8",
    "x-mac-roman": "mac-roman",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
}
_STRICT: Final = frozenset(
    {"cp932", "shift_jis", "euc_jp", "gb18030", "big5", "big5hkscs", "cp949", "euc_kr"}
)
_ISO_2022 = re.compile(rb"\x1b(?:\$[@B]|\(J)")
_HZ = re.compile(rb"~\{(?:[!-w][!-~]){2,}~\}")
_TEXT_CONTROLS: Final = frozenset(b"\t\n\r\f\v\b\x1b\x07")
_NEWLINES = re.compile("\r\n|\n|\r")


def encoding_of(path: Path) -> str | None:
    """None without text. Almost valid UTF-8 counts as UTF-8."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding if encoding == "utf-8-sig" or _is_text_after_mark(head, encoding) else None
    wide = _wide_without_mark(head)
    if wide is not None:
        return wide
    escaped = _escape_encoding(head)
    if escaped is not None:
        return escaped
    if is_binary(head):
        return wide_encoding(head)
    sample, good, bad = _utf8_survey(path)
    if bad * 2 <= good or not sample:
        return "utf-8"
    return (wide_encoding(head) if 0 in head else None) or code_page(sample)


def text_encoding(path: Path) -> str:
    """Raises `UnsupportedFile` without text."""
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is not text, so it cannot be read.")
    return encoding


def markup_encoding(path: Path) -> str:
    """By mark, by a declaration that fits, else by the bytes. Raises `UnsupportedFile` without text."""
    encoding = text_encoding(path)
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    if encoding in _WIDE or (encoding == "utf-8" and _can_decode(head, "utf-8")):
        return encoding
    declared = _DECLARED.search(head[:4096])
    label = declared[1].decode("ascii").lower() if declared is not None else encoding
    try:
        name = codecs.lookup(TRUE_NAMES.get(label, label)).name
    except LookupError:
        return encoding
    # Wrong declarations are common, and single-byte code pages decode anything.
    is_possible = name not in _WIDE and (encoding != "utf-8" or name in _STRICT)
    return name if is_possible and _can_decode(head, name) else encoding


def _can_decode(head: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def text_lines(path: Path, encoding: str) -> Iterator[NumberedLine]:
    """With U+FFFD for damaged bytes; a very long line comes in parts."""
    number = 1
    rest = ""
    for text in text_blocks(path, encoding):
        *lines, rest = _NEWLINES.split(rest + text)
        for line in lines:
            yield NumberedLine(number=number, text=line)
            number += 1
        while len(rest) > _LONGEST_LINE:
            cut = rest.rfind(" ", _LONGEST_LINE // 2, _LONGEST_LINE) + 1 or _LONGEST_LINE
            yield NumberedLine(number=number, text=rest[:cut])
            rest = rest[cut:]
    if rest:
        yield NumberedLine(number=number, text=rest)


def text_blocks(path: Path, encoding: str) -> Iterator[str]:
    """None ends between a carriage return and its line feed."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    waiting = ""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            text = waiting + decoder.decode(block)
            waiting = "\r" if text.endswith("\r") else ""
            yield text.removesuffix("\r")
    yield waiting + decoder.decode(b"", final=True)


def read_text(path: Path) -> str:
    encoding = encoding_of(path) or "utf-8"
    return path.read_bytes().decode(encoding, errors="replace")


def _escape_encoding(head: bytes) -> str | None:
    if not head.isascii():
        return None
    if _ISO_2022.search(head):
        return "iso2022_jp_2"
    if b"\x1b$)C" in head:
        return "iso2022_kr"
    return "hz" if _HZ.search(head) else None


def _is_text_after_mark(head: bytes, encoding: str) -> bool:
    text = head.decode(encoding, errors="replace")
    return text.count("\ufffd") <= max(2, len(text) * 0.02)


def _wide_without_mark(head: bytes) -> str | None:
    if len(head) < 8:
        return None
    even, odd = head[0::2], head[1::2]
    zeros_even, zeros_odd = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros_odd > 0.5 and zeros_even < 0.05:
        return "utf-16-le"
    if zeros_even > 0.5 and zeros_odd < 0.05:
        return "utf-16-be"
    return None


def is_binary(head: bytes) -> bool:
    if not head:
        return False
    controls = sum(1 for byte in head if byte < 32 and byte and byte not in _TEXT_CONTROLS)
    return controls / len(head) > 0.04 or head.count(0) / len(head) > 0.6


def _utf8_survey(path: Path) -> tuple[bytes, int, int]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    sample = b""
    good = bad = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            text = decoder.decode(block)
            if block.isascii():
                continue
            if len(sample) < _SAMPLE:
                first = next(index for index, byte in enumerate(block) if byte > 127)
                start = block.rfind(b"\n", 0, first) + 1
                sample += block[start : start + _SAMPLE - len(sample)]
            damaged = max(text.count("\ufffd") - block.count(b"\xef\xbf\xbd"), 0)
            beyond = sum(1 for character in text if character > "\x7f")
            good, bad = good + beyond - damaged, bad + damaged
    # The last byte may look like the start of a character: "Café".
    return sample, good, bad + len(decoder.decode(b"", final=True))
