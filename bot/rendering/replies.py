from __future__ import annotations

from typing import TYPE_CHECKING

from bot.port import Citation, Reply, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Answer


def final(answer: Answer) -> Reply:
    return Reply(
        text=answer.text,
        sources=sources(answer.citations),
        notices=answer.notices,
        citations=answer.citations,
    )


def sources(citations: Sequence[Citation]) -> tuple[Source, ...]:
    """Places of a number in order of first use."""
    by_number: dict[int, list[Citation]] = {}
    for citation in citations:
        by_number.setdefault(citation.number, []).append(citation)
    return tuple(_source(number, by_number[number]) for number in sorted(by_number))


def _source(number: int, citations: Sequence[Citation]) -> Source:
    places = dict.fromkeys(citation.anchor for citation in citations if citation.anchor)
    return Source(number=number, title=citations[0].title, places=", ".join(places), uri=citations[0].uri)


def printable(text: str) -> str:
    """Without terminal control sequences, because file names may contain anything."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
