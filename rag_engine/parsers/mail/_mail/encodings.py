from __future__ import annotations

import codecs
import re
from email.errors import HeaderParseError
from email.header import decode_header
from typing import Final

from rag_engine.parsers._shared.code_pages import code_page
from rag_engine.parsers._shared.encoding import TRUE_NAMES
from rag_engine.parsers._shared.sections import one_line

_SAMPLE: Final = 32_768
_LONGEST_FIELD: Final = 20_000
_SPLIT_WORD: Final = re.compile(r"(=\?[^?]+\?[bBqQ]\?[^?]*\?=)\s+(?==\?)")
_SEVEN_BITS: Final = re.compile("iso2022|utf_7|hz")


def decoded(content: bytes, charset: str) -> str:
    codec = _codec(charset)
    if not content.isascii():
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass
    elif not _SEVEN_BITS.search(codec) and b"\0" not in content:
        return content.decode("ascii")
    try:
        if codec not in {"", "ascii", "utf-8"}:
            return content.decode(codec)
    except (UnicodeDecodeError, ValueError):
        pass
    guessed = code_page(content[:_SAMPLE])
    if codec and codec != "ascii":
        fits = content.decode(codec, "replace").count("\ufffd") * 50 < len(content)
        guessed = codec if fits or guessed is None else guessed
    return content.decode(guessed or "cp1252", "replace")


def field_text(value: object) -> str:
    """On one line, with encoded words (RFC 2047) decoded."""
    text = str(value or "")[:_LONGEST_FIELD]
    if "=?" not in text:
        return one_line(text)
    try:
        words = decode_header(_SPLIT_WORD.sub(r"\1", text))
    except (HeaderParseError, ValueError, IndexError):
        return one_line(text)
    texts = (word if isinstance(word, str) else decoded(word, charset or "ascii") for word, charset in words)
    return one_line("".join(texts))


def _codec(charset: str) -> str:
    name = charset.strip("\"' ").lower()
    try:
        return codecs.lookup(TRUE_NAMES.get(name, name)).name if name else ""
    except (LookupError, ValueError):
        return ""
