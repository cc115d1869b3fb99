"""Which words of a request name something, and which only point to a file."""

from __future__ import annotations

import re
from functools import cache

from rag_engine.function_words import FUNCTION_WORDS
from rag_engine.summarizing import wording

_UNSPACED = re.compile(wording.UNSPACED)
_UNSPACED_FILES = re.compile(wording.UNSPACED_FILES)
_SCRIPT_WITHOUT_BLANKS = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_WORD = re.compile(r"[\w'-]+(?<!['-])")


def is_filling(word: str) -> bool:
    """Whether a word says nothing of which file is meant."""
    return word.casefold() in _filling() or not _UNSPACED.sub("", word).strip()


def naming_words(about: str) -> tuple[str, ...]:
    """The words that may be of a name, folded, in order; empty where the words only point to a file."""
    if _SCRIPT_WITHOUT_BLANKS.search(about):
        about = _UNSPACED.sub(" ", about)
    found = (word.casefold().strip("'-_") for word in _WORD.findall(about))
    return tuple(word for word in found if word and word not in _filling())


def points_to_a_file(about: str) -> bool:
    """Whether a word says that it is a file: "this document", and not only "this"."""
    folded = {word.casefold() for word in _WORD.findall(about)}
    return bool(folded & (wording.FILE_NOUNS | wording.KIND_WORDS)) or bool(_UNSPACED_FILES.search(about))


@cache
def _filling() -> frozenset[str]:
    function_words = " ".join(FUNCTION_WORDS.values()).split()
    return wording.FILE_WORDS | frozenset(function_words)
