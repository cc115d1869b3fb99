"""The few sentences the bot says by itself, in the language of whoever reads them. English where a language is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sentences import de, en, es, fr, it, ja, nl, pt, zh
from rag_engine.language import detect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.port import Person
    from bot.sentences.names import Sentence

__all__ = ["LANGUAGES", "language_of", "say"]

LANGUAGES: Mapping[str, Mapping[Sentence, str]] = {
    module.__name__.rpartition(".")[2]: module.SENTENCES for module in (en, de, fr, es, it, pt, nl, ja, zh)
}


def say(name: Sentence, language: str, /, **values: object) -> str:
    """The sentence in `language` (ISO 639-1), its places filled with `values`, in which braces mean nothing."""
    sentence = LANGUAGES.get(language, en.SENTENCES)[name]
    parts: list[str] = []
    for piece in sentence.split("{"):
        place, found, rest = piece.partition("}")
        parts.append(f"{values[place]}{rest}" if found else piece)
    return "".join(parts)


def language_of(text: str, person: Person, *, chosen: str = "") -> str:
    """The language to speak: the one chosen for the place, else that of the text, else that of the person's client."""
    return chosen or detect(text) or person.language.partition("-")[0].lower() or "en"
