from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.generation.prompt_safety import neutral
from rag_engine.text.place_names import place_in_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Hit

_NAMED_TITLES: Final = 3


def closest_titles(passages: Sequence[Hit], *, language: str) -> tuple[str, ...]:
    """Once each, with the place of its best passage."""
    places = {hit.chunk.title: hit.chunk.anchor for hit in reversed(passages) if hit.chunk.title}
    titles = dict.fromkeys(hit.chunk.title for hit in passages if hit.chunk.title)
    named = [
        ", ".join(part for part in (title, place_in_language(places[title], language)) if part)
        for title in titles
    ]
    return shown(named[:_NAMED_TITLES])


def shown(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(neutral(word, keep_markers=False) for word in words)
