"""A card in the words of the files, without a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.answer_events import Delta, Retrieval
from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.phrases import Phrase, phrase
from rag_engine.parsing.media_types import shown
from rag_engine.types import Citation, Hit, Prompt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from rag_engine.answer_events import AnswerEvent
    from rag_engine.graph.card import EntityCard
    from rag_engine.graph.types import EntityKind
    from rag_engine.pipeline import Inquiry

MODEL: Final = "graph"
_KINDS: Final[Mapping[EntityKind, Phrase]] = {
    "abbreviation": "card_abbreviation",
    "code": "card_code",
    "address": "card_address",
    "term": "card_term",
}


async def card_events(
    card: EntityCard, inquiry: Inquiry, *, language: str
) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
    chunks = {statement.chunk.id: statement.chunk for statement in card.statements}
    hits = tuple(Hit(chunk=chunk, score=1.0, rank=rank) for rank, chunk in enumerate(chunks.values(), 1))
    text, citations = written(card, language)
    prompt = Prompt(messages=(), passages=hits)
    yield Retrieval(hits=hits, fallbacks=inquiry.fallbacks, notices=inquiry.notices)
    yield inquiry
    yield Delta(text=text)
    yield GeneratedReply(
        text=text,
        citations=citations,
        model=MODEL,
        prompt=prompt,
        notices=(),
        fallbacks=(),
        seconds={},
        grounded=True,
        support_ratio=1.0,
        language=language,
    )


def written(card: EntityCard, language: str) -> tuple[str, tuple[Citation, ...]]:
    kinds = ", ".join(phrase(_KINDS[kind], language=language) for kind in card.kinds if kind in _KINDS)
    lines = [f"**{_flat(card.name)}**" + (f" – {kinds}" if kinds else "")]
    if card.aliases:
        names = ", ".join(map(_flat, card.aliases))
        lines.append(phrase("card_aliases", language=language, names=names))
    numbers: dict[tuple[str, str], int] = {}
    citations: list[Citation] = []
    document = ""
    for statement in card.statements:
        chunk = statement.chunk
        if chunk.document != document:
            document = chunk.document
            lines.append(f"\n**{_flat(shown(chunk.title))}**\n")
        number = numbers.setdefault((chunk.document, chunk.anchor), len(numbers) + 1)
        lines.append(f"- {_flat(statement.text)} [{number}]")
        citations.append(
            Citation(
                number=number,
                title=chunk.title,
                anchor=chunk.anchor,
                uri=chunk.uri,
                quote=statement.text,
                document=chunk.document,
                chunk=chunk.id,
            )
        )
    if card.related:
        names = ", ".join(map(_flat, card.related))
        lines.append("\n" + phrase("card_related", language=language, names=names))
    return "\n".join(lines), tuple(citations)


def _flat(text: str) -> str:
    kept = " ".join(text.split()).replace("[", "(").replace("]", ")")
    return kept.replace("*", "").replace("`", "'")
