"""RTF tokens, code pages and character sets (RTF 1.9.1)."""

from __future__ import annotations

import codecs
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

_TOKEN: Final = re.compile(
    rb"((?:\\'[0-9a-fA-F]{2})+)|\\(?:([a-zA-Z]{1,40})(-?[0-9]{1,10})? ?|([^a-zA-Z]))|([{}])|[\r\n\0]+|([^\\{}\r\n\0]+)"
)
_CHARACTER_SETS: Final = {
    **dict(zip((0, 77, 78, 79, 80, 81), (1252, 10000, 932, 949, 936, 950), strict=True)),
    **dict(zip((128, 129, 130, 134, 136), (932, 949, 1361, 936, 950), strict=True)),
    **dict(zip((161, 162, 163, 177, 178, 186), (1253, 1254, 1258, 1255, 1256, 1257), strict=True)),
    **dict(zip((204, 222, 238, 254), (1251, 874, 1250, 437), strict=True)),
}
SYMBOLS: Final = 2
_CODECS: Final = {
    10000: "mac_roman",
    10001: "shift_jis",
    10006: "mac_greek",
    10007: "mac_cyrillic",
    10029: "mac_latin2",
    10081: "mac_turkish",
    936: "gb18030",
    1361: "johab",
    65001: "utf-8",
    20932: "euc_jp",
    51949: "euc_kr",
}


@dataclass(frozen=True, slots=True)
class RtfToken:
    """A control `word`, a `symbol`, a brace, or text bytes (`coded` if in hex)."""

    kind: str
    word: str = ""
    number: int | None = None
    content: bytes = b""
    coded: bool = False


_OPEN: Final = RtfToken("open")
_CLOSE: Final = RtfToken("close")


def tokens(source: bytes | mmap) -> Iterator[RtfToken]:
    """Malformed bytes and the data of `\\bin` are skipped."""
    at, end = 0, len(source)
    while at < end:
        found = _TOKEN.match(source, at)
        if found is None:
            at += 1
            continue
        at = found.end()
        codes, word, number, symbol, brace, text = found.groups()
        if word is not None:
            value = int(number) if number is not None else None
            if word == b"bin" and value is not None:
                at += max(value, 0)
                continue
            yield RtfToken("word", word.decode("ascii"), value)
        elif codes is not None:
            yield RtfToken(
                "text", content=bytes.fromhex(codes.replace(b"\\'", b"").decode("ascii")), coded=True
            )
        elif brace is not None:
            yield _OPEN if brace == b"{" else _CLOSE
        elif text is not None:
            yield RtfToken("text", content=text)
        elif symbol is not None:
            yield RtfToken("symbol", symbol.decode("latin-1"))


@functools.lru_cache(maxsize=64)
def codec_of_page(page: int) -> str:
    name = _CODECS.get(page, f"cp{page}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def codec_of_character_set(number: int) -> str:
    return codec_of_page(_CHARACTER_SETS[number]) if number in _CHARACTER_SETS else ""
