"""What is refused in chat, as a sentence in the language of whoever is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.sentences import say
from rag_engine.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

__all__ = ["Phrase", "Refusal"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence by its name, and what fills its places: words, or phrases that are said in the same language."""

    name: Sentence
    values: Mapping[str, str | Phrase] = field(default_factory=dict[str, "str | Phrase"])

    def told(self, language: str) -> str:
        """The sentence in `language` (ISO 639-1)."""
        values = {
            place: value.told(language) if isinstance(value, Phrase) else value
            for place, value in self.values.items()
        }
        return say(self.name, language, **values)


class Refusal(NotAllowed):
    """`NotAllowed` that can be told in every language; its text, for the console and the log, is English."""

    def __init__(self, name: Sentence, /, **values: str | Phrase) -> None:
        self.phrase = Phrase(name, values)
        super().__init__(self.phrase.told("en"))

    def told(self, language: str) -> str:
        """The sentence in `language` (ISO 639-1)."""
        return self.phrase.told(language)
