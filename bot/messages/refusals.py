from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from bot.messages import say
from bot.messages.translation import in_language as translated
from bot.port import WriteRefused
from rag_engine.errors import NotAllowed, UnknownDocument, UnknownKnowledgeBase, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.messages.names import Sentence
    from bot.port import ChatError

__all__ = [
    "Cause",
    "Invalid",
    "Localizable",
    "LocalizedError",
    "NameList",
    "NoSuchDocument",
    "NoSuchKnowledgeBase",
    "Phrase",
    "PlaceName",
    "Refusal",
]


class Localizable(ABC):
    @abstractmethod
    def in_language(self, language: str) -> str: ...


Value: TypeAlias = "str | int | Localizable"
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class Phrase(Localizable):
    name: Sentence
    values: Mapping[str, Value] = field(default_factory=dict[str, "Value"])

    def in_language(self, language: str) -> str:
        values = {
            place: value.in_language(language) if isinstance(value, Localizable) else value
            for place, value in self.values.items()
        }
        return say(self.name, language, **values)


@dataclass(frozen=True, slots=True)
class PlaceName(Localizable):
    """A label or channel as written, or a description such as "this thread". `origin` and `suffix` tell equal names apart."""

    name: str | Phrase
    origin: Phrase | None = None
    suffix: str = ""

    @property
    def is_description(self) -> bool:
        return isinstance(self.name, Phrase)

    def in_language(self, language: str) -> str:
        text = self.name if isinstance(self.name, str) else self.name.in_language(language)
        origin = f"({self.origin.in_language(language)})" if self.origin else ""
        return " ".join(part for part in (text, origin, self.suffix) if part)


@dataclass(frozen=True, slots=True)
class NameList(Localizable):
    """ "a, b and c"; beyond `most`, how many more."""

    names: Sequence[PlaceName]
    most: int

    def in_language(self, language: str) -> str:
        names = list(dict.fromkeys(name.in_language(language) for name in self.names))
        if len(names) > self.most:
            rest = len(names) - self.most + 1
            names = [*names[: self.most - 1], say("count_more", language, count=rest)]
        if not names:
            return ""
        text = names[0]
        for name in names[1:-1]:
            text = say("list_comma", language, names=text, last=name)
        return say("list_last", language, names=text, last=names[-1]) if len(names) > 1 else text


@dataclass(frozen=True, slots=True)
class Cause(Localizable):
    """The platform's sentence if it names the remedy, else that it may work later."""

    error: ChatError | None

    def in_language(self, language: str) -> str:
        if isinstance(self.error, WriteRefused):
            return translated(str(self.error), language)
        return say("try_again", language)


class LocalizedError(UserError):
    """Console and log get English."""

    def __init__(self, name: Sentence, /, **values: Value) -> None:
        self.phrase = Phrase(name, {key: _short(value) for key, value in values.items()})
        super().__init__(self.phrase.in_language("en"))

    def in_language(self, language: str) -> str:
        return self.phrase.in_language(language)


def _short(value: Value) -> Value:
    """What people typed may be long."""
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}…"
    return value


class Refusal(LocalizedError, NotAllowed):
    """The person may not do this."""


class Invalid(LocalizedError):
    """This cannot be done as the person asked."""


class NoSuchKnowledgeBase(LocalizedError, UnknownKnowledgeBase):
    """No knowledge base of that name is visible to the person."""


class NoSuchDocument(LocalizedError, UnknownDocument):
    """The knowledge base has no document of that name."""
