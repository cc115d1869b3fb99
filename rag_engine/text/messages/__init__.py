"""The engine says, stores and logs its sentences in English; `en.toml` also lists earlier wordings, which are stored."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rag_engine.text.messages.message_catalog import MessageCatalog
from rag_engine.text.messages.sentence_translator import SentenceTranslator

__all__ = ["CATALOG", "LANGUAGES", "in_language"]

LANGUAGES: Final = frozenset({"de", "en", "es", "fr", "it", "ja", "ko", "nl", "pt", "ru", "zh"})

CATALOG: Final = MessageCatalog(Path(__file__).parent)

_TRANSLATOR: Final = SentenceTranslator((CATALOG, None))


def in_language(text: str, language: str) -> str:
    """ISO 639-1; unchanged if unknown."""
    return _TRANSLATOR.translate(text, language) if language in LANGUAGES else text
