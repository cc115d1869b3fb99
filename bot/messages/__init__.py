"""What the bot says, in the reader's language or else English.

Sentences are in `catalog/<language>.toml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.text.language import detect
from rag_engine.text.messages.message_catalog import MessageCatalog

if TYPE_CHECKING:
    from bot.messages.names import Sentence
    from bot.port import Person

__all__ = ["CATALOG", "LANGUAGES", "language_of", "say"]

LANGUAGES: Final = ("de", "en", "es", "fr", "it", "ja", "ko", "nl", "pt", "ru", "zh")

CATALOG: Final = MessageCatalog(Path(__file__).with_name("catalog"))


def say(name: Sentence, language: str, /, **values: object) -> str:
    """ISO 639-1; braces in values have no meaning."""
    return CATALOG.say(name, language, values)


def language_of(text: str, person: Person, *, chosen: str = "") -> str:
    """The place's, else the text's, else the client's."""
    return chosen or detect(text) or person.language.partition("-")[0].lower() or "en"
