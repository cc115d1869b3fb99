from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from bot.port import Citation, Reply, Source
from rag_engine.text.place_names import place_in_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Answer, ChunkId, Hit

_NO_SECTIONS: Final[Mapping[ChunkId, str]] = MappingProxyType({})
_PAGE: Final = re.compile(r"p\. ?\d")
_LONGEST_SECTION: Final = 60


def final(answer: Answer, language: str = "en", passages: Sequence[Hit] = ()) -> Reply:
    sections = {hit.chunk.id: hit.chunk.headings[-1] for hit in passages if hit.chunk.headings}
    return Reply(
        text=answer.text,
        sources=sources(answer.citations, language, sections),
        notices=answer.notices,
        citations=answer.citations,
    )


def sources(
    citations: Sequence[Citation], language: str = "en", sections: Mapping[ChunkId, str] = _NO_SECTIONS
) -> tuple[Source, ...]:
    """By number; a page with its section."""
    by_number: dict[int, list[Citation]] = {}
    for citation in citations:
        by_number.setdefault(citation.number, []).append(citation)
    return tuple(_source(number, by_number[number], language, sections) for number in sorted(by_number))


def consulted(answer: Answer, passages: Sequence[Hit]) -> list[str]:
    cited = {citation.document for citation in answer.citations}
    return list(dict.fromkeys(hit.chunk.title for hit in passages if hit.chunk.document not in cited))


def _source(
    number: int, citations: Sequence[Citation], language: str, sections: Mapping[ChunkId, str]
) -> Source:
    places = dict.fromkeys(
        _place(one.anchor, language, sections.get(one.chunk, "")) for one in citations if one.anchor
    )
    return Source(number=number, title=citations[0].title, places=", ".join(places), uri=citations[0].uri)


def _place(anchor: str, language: str, section: str) -> str:
    place = place_in_language(anchor, language)
    section = " ".join(section.split())
    is_short = 0 < len(section) <= _LONGEST_SECTION
    return f"{place}, {section}" if is_short and _PAGE.match(anchor) else place


def printable(text: str) -> str:
    """File names may contain terminal control sequences."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
