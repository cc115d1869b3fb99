from __future__ import annotations

import re
from typing import Final


def _by_code(table: str) -> dict[int, str]:
    return {int(entry[:2], 16): entry[2:] for entry in table.split()}


_GREEK: Final = dict(
    zip(
        map(ord, "ABGDEZHQIKLMNXOPRSTUFCYWabgdezhqiklmnxoprVstufcywJj"),
        "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρςστυφχψωϑφ",
        strict=True,
    )
)
_FONTS: Final = {
    "symbol": _GREEK
    | _by_code(
        "22∀ 24∃ 2D− 5E⊥ A0€ A2′ A3≤ A5∞ AB↔ AC← AD↑ AE→ AF↓ B0° B1± B2″ B3≥ B4× B5∝ B6∂ B7• B8÷ B9≠ BA≡ BB≈ BC… C5⊕ C6∅ "
        "C7∩ C8∪ C9⊃ CC⊂ CD⊆ CE∈ CF∉ D0∠ D1∇ D2® D3© D4™ D5∏ D6√ D7⋅ D8¬ D9∧ DA∨ DB⇔ DC⇐ DE⇒ E5∑ F2∫"
    ),
    "wingdings": _by_code(
        "22✂ 28☎ 29✆ 2A✉ 4A☺ 4B😐 4C☹ 6C● 6E■ 6F☐ 71❑ 72❒ 74⬧ 75◆ 76❖ 9F• A1○ A7▪ A8☐ AA✦ AB★ D8➢ DF← E0→ E1↑ E2↓ E8➔ "
        "EF⇦ F0⇨ F1⇧ F2⇩ F3⬄ FB✗ FC✓ FD☒ FE☑"
    ),
    "wingdings 2": _by_code("4F✗ 50✓ 51☒ 52☑ 53☒ 54☒ 97• A3☐"),
    "wingdings 3": _by_code("66← 67→ 68↑ 69↓ 7D▶ 84•"),
}
_PRIVATE: Final = re.compile("[\uf020-\uf0ff]")
"""Word maps the codes of symbol fonts here."""
_SUPERSCRIPT: Final = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_SUPERSCRIPTS: Final = re.compile(r"\s*[0-9+−-]{1,6}\s*|n")


def sign(code: int, font: str) -> str:
    known = _FONTS.get(font.strip().lower())
    if known is None:
        return "" if 0xF000 <= code <= 0xF0FF else _character(code)
    return known.get(code & 0xFF if 0xF000 <= code <= 0xF0FF else code, "")


def as_written(text: str, font: str) -> str:
    if font.strip().lower() in _FONTS:
        return "".join(sign(ord(character), font) or _without_private(character) for character in text)
    return _PRIVATE.sub(lambda found: sign(ord(found[0]), "symbol"), text) if _PRIVATE.search(text) else text


def raised(text: str) -> str:
    return text.translate(_SUPERSCRIPT) if _SUPERSCRIPTS.fullmatch(text) else text


def _without_private(character: str) -> str:
    return "" if _PRIVATE.match(character) else character


def _character(code: int) -> str:
    return chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
