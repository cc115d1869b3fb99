from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Final

_SAMPLE: Final = 8_192
_LEAST: Final = 8
_PLAUSIBLE: Final = 0.98
_COMMON: Final = 0.85
"""Of the three most frequent blocks; binary data scatters over all."""
_WRITTEN: Final = frozenset("LMNPZS")
_BLANKS: Final = frozenset("\t\n\r\f")


def wide_encoding(head: bytes) -> str | None:
    sample = head[: min(len(head) // 4 * 4, _SAMPLE)]
    if len(sample) < _LEAST or 0 not in sample:
        return None
    scores = {encoding: _score(sample, encoding) for encoding in ("utf-32-le", "utf-32-be")}
    if max(scores.values()) == 0:
        scores = {encoding: _score(sample, encoding) for encoding in ("utf-16-le", "utf-16-be")}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] else None


def _score(sample: bytes, encoding: str) -> float:
    text = sample.decode(encoding, errors="replace")[:-1]
    if not text or "\ufffd" in text:
        return 0
    written = sum(
        character in _BLANKS or unicodedata.category(character)[0] in _WRITTEN for character in text
    )
    if written < len(text) * _PLAUSIBLE:
        return 0
    blocks = Counter(_block(character) for character in text)
    common = sum(count for _, count in blocks.most_common(3)) / len(text)
    # Blanks and line ends occur in every text and reveal the byte order.
    blanks = sum(character in " \n\r\u3000。、，" or "0" <= character <= "9" for character in text)
    return common + blanks / len(text) if common >= _COMMON and blanks else 0


def _block(character: str) -> str:
    code = ord(character)
    if 0x3000 <= code < 0xA000 or 0xAC00 <= code < 0xD7B0 or 0xFF00 <= code < 0xFFF0:
        return "East Asia"
    return str(code >> 8)
