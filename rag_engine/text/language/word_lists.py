"""The words of languages, from pyspellchecker's lists: a word that no passage holds is mistyped only if its language
does not have it either.
"""

from __future__ import annotations

import gzip
from bisect import bisect_left
from functools import lru_cache, partial
from importlib.resources import files
from typing import Final

_LISTED: Final = frozenset({"de", "es", "fr", "it", "nl", "pt"})
"""Russian has 20,000 forms in the lists, too few; English words are in the embedder's vocabulary."""
_LOADED_AT_ONCE: Final = 2


def is_listed(word: str, language: str) -> bool:
    """False without a list."""
    if language not in _LISTED:
        return False
    listed, sought = _list(language), word.lower().encode()
    find = partial(_word_around, listed)
    return find(bisect_left(range(len(listed) - 1), sought, key=find)) == sought


def _word_around(listed: bytes, place: int) -> bytes:
    start = listed.rfind(b"\n", 0, place) + 1
    return listed[start + 1 : listed.find(b'":', start)]


@lru_cache(maxsize=_LOADED_AT_ONCE)
def _list(language: str) -> bytes:
    packed = (files("spellchecker") / "resources" / f"{language}.json.gz").read_bytes()
    return gzip.decompress(packed).strip(b"{}\n")
