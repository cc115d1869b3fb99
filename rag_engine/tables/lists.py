from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import concepts_at
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.text.language import detect

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORTEST: Final = 3
"""With its header."""
_LONGEST_HEADER: Final = 4


def begins_with_header(texts: Sequence[str], *names: str) -> bool:
    """The first text names what the others are: as the sheet or file is called, by a known word, or above numbers."""
    first, *others = texts
    if first in others or any(map(str.isdigit, first)):
        return False
    if all(any(map(str.isdigit, text)) for text in others):
        return True
    language = detect(" ".join(names)) or "en"
    said = header_words(first, language)
    if not said or len(said) > _LONGEST_HEADER:
        return False
    named = {form for name in names for word in header_words(name, language) for form in word.forms}
    return concepts_at(said, 0)[0] == len(said) or any(word.forms & named for word in said)
