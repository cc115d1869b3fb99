from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.errors import FileTooLarge
from rag_engine.parsing.media_types import shown

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from rag_engine.types import Section

_PER_SECTION: Final = 64
"""Characters that a section counts beside its words, to limit very many tiny ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimits:
    characters: int = 20_000_000
    passages: int = 40_000


class MessageText:
    def __init__(self, limits: TextLimits) -> None:
        self._limits = limits
        self._used = TextLimits(characters=0, passages=0)

    def reserve(self, characters: int, passages: int) -> None:
        self._used = _sum(self._used, characters, passages)

    def check(self, name: str) -> None:
        if _over(self._used, self._limits):
            raise FileTooLarge(
                f"{name} was not added: the files of one message may have {self._limits.characters:,} characters "
                f"in {self._limits.passages:,} passages together; send it on its own, or split it."
            )


class DocumentText:
    def __init__(self, limits: TextLimits, *, name: str, message: MessageText | None = None) -> None:
        self._limits = limits
        self._name = name
        self._message = message
        self._used = TextLimits(characters=0, passages=0)

    @property
    def characters(self) -> int:
        return self._used.characters

    def sections(self, sections: Iterable[Section]) -> None:
        self._add(sum(map(_characters, sections)), 0)

    def passages(self, count: int) -> None:
        self._add(0, count)

    @contextmanager
    def refunded_on_error(self) -> Generator[None]:
        """To the other files of the message."""
        try:
            yield
        except BaseException:
            if self._message is not None:
                self._message.reserve(-self._used.characters, -self._used.passages)
            raise

    def _add(self, characters: int, passages: int) -> None:
        if self._message is not None:
            self._message.reserve(characters, passages)
        self._used = _sum(self._used, characters, passages)
        name, most = shown(self._name), self._limits
        if self._used.characters > most.characters:
            raise FileTooLarge(
                f"{name} has more than {most.characters:,} characters, the most that is read; "
                "split it into smaller files."
            )
        if self._used.passages > most.passages:
            raise FileTooLarge(
                f"{name} becomes more than {most.passages:,} passages, the most that is read; "
                "split it into smaller files."
            )
        if self._message is not None:
            self._message.check(name)


def _sum(used: TextLimits, characters: int, passages: int) -> TextLimits:
    return TextLimits(characters=used.characters + characters, passages=used.passages + passages)


def _over(used: TextLimits, most: TextLimits) -> bool:
    return used.characters > most.characters or used.passages > most.passages


def _characters(section: Section) -> int:
    return len(section.text) + len(section.anchor) + sum(map(len, section.headings)) + _PER_SECTION
