from __future__ import annotations

import re
import struct
import unicodedata
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Sequence

_UTF_8_FLAG: Final = 0x800
_UNICODE_PATH: Final = 0x7075
_DOS: Final = "cp437"
_SAMPLE: Final = 200
_WORD: Final = re.compile(r"[^\W\d_]+|[^\x00-\x7f]+")
# Prior likelihood, and lead bytes of common characters for two-byte codecs.
_CODECS: Final = (
    ("gb18030", 1.0, range(0xB0, 0xD8)),
    ("shift_jis", 0.98, range(0x82, 0x98)),
    ("cp949", 0.8, range(0xB0, 0xC9)),
    ("big5", 0.9, range(0xA4, 0xC7)),
    ("cp866", 0.95, None),
    ("cp437", 0.97, None),
    ("cp850", 0.96, None),
    ("cp1252", 0.95, None),
    ("cp852", 0.9, None),
    ("cp1251", 0.9, None),
)
_SCRIPTS: Final = {"CJK": "han", "HIRAGANA": "han", "KATAKANA": "han", "KATAKANA-HIRAGANA": "han"}
_HANGUL_SHARE: Final = 0.55


def member_names(entries: Sequence[zipfile.ZipInfo]) -> Iterator[str]:
    unknown = {raw for entry in entries if (raw := _raw_name(entry)) is not None}
    encoding = _encoding(sorted(unknown)[:_SAMPLE]) if unknown else _DOS
    for entry in entries:
        raw = _raw_name(entry)
        yield (
            entry.orig_filename.partition("\0")[0]
            if raw is None
            else _unicode_path(entry, raw) or raw.decode(encoding, errors="replace")
        )


def _raw_name(entry: zipfile.ZipInfo) -> bytes | None:
    if entry.flag_bits & _UTF_8_FLAG or entry.orig_filename.isascii():
        return None
    try:
        return entry.orig_filename.partition("\0")[0].encode(_DOS)
    except UnicodeEncodeError:
        return None


def _encoding(names: Sequence[bytes]) -> str:
    sample = b"/".join(names)
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError:
        return max(_CODECS, key=lambda codec: _likeness(sample, *codec))[0]
    return "utf-8"


def _likeness(sample: bytes, codec: str, likely: float, everyday: range | None) -> float:
    try:
        text = sample.decode(codec)
    except UnicodeDecodeError:
        return 0.0
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    likeness = sum(map(_word_likeness, words)) / len(words) if words else 0.0
    if everyday is not None:
        firsts = [encoded[0] for letter in text if len(encoded := letter.encode(codec)) == 2]
        likeness *= sum(first in everyday for first in firsts) / len(firsts) if firsts else 0.0
        if codec == "gb18030" and all(first < 0xC9 for first in firsts):
            likeness *= max(_HANGUL_SHARE ** (len(firsts) - 3), 0.5) if len(firsts) > 3 else 1.0
    return likeness * likely


def _word_likeness(word: str) -> float:
    if not all(letter.isalpha() or letter in "ー々" for letter in word):
        return 0.0
    scripts = {_script(letter) for letter in word}
    if len(scripts) > 1:
        return 0.5 if "han" in scripts and "KATAKANA" not in {_block(letter) for letter in word} else 0.1
    if scripts == {"LATIN"}:
        beyond = sum(letter > "\x7f" for letter in word)
        return 1.0 if beyond * 2 <= len(word) and not _changes_case(word) else 0.2
    return 0.6 if _changes_case(word) else 1.0


def _changes_case(word: str) -> bool:
    return any(first.islower() and second.isupper() for first, second in pairwise(word))


def _block(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _script(letter: str) -> str:
    block = _block(letter)
    return _SCRIPTS.get(block, block)


def _unicode_path(entry: zipfile.ZipInfo, raw: bytes) -> str:
    """From the Info-ZIP extra field; valid if the checksum of the old name matches."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == _UNICODE_PATH and len(field) > 5 and field[0] == 1:
            matches = struct.unpack_from("<L", field, 1)[0] == zlib.crc32(raw)
            return field[5:].decode("utf-8", errors="replace") if matches else ""
    return ""
