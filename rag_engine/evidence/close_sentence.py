"""A sentence that answers in other words than the question's, by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.evidence.answer_kinds import asked_kind, holds
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.ports import Embedder
    from rag_engine.types import Chunk, Hit

_PASSAGES: Final = 3
_MOST: Final = 14
"""Sentences of a passage."""
_LONGEST: Final = 400
# Calibrated with `python -m benchmarks.answers.evidence paraphrased xquad-en office hotpotqa-100 rgb-en_fact`.
_CLOSE: Final = 0.5
_AHEAD: Final = 0.3


async def is_in_sentence(question: str, hits: Sequence[Hit], *, embedder: Embedder, contrast: float) -> bool:
    """Whether a sentence with the kind of answer asked for is close, and far ahead of the average. Raises `Unavailable`."""
    sentences = list(dict.fromkeys(part for hit in hits[:_PASSAGES] for part in _sentences(hit.chunk)))
    kind = asked_kind(question)
    held = [place for place, part in enumerate(sentences) if not kind or holds(kind, part, question)]
    if not held:
        return False
    (asked,) = await embedder.embed([question], side="query")
    cosines = await embedder.embed(sentences, side="passage") @ asked
    best = float(cosines[held].max())
    closeness = 1 - (1 - best) / contrast
    return closeness >= _CLOSE and (best - float(cosines.mean())) / contrast >= _AHEAD


def _sentences(chunk: Chunk) -> list[str]:
    parts = chunk.text.split("\n") if chunk.kind in ("table", "code") else split_sentences(chunk.text)
    return [part.strip()[:_LONGEST] for part in parts if part.strip()][:_MOST]
