from __future__ import annotations

from typing import TYPE_CHECKING

from bot.port import Citation, Reply, Source
from rag_engine.text.place_names import place_in_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Answer


def final(answer: Answer, language: str = "en") -> Reply:
    return Reply(
        text=answer.text,
        sources=sources(answer.citations, language),
        notices=answer.notices,
        citations=answer.citations,
    )


def sources(citations: Sequence[Citation], language: str = "en") -> tuple[Source, ...]:
    """Places of a number in order of first use."""
    by_number: dict[int, list[Citation]] = {}
    for citation in citations:
        by_number.setdefault(citation.number, []).append(citation)
    return tuple(_source(number, by_number[number], language) for number in sorted(by_number))


def _source(number: int, citations: Sequence[Citation], language: str) -> Source:
    places = dict.fromkeys(place_in_language(one.anchor, language) for one in citations if one.anchor)
    return Source(number=number, title=citations[0].title, places=", ".join(places), uri=citations[0].uri)


def printable(text: str) -> str:
    """Without terminal control sequences, because file names may contain anything."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
