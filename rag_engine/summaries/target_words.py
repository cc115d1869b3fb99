from __future__ import annotations

import re
from functools import cache

from rag_engine.summaries import intent_patterns
from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.text.lazy_pattern import lazy

_UNSPACED = lazy(lambda: re.compile(intent_patterns.UNSPACED))
_UNSPACED_FILES = lazy(lambda: re.compile(intent_patterns.UNSPACED_FILES))
_SCRIPT_WITHOUT_BLANKS = lazy(lambda: re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"))
_WORD = lazy(lambda: re.compile(r"[\w'-]+(?<!['-])"))


def is_filling(word: str) -> bool:
    return word.casefold() in _filling() or not _UNSPACED.sub("", word).strip()


def naming_words(about: str) -> tuple[str, ...]:
    if _SCRIPT_WITHOUT_BLANKS.search(about):
        about = _UNSPACED.sub(" ", about)
    found = (word.casefold().strip("'-_") for word in _WORD.findall(about))
    return tuple(word for word in found if word and word not in _filling())


def points_to_a_file(about: str) -> bool:
    folded = {word.casefold() for word in _WORD.findall(about)}
    return bool(folded & (intent_patterns.FILE_NOUNS | intent_patterns.KIND_WORDS)) or bool(
        _UNSPACED_FILES.search(about)
    )


@cache
def _filling() -> frozenset[str]:
    function_words = " ".join(FUNCTION_WORDS.values()).split()
    return intent_patterns.FILE_WORDS | frozenset(function_words)
