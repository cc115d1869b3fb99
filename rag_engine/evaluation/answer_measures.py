from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rag_engine.evaluation.answer_set import GoldQuestion

_GROUP_SEPARATOR: Final = re.compile(r"(?<=\d)[,.'’](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPassage:
    document: str
    """As in `GoldQuestion.documents`."""
    quote: str
    text: str
    """Of the whole passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer without a citation counts as an abstention."""

    question: GoldQuestion
    text: str
    cited: tuple[CitedPassage, ...] = ()
    probability: float | None = None
    """As judged before writing."""
    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0

    @property
    def abstained(self) -> bool:
        return not self.cited


def measures(outcomes: Sequence[Outcome], *, prices: tuple[float, float] | None = None) -> dict[str, object]:
    """Shares are None where nothing was asked. `prices`: per million prompt and reply tokens."""
    answerable = [outcome for outcome in outcomes if not outcome.question.unanswerable]
    unanswerable = [outcome for outcome in outcomes if outcome.question.unanswerable]
    silent = [outcome for outcome in outcomes if outcome.abstained]
    prompt, reply = (
        sum(outcome.prompt_tokens for outcome in outcomes),
        sum(outcome.reply_tokens for outcome in outcomes),
    )
    found: dict[str, object] = {
        "questions": len(outcomes),
        "answerable": len(answerable),
        "unanswerable": len(unanswerable),
        "answer_recall": _mean(_held(outcome.question.answers, outcome.text) for outcome in answerable),
        "quote_recall": _mean(
            _held(outcome.question.answers, "\n".join(cited.quote for cited in outcome.cited))
            for outcome in answerable
        ),
        "citation_precision": _mean(_precision(outcome) for outcome in answerable if not outcome.abstained),
        "citation_recall": _mean(map(_recall, answerable)),
        "refused_answerable": _share(answerable, lambda outcome: outcome.abstained),
        "abstention_precision": _share(silent, lambda outcome: outcome.question.unanswerable),
        "abstention_recall": _share(unanswerable, lambda outcome: outcome.abstained),
        "by_language": _by(outcomes, lambda outcome: outcome.question.language),
        "citation_recall_by_kind": _by_kind(answerable, _recall),
        "abstention_recall_by_kind": _by_kind(unanswerable, _silence),
        "calls": sum(outcome.calls for outcome in outcomes),
        "prompt_tokens": prompt,
        "reply_tokens": reply,
        "seconds": _seconds(outcomes),
    }
    if prices:
        found["cost"] = round((prompt * prices[0] + reply * prices[1]) / 1e6, 6)
    return found


def curve(outcomes: Sequence[Outcome]) -> list[dict[str, float]]:
    """By threshold: abstention recall, and answerable questions refused."""
    judged = [
        (outcome.probability, outcome.question.unanswerable)
        for outcome in outcomes
        if outcome.probability is not None
    ]
    right = [probability for probability, unanswerable in judged if unanswerable]
    wrong = [probability for probability, unanswerable in judged if not unanswerable]
    if not right or not wrong:
        return []
    lines = [step / 20 for step in range(1, 20)]
    return [
        {
            "line": line,
            "abstained": round(sum(value < line for value in right) / len(right), 4),
            "refused": round(sum(value < line for value in wrong) / len(wrong), 4),
        }
        for line in lines
    ]


def _by(outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> dict[str, object]:
    grouped: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        grouped[key(outcome) or "unknown"].append(outcome)
    return {name: _abstentions(group) for name, group in sorted(grouped.items())}


def _abstentions(outcomes: Sequence[Outcome]) -> dict[str, object]:
    answerable = [outcome for outcome in outcomes if not outcome.question.unanswerable]
    unanswerable = [outcome for outcome in outcomes if outcome.question.unanswerable]
    return {
        "answerable": len(answerable),
        "refused_answerable": _share(answerable, lambda outcome: outcome.abstained),
        "answer_recall": _mean(_held(outcome.question.answers, outcome.text) for outcome in answerable),
        "unanswerable": len(unanswerable),
        "abstention_recall_by_kind": _by_kind(unanswerable, _silence),
    }


def _by_kind(outcomes: Sequence[Outcome], measure: Callable[[Outcome], float]) -> dict[str, object]:
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        kinds[outcome.question.kind or "unknown"].append(outcome)
    return {kind: _mean(map(measure, group)) for kind, group in sorted(kinds.items())}


def _silence(outcome: Outcome) -> float:
    return float(outcome.abstained)


def _precision(outcome: Outcome) -> float:
    return mean(float(_is_right(cited, outcome.question)) for cited in outcome.cited)


def _recall(outcome: Outcome) -> float:
    question = outcome.question
    if question.passages:
        return _held(question.passages, "\n".join(cited.text for cited in outcome.cited))
    if question.documents:
        cited = {passage.document for passage in outcome.cited}
        return len(cited.intersection(question.documents)) / len(set(question.documents))
    return float(any(_is_right(cited, question) for cited in outcome.cited))


def _is_right(cited: CitedPassage, question: GoldQuestion) -> bool:
    if question.documents and cited.document not in question.documents:
        return False
    if question.passages:
        return any(_held((passage,), cited.text) for passage in question.passages)
    return bool(question.documents) or any(_held((answer,), cited.text) for answer in question.answers)


def _held(strings: Sequence[str], text: str) -> float:
    plain = _plain(text)
    return mean(float(_plain(string) in plain) for string in strings)


def _plain(text: str) -> str:
    ungrouped = _GROUP_SEPARATOR.sub("", unicodedata.normalize("NFKC", text))
    return "".join(ungrouped.casefold().split())


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return round(mean(listed), 4) if listed else None


def _share(outcomes: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> float | None:
    return _mean(float(holds(outcome)) for outcome in outcomes)


def _seconds(outcomes: Sequence[Outcome]) -> dict[str, float]:
    seconds = [outcome.seconds for outcome in outcomes]
    last = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else max(seconds)
    return {"total": round(sum(seconds), 3), "p50": round(median(seconds), 4), "p95": round(last, 4)}
