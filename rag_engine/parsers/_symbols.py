"""Pure: what is only drawn, as characters every program knows: the signs of the fonts Symbol and Wingdings, raised digits."""

from __future__ import annotations

import re
from typing import Final

_GREEK: Final = dict(
    zip(
        map(ord, "ABGDEZHQIKLMNXOPRSTUFCYWabgdezhqiklmnxoprVstufcywJj"),
        "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρςστυφχψωϑφ",
        strict=True,
    )
)
_SYMBOL: Final = _GREEK | {
    0xA3: "≤",
    0xA5: "∞",
    0xAB: "↔",
    0xAC: "←",
    0xAD: "↑",
    0xAE: "→",
    0xAF: "↓",
    0xB0: "°",
    0xB1: "±",
    0xB2: "″",
    0xB3: "≥",
    0xB4: "×",
    0xB5: "∝",
    0xB6: "∂",
    0xB7: "•",
    0xB8: "÷",
    0xB9: "≠",
    0xBA: "≡",
    0xBB: "≈",
    0xBC: "…",
    0xC5: "⊕",
    0xC6: "∅",
    0xC7: "∩",
    0xC8: "∪",
    0xC9: "⊃",
    0xCC: "⊂",
    0xCD: "⊆",
    0xCE: "∈",
    0xCF: "∉",
    0xD0: "∠",
    0xD1: "∇",
    0xD2: "®",
    0xD3: "©",
    0xD4: "™",
    0xD5: "∏",
    0xD6: "√",
    0xD7: "⋅",
    0xD8: "¬",
    0xD9: "∧",
    0xDA: "∨",
    0xDB: "⇔",
    0xDC: "⇐",
    0xDE: "⇒",
    0xE5: "∑",
    0xF2: "∫",
    0x22: "∀",
    0x24: "∃",
    0x2D: "−",
    0x5E: "⊥",
    0xA2: "′",
    0xA0: "€",
}
_WINGDINGS: Final = {
    0x22: "✂",
    0x28: "☎",
    0x29: "✆",
    0x2A: "✉",
    0x4A: "☺",
    0x4B: "😐",
    0x4C: "☹",
    0x6C: "●",
    0x6E: "■",
    0x6F: "☐",
    0x71: "❑",
    0x72: "❒",
    0x74: "⬧",
    0x75: "◆",
    0x76: "❖",
    0x9F: "•",
    0xA1: "○",
    0xA7: "▪",
    0xA8: "☐",
    0xAA: "✦",
    0xAB: "★",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xEF: "⇦",
    0xF0: "⇨",
    0xF1: "⇧",
    0xF2: "⇩",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
    0xF3: "⬄",
}
_WINGDINGS_2: Final = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐", 0x97: "•"}
_WINGDINGS_3: Final = {0x7D: "▶", 0x66: "←", 0x67: "→", 0x68: "↑", 0x69: "↓", 0x84: "•"}
_FONTS: Final = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": _WINGDINGS_3,
}
# Where such fonts keep their signs when they are not written as letters.
_PRIVATE: Final = re.compile("[\uf020-\uf0ff]")

_SUPERSCRIPT: Final = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_SUPERSCRIPTS: Final = re.compile(r"\s*[0-9+−-]{1,6}\s*|n")


def sign(code: int, font: str) -> str:
    """The character for a sign of `font`; empty when nobody knows what it looks like."""
    known = _FONTS.get(font.strip().lower())
    if known is None:
        return "" if 0xF000 <= code <= 0xF0FF else _character(code)
    return known.get(code & 0xFF if 0xF000 <= code <= 0xF0FF else code, "")


def as_written(text: str, font: str) -> str:
    """`text` in `font` as characters that mean the same in any font."""
    if font.strip().lower() in _FONTS:
        # Letters of such a font are signs as well; what has no sign is left as it is typed.
        return "".join(sign(ord(character), font) or _plain(character) for character in text)
    return _PRIVATE.sub(lambda found: sign(ord(found[0]), "symbol"), text) if _PRIVATE.search(text) else text


def raised(text: str) -> str:
    """What stands above the line, as 6 in 10⁶; words, such as the end of 1st, stay as they are."""
    return text.translate(_SUPERSCRIPT) if _SUPERSCRIPTS.fullmatch(text) else text


def _plain(character: str) -> str:
    return "" if _PRIVATE.match(character) else character


def _character(code: int) -> str:
    return chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
