"""Pure: the tokens of RTF, and what its numbers for code pages and character sets mean."""

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
# Character set of a font -> code page.
_CHARACTER_SETS: Final = {
    0: 1252,
    77: 10000,
    78: 932,
    79: 949,
    80: 936,
    81: 950,
    128: 932,
    129: 949,
    130: 1361,
    134: 936,
    136: 950,
    161: 1253,
    162: 1254,
    163: 1258,
    177: 1255,
    178: 1256,
    186: 1257,
    204: 1251,
    222: 874,
    238: 1250,
    254: 437,
}
SYMBOLS: Final = 2
"""The character set of fonts that draw signs in place of letters."""
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
class Token:
    """One token: a `word` with its number, a `symbol`, a brace, or bytes of text (`coded` when written in hex)."""

    kind: str
    word: str = ""
    number: int | None = None
    content: bytes = b""
    coded: bool = False


_OPEN: Final = Token("open")
_CLOSE: Final = Token("close")


def tokens(source: bytes | mmap) -> Iterator[Token]:
    """The tokens of a file in order; what no token can be is passed over, as are the bytes of `\\bin`."""
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
            yield Token("word", word.decode("ascii"), value)
        elif codes is not None:
            yield Token("text", content=bytes.fromhex(codes.replace(b"\\'", b"").decode("ascii")), coded=True)
        elif brace is not None:
            yield _OPEN if brace == b"{" else _CLOSE
        elif text is not None:
            yield Token("text", content=text)
        elif symbol is not None:
            yield Token("symbol", symbol.decode("latin-1"))


@functools.lru_cache(maxsize=64)
def codec_of_page(page: int) -> str:
    """The codec of a Windows, DOS or Mac code page; Western Windows for those nobody knows."""
    name = _CODECS.get(page, f"cp{page}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def codec_of_character_set(number: int) -> str:
    """The codec of a font's character set; empty for one that goes by the document's."""
    return codec_of_page(_CHARACTER_SETS[number]) if number in _CHARACTER_SETS else ""
