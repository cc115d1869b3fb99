"""The sentences of the best passages, compared with the question by meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.evidence.answer_kinds import asked_kind, holds
from rag_engine.text.pointing_back import points_back
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.ports import Embedder
    from rag_engine.types import Chunk, Hit, Matrix

_PASSAGES: Final = 3
_MOST: Final = 14
"""Sentences of a passage."""
_LONGEST: Final = 400
# Calibrated with `python -m benchmarks.answers.evidence paraphrased xquad-en office hotpotqa-100 rgb-en_fact`.
_CLOSE: Final = 0.45
_AHEAD: Final = 0.3
_FEWEST, _UNRELATED = 5, 0.8
"""Fewer sentences are filled up, at this distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceCosines:
    """0 (unrelated) to 1; the lead is over the average of the sentences."""

    best: float
    lead: float
    best_of_kind: float
    lead_of_kind: float

    @property
    def is_answer(self) -> bool:
        return self.best_of_kind >= _CLOSE and self.lead_of_kind >= _AHEAD


TYPICAL: Final = SentenceCosines(best=0.5, lead=0.3, best_of_kind=0.0, lead_of_kind=0.0)
"""Of an unknown language."""


async def compared(
    questions: Sequence[str], hits: Sequence[Hit], *, embedder: Embedder, contrast: float
) -> Mapping[str, SentenceCosines]:
    """By question. Raises `Unavailable`."""
    sentences = dict(said for hit in hits[:_PASSAGES] for said in _sentences(hit.chunk))
    if not sentences or not questions:
        return {}
    asked = await embedder.embed(questions, side="query")
    vectors = await embedder.embed(list(sentences), side="passage")
    return {
        question: _cosines(question, list(sentences.values()), vectors @ row, contrast)
        for question, row in zip(questions, asked, strict=True)
    }


def _cosines(question: str, sentences: Sequence[str], cosines: Matrix, contrast: float) -> SentenceCosines:
    kind = asked_kind(question)
    held = [place for place, said in enumerate(sentences) if not kind or holds(kind, said, question)]
    average, best = float(cosines.mean()), float(cosines.max())
    imagined = max(0, _FEWEST - len(sentences))
    usual = (float(cosines.sum()) + imagined * (1 - _UNRELATED * contrast)) / (len(sentences) + imagined)
    of_kind = float(cosines[held].max()) if held else average
    return SentenceCosines(
        best=1 - (1 - best) / contrast,
        lead=(best - usual) / contrast,
        best_of_kind=1 - (1 - of_kind) / contrast,
        lead_of_kind=(of_kind - average) / contrast,
    )


def _sentences(chunk: Chunk) -> list[tuple[str, str]]:
    is_text = chunk.kind not in ("table", "code")
    parts = split_sentences(chunk.text) if is_text else chunk.text.split("\n")
    said = [" ".join(part.split())[:_LONGEST] for part in parts if part.strip()][:_MOST]
    return [
        (f"{said[place - 1]} {part}" if place and is_text and points_back(part) else part, part)
        for place, part in enumerate(said)
    ]
