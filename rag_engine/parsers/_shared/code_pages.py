"""Legacy code pages, where charset-normalizer alone fails."""

from __future__ import annotations

import re
from typing import Final

_COMMON: Final = ("äöüß", "äöüßéàèêç", "àâæçéèêëîïôùûüœÿ", "áéíóúüñ", "àèéìíîòóùú")
_NORDIC: Final = ("áâãàçéêíóôõúü", "åäöæøé", "åäöæøéèüáíóúýðþ", "éèëïöüáíóú")
_HUNGARIAN: Final = ("áéíóöőúüű",)
_CENTRAL: Final = (*_HUNGARIAN, "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "čćđšž", "ăâîşţ")
_TURKISH: Final = ("çğıöşüâîû",)
_BALTIC: Final = ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž")
_VIETNAMESE: Final = ("àáâăđêôơưèéìíòóùúý",)
# The first whose letters all belong to one language wins.
_PAGES: Final = tuple(
    (page, alphabet)
    for pages, alphabets in (
        (("cp1252",), _COMMON),
        (("cp1250",), _HUNGARIAN),
        (("cp1254",), _TURKISH),
        (("cp1252",), _NORDIC),
        (("cp1250",), _CENTRAL),
        (("cp1257",), _BALTIC),
        (("iso8859_2", "cp852", "mac_latin2"), _CENTRAL),
        (("mac_roman", "cp850"), (*_COMMON, *_NORDIC)),
        (("cp857", "mac_turkish"), _TURKISH),
        (("cp775",), _BALTIC),
        (("cp1258",), _VIETNAMESE),
    )
    for page in pages
    for alphabet in alphabets
)
_BEYOND: Final = re.compile(r"(.?)([^\x00-\x7f])(?=(.?))")
_MARKS: Final = frozenset("“”„‘’‚«»‹›–—…€£°§©®™•·¿¡´×±²³½¼¾\xa0")
"""Between two letters only an apostrophe occurs."""
_WITHIN_WORDS: Final = frozenset("’·\u0300\u0301\u0303\u0309\u0323")
_LONGEST_SAMPLE: Final = 16_384
_LATIN: Final = frozenset(
    {"cp1250", "cp1252", "cp1254", "cp1257", "cp1258", "cp437", "cp775", "cp850", "cp852", "cp858", "cp865"}
    | {"latin_1", "hp_roman8", "mac_iceland", "mac_latin2", "mac_roman", "mac_turkish", "cp857", "cp863"}
    | {"cp861"}
    | {f"iso8859_{part}" for part in (2, 3, 4, 9, 10, 13, 14, 15, 16)}
)
_OF_DOS: Final = frozenset({"cp855", "cp866", "cp1125"})
_OFTEN: Final = frozenset("оеаинтсрвл")
_CYRILLIC: Final = frozenset({"cp1251", "mac_cyrillic", "iso8859_5", "kz1048", "ptcp154"})
_TRAILED_BY_LETTERS: Final = frozenset({"cp932", "shift_jis", "shift_jis_2004", "shift_jisx0213"})
_RUNS: Final = re.compile(rb"([A-Za-z]?)([\x80-\xff]+)(?=([A-Za-z]?))")
_LONGEST_RUN: Final = 2
_EBCDIC: Final = frozenset({"cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"})
_HEBREW_LETTERS: Final = range(0xE0, 0xFB)
_ENOUGH_LETTERS: Final = 20


def code_page(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None or best.encoding in _EBCDIC:
        return None
    if best.encoding in _LATIN or (best.encoding not in _TRAILED_BY_LETTERS and _is_among_latin(sample)):
        return _latin_page(sample) or best.encoding
    if best.encoding in _CYRILLIC and _is_hebrew(sample):
        return "cp1255"
    if best.encoding in _OF_DOS and _common_letters(sample, "cp1251") >= _common_letters(
        sample, best.encoding
    ):
        return "cp1251"
    return best.encoding


def _common_letters(sample: bytes, encoding: str) -> int:
    return sum(1 for letter in sample.decode(encoding, errors="replace") if letter in _OFTEN)


def _is_among_latin(sample: bytes) -> bool:
    runs = _RUNS.findall(sample)
    return bool(runs) and all(len(run) <= _LONGEST_RUN and (before or after) for before, run, after in runs)


def _latin_page(sample: bytes) -> str | None:
    best, best_share = None, 0.5
    texts: dict[str, list[tuple[str, str, str]]] = {}
    for encoding, alphabet in _PAGES:
        if encoding not in texts:
            text = sample[:_LONGEST_SAMPLE].decode(encoding, errors="replace")
            texts[encoding] = _BEYOND.findall(text)
        beyond = texts[encoding]
        likely = sum(_is_likely(before, sign, after, alphabet) for before, sign, after in beyond)
        share = likely / len(beyond) if beyond else 1.0
        if share > best_share:
            best, best_share = encoding, share
    return best


def _is_likely(before: str, sign: str, after: str, alphabet: str) -> bool:
    if sign in "ªº":
        return before.isdigit() or before == "."
    if sign.lower() in alphabet:
        return not (sign.isupper() and before.islower())
    within = before.isalpha() and after.isalpha()
    return sign in _WITHIN_WORDS if within else sign in _MARKS or sign in _WITHIN_WORDS


def _is_hebrew(sample: bytes) -> bool:
    beyond = [byte for byte in sample if byte > 0xBF]
    return len(beyond) >= _ENOUGH_LETTERS and all(byte in _HEBREW_LETTERS for byte in beyond)
