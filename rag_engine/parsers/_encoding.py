"""The encoding of a text file from its bytes, and its lines one by one whatever its size."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers._code_pages import code_page
from rag_engine.parsers._lines import Line
from rag_engine.parsers._wide import wide_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SAMPLE: Final = 65_536
_BLOCK: Final = 1 << 20
_LONGEST_LINE: Final = 100_000
"""Characters: a longer line is handed out in parts, so that a file of one line does not fill the memory."""

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
# What pages call by an older name is, and browsers take it for, the larger set of characters.
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
    """The codec that reads the file, or None when it holds no text at all.

    Almost valid UTF-8 stays UTF-8: one damaged byte must not turn a whole file into another alphabet.
    """
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding if encoding == "utf-8-sig" or _is_mostly_valid(head, encoding) else None
    wide = _wide_without_mark(head)
    if wide is not None:
        return wide
    escaped = _by_escapes(head)
    if escaped is not None:
        return escaped
    if is_binary(head):
        return wide_encoding(head)
    sample, good, bad = _survey(path)
    if bad * 2 <= good or not sample:
        return "utf-8"
    return (wide_encoding(head) if 0 in head else None) or code_page(sample)


def opened(path: Path) -> str:
    """The codec that reads the file. Raises `UnsupportedFile` when it holds no text."""
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is not text, so it cannot be read.")
    return encoding


def opened_markup(path: Path) -> str:
    """The codec of an HTML or XML file: by its mark, else what it declares if that fits, else what the bytes suggest.

    Raises `UnsupportedFile` when it holds no text.
    """
    encoding = opened(path)
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    # Bytes that are right UTF-8 are nothing else, whatever is declared.
    if encoding in _WIDE or (encoding == "utf-8" and _reads(head, "utf-8")):
        return encoding
    declared = _DECLARED.search(head[:4096])
    label = declared[1].decode("ascii").lower() if declared is not None else encoding
    try:
        name = codecs.lookup(TRUE_NAMES.get(label, label)).name
    except LookupError:
        return encoding
    # A wrong declaration is common, and the bytes know better; pages of one byte a character read anything.
    is_possible = name not in _WIDE and (encoding != "utf-8" or name in _STRICT)
    return name if is_possible and _reads(head, name) else encoding


def _reads(head: bytes, encoding: str) -> bool:
    """Whether the codec reads the bytes without a fault; the last character may be cut."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def text_lines(path: Path, encoding: str) -> Iterator[Line]:
    """The numbered lines of the file without their ends, damaged bytes shown as U+FFFD; a very long line comes in parts."""
    number = 1
    rest = ""
    for text in text_blocks(path, encoding):
        *lines, rest = _NEWLINES.split(rest + text)
        for line in lines:
            yield Line(number=number, text=line)
            number += 1
        while len(rest) > _LONGEST_LINE:
            cut = rest.rfind(" ", _LONGEST_LINE // 2, _LONGEST_LINE) + 1 or _LONGEST_LINE
            yield Line(number=number, text=rest[:cut])
            rest = rest[cut:]
    if rest:
        yield Line(number=number, text=rest)


def text_blocks(path: Path, encoding: str) -> Iterator[str]:
    """The text in blocks, none of which ends between a carriage return and its line feed."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    waiting = ""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            text = waiting + decoder.decode(block)
            waiting = "\r" if text.endswith("\r") else ""
            yield text.removesuffix("\r")
    yield waiting + decoder.decode(b"", final=True)


def read_text(path: Path) -> str:
    """The whole text of a file that is known to be text; nothing decodable counts as UTF-8."""
    encoding = encoding_of(path) or "utf-8"
    return path.read_bytes().decode(encoding, errors="replace")


def _by_escapes(head: bytes) -> str | None:
    """Encodings of seven bits, which tell by escape sequences what follows."""
    if not head.isascii():
        return None
    if _ISO_2022.search(head):
        return "iso2022_jp_2"
    if b"\x1b$)C" in head:
        return "iso2022_kr"
    return "hz" if _HZ.search(head) else None


def _is_mostly_valid(head: bytes, encoding: str) -> bool:
    """Whether a byte order mark stands before text and not by chance before other bytes."""
    text = head.decode(encoding, errors="replace")
    return text.count("\ufffd") <= max(2, len(text) * 0.02)


def _wide_without_mark(head: bytes) -> str | None:
    """UTF-16 without a byte order mark: nearly every other byte is zero, the others hardly ever."""
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
    """True when control bytes other than NUL are too many for a text, or most bytes are NUL."""
    if not head:
        return False
    controls = sum(1 for byte in head if byte < 32 and byte and byte not in _TEXT_CONTROLS)
    return controls / len(head) > 0.04 or head.count(0) / len(head) > 0.6


def _survey(path: Path) -> tuple[bytes, int, int]:
    """A sample of the file around its first bytes beyond ASCII; how many characters are good UTF-8, how many are not."""
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
    # The file may end with what only looks like the beginning of a character: "Café".
    return sample, good, bad + len(decoder.decode(b"", final=True))
