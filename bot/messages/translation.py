from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.messages import CATALOG, LANGUAGES
from rag_engine.text import messages
from rag_engine.text.messages.message_catalog import MessageCatalog
from rag_engine.text.messages.sentence_translator import SentenceTranslator

if TYPE_CHECKING:
    from bot.messages.names import Sentence

__all__ = ["FILE_REASONS", "PLATFORM", "TRANSLATOR", "in_language"]

PLATFORM: Final = MessageCatalog(Path(__file__).with_name("platform"))

FILE_REASONS: Final[tuple[Sentence, ...]] = (
    "file_cut_short",
    "file_empty",
    "file_login_page",
    "file_lost",
    "file_person_full",
    "file_place_full",
    "file_slow",
    "file_too_large",
    "file_unsupported",
)
"""Stored in English."""

TRANSLATOR: Final = SentenceTranslator(
    (messages.CATALOG, None), (PLATFORM, None), (CATALOG, frozenset(FILE_REASONS))
)


def in_language(text: str, language: str) -> str:
    """ISO 639-1; unchanged if text or language is unknown."""
    return TRANSLATOR.translate(text, language) if language in LANGUAGES else text
