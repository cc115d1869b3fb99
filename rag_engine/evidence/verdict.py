from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rag_engine.evidence.calibration import probability
from rag_engine.evidence.close_sentence import TYPICAL
from rag_engine.evidence.features import read
from rag_engine.evidence.passage_words import PassageWords
from rag_engine.text.question_parts import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.evidence.close_sentence import SentenceCosines
    from rag_engine.evidence.features import Reading
    from rag_engine.types import Hit, Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceVerdict:
    question: str
    """Answered best: the question, its complete form, or a part."""
    probability: float
    reading: Reading
    by_sentence: bool = False

    def as_json(self) -> dict[str, object]:
        return {
            "probability": round(self.probability, 4),
            "question": self.question,
            "by_sentence": self.by_sentence,
            "features": {name: round(value, 4) for name, value in asdict(self.reading.features).items()},
            "unmentioned": list(self.reading.unmentioned),
            "across_languages": self.reading.is_crosslingual,
        }


def asked_wordings(wordings: Sequence[str], rankings: Sequence[Ranking]) -> Mapping[str, Sequence[Ranking]]:
    """Keywords ask nothing."""
    rankings = [ranking for ranking in rankings if not ranking.is_hypothetical]
    further = (ranking.query for ranking in rankings if ranking.leg == "dense" and ranking.query)
    return {
        part: _own(wording, rankings)
        for wording in dict.fromkeys((*wordings, *further))
        for part in (wording, *parts(wording))
    }


def judge(
    asked: Mapping[str, Sequence[Ranking]],
    hits: Sequence[Hit],
    *,
    familiarity: Callable[[str], float],
    contrast: float,
    said: Mapping[str, SentenceCosines] | None = None,
    reranked: float | None = None,
) -> EvidenceVerdict | None:
    """Each of the `asked_wordings` is judged by its own rankings; None without words to look for."""
    verdicts: list[EvidenceVerdict] = []
    words = PassageWords()
    for question, own in asked.items():
        reading = read(
            question,
            hits,
            own,
            familiar=familiarity,
            contrast=contrast,
            words=words,
            said=None if said is None else said.get(question, TYPICAL),
        )
        if reading is not None:
            found = probability(reading, reranked=reranked)
            verdicts.append(EvidenceVerdict(question=question, probability=found, reading=reading))
    return max(verdicts, key=lambda verdict: verdict.probability, default=None)


def _own(wording: str, rankings: Sequence[Ranking]) -> Sequence[Ranking]:
    own = [ranking for ranking in rankings if ranking.query == wording]
    return own or [ranking for ranking in rankings if not ranking.query] or rankings
