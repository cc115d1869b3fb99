"""The one text analyzer: what both indexes store for a passage, and what a query asks for."""

from __future__ import annotations

import re
import unicodedata

from rag_engine.language import detect

VERSION = "1"
"""Changes whenever the same text would give other tokens: an index of another version must be rebuilt."""

_WORD = re.compile(r"\w+")


def tokens(text: str, *, language: str) -> list[str]:
    """The tokens of a passage in `language` (ISO 639-1, or "" when unknown), in reading order."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def query_tokens(text: str) -> tuple[str, ...]:
    """The tokens a query asks for, in every form that passages of its likely languages may hold."""
    return tuple(tokens(text, language=detect(text)))
