"""Pure: which legacy code page a sample of bytes was written in, where charset-normalizer alone cannot tell."""

from __future__ import annotations

from typing import Final

from charset_normalizer import from_bytes

# Letters beyond ASCII by language. The Latin code pages differ in a few letters only, which statistics of pairs do not
# see: the page wins under which all letters belong to one language. The first of equals wins.
_ALPHABETS: Final = (
    ("cp1252", "äöüßé"),
    ("cp1252", "àâæçéèêëîïôùûüœÿ"),
    ("cp1252", "áéíóúüñªº"),
    ("cp1252", "àèéìíîòóùú"),
    ("cp1250", "áéíóöőúüű"),
    ("cp1254", "çğıöşüâîû"),
    ("cp1252", "áâãàçéêíóôõú"),
    ("cp1252", "åäöæøéèüáíóúýðþ"),
    ("cp1252", "éèëïöüáíóú"),
    ("cp1250", "áčďéěíňóřšťúůýžäôĺľŕ"),
    ("cp1250", "ąćęłńóśźż"),
    ("cp1250", "čćđšž"),
    ("cp1250", "ăâîşţ"),
    ("cp1257", "ąčęėįšųūž"),
    ("cp1257", "āčēģīķļņšūž"),
    ("cp1257", "äõöüšž"),
)
_LATIN: Final = frozenset(
    {"cp1250", "cp1252", "cp1254", "cp1257", "cp1258", "cp437", "cp775", "cp850", "cp852", "cp858", "cp865"}
    | {"latin_1", "hp_roman8", "mac_iceland", "mac_latin2", "mac_roman", "mac_turkish"}
    | {f"iso8859_{part}" for part in (2, 3, 4, 9, 10, 13, 14, 15, 16)}
)
_CYRILLIC: Final = frozenset({"cp1251", "mac_cyrillic", "iso8859_5", "kz1048", "ptcp154"})
_EBCDIC: Final = frozenset({"cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"})
_HEBREW_LETTERS: Final = range(0xE0, 0xFB)
_ENOUGH_LETTERS: Final = 20


def code_page(sample: bytes) -> str | None:
    """The codec of text bytes that are no UTF-8, or None when nothing reads them as text."""
    best = from_bytes(sample).best()
    if best is None or best.encoding in _EBCDIC:
        return None
    if best.encoding in _LATIN:
        return _latin_page(sample) or best.encoding
    if best.encoding in _CYRILLIC and _is_hebrew(sample):
        return "cp1255"
    return best.encoding


def _latin_page(sample: bytes) -> str | None:
    best, best_share = None, 0.5
    for encoding, alphabet in _ALPHABETS:
        text = sample.decode(encoding, errors="replace").lower()
        beyond = [letter for letter in text if letter > "\x7f" and (letter.isalpha() or letter == "\ufffd")]
        share = sum(letter in alphabet for letter in beyond) / len(beyond) if beyond else 1.0
        if share > best_share:
            best, best_share = encoding, share
    return best


def _is_hebrew(sample: bytes) -> bool:
    """Hebrew read as Cyrillic uses lower case up to ъ only, which no Cyrillic text of some length does."""
    beyond = [byte for byte in sample if byte > 0xBF]
    return len(beyond) >= _ENOUGH_LETTERS and all(byte in _HEBREW_LETTERS for byte in beyond)
