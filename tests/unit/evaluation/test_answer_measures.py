"""Answers against gold answers, on outcomes small enough to count by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rag_engine.evaluation.answer_measures import CitedPassage, Outcome, curve, measures
from rag_engine.evaluation.answer_set import GoldQuestion

_RIGHT = CitedPassage(
    document="hr.md", quote="The period is four weeks.", text="HR. The period is four weeks."
)
_WRONG = CitedPassage(document="it.md", quote="Ask the desk.", text="Ask the desk.")
_ASKED = GoldQuestion(text="How long?", answers=("Four Weeks", "month"), documents=("hr.md",), language="en")
_UNKNOWN = GoldQuestion(text="Who won?", unanswerable=True, kind="off_topic", language="en")
_NEAR = replace(_UNKNOWN, kind="near_miss", language="de")


def _measures(*outcomes: Outcome, **options: Any) -> dict[str, Any]:
    return measures(outcomes, **options)


def test_recall_counts_every_gold_string_of_the_text_and_of_the_quotes() -> None:
    found = _measures(
        Outcome(question=_ASKED, text="It is four\nweeks to the end of a month.", cited=(_RIGHT,))
    )

    assert found["answer_recall"] == 1
    assert found["quote_recall"] == 0.5


@pytest.mark.parametrize(
    ("text", "recall"), [("28,396 EUR", 1), ("28.396 €", 1), ("28396", 1), ("2,839.6", 0), ("28,39", 0)]
)
def test_a_number_may_be_written_in_groups(text: str, recall: float) -> None:
    asked = GoldQuestion(text="How much?", answers=("28396",))

    assert _measures(Outcome(question=asked, text=text))["answer_recall"] == recall


def test_citations_are_right_if_they_name_a_gold_document() -> None:
    found = _measures(
        Outcome(question=_ASKED, text="four weeks", cited=(_RIGHT, _WRONG)),
        Outcome(question=_ASKED, text="four weeks", cited=(_WRONG,)),
        Outcome(question=_ASKED, text="I do not know."),
    )

    assert found["citation_precision"] == 0.25
    assert found["citation_recall"] == pytest.approx(1 / 3, abs=1e-3)
    assert found["refused_answerable"] == pytest.approx(1 / 3, abs=1e-3)


def test_gold_passages_are_looked_for_in_the_cited_passages() -> None:
    asked = replace(_ASKED, documents=(), passages=("period is four weeks", "desk"))

    found = _measures(Outcome(question=asked, text="", cited=(_RIGHT,)))

    assert (found["citation_precision"], found["citation_recall"]) == (1, 0.5)


def test_abstentions_are_counted_by_language_and_kind() -> None:
    found = _measures(
        Outcome(question=_UNKNOWN, text="Not found."),
        Outcome(question=_NEAR, text="Four weeks.", cited=(_RIGHT,)),
        Outcome(question=_ASKED, text="Not found."),
    )

    assert (found["abstention_recall"], found["abstention_precision"]) == (0.5, 0.5)
    assert found["abstention_recall_by_kind"] == {"near_miss": 0.0, "off_topic": 1.0}
    assert found["by_language"]["de"]["abstention_recall_by_kind"] == {"near_miss": 0.0}
    assert found["by_language"]["de"]["refused_answerable"] is None


def test_recall_is_counted_by_kind() -> None:
    kinds = ("plain", "multi_hop", "typo", "colloquial")
    asked = {kind: replace(_ASKED, kind=kind, documents=("hr.md", "it.md")) for kind in kinds}
    found = _measures(
        Outcome(question=asked["plain"], text="four weeks", cited=(_RIGHT, _WRONG)),
        Outcome(question=asked["multi_hop"], text="four weeks", cited=(_RIGHT,)),
        Outcome(question=asked["typo"], text="I do not know."),
        Outcome(question=asked["typo"], text="four weeks", cited=(_RIGHT,)),
        Outcome(question=asked["colloquial"], text="I do not know."),
        Outcome(question=_UNKNOWN, text="Not found."),
    )

    assert found["citation_recall_by_kind"] == {
        "colloquial": 0.0,
        "multi_hop": 0.5,
        "plain": 1.0,
        "typo": 0.25,
    }


def test_a_price_gives_the_cost() -> None:
    used = Outcome(question=_UNKNOWN, text="", prompt_tokens=2_000, reply_tokens=500, calls=1, seconds=2)

    assert _measures(used, prices=(1.0, 4.0))["cost"] == pytest.approx(0.004)
    assert "cost" not in _measures(used)


def test_the_curve_has_both_shares_for_every_line() -> None:
    points = curve(
        [
            Outcome(question=_ASKED, text="", probability=0.9),
            Outcome(question=_ASKED, text="", probability=0.4),
            Outcome(question=_UNKNOWN, text="", probability=0.2),
        ]
    )

    assert [point for point in points if point["line"] == 0.5] == [
        {"line": 0.5, "abstained": 1.0, "refused": 0.5}
    ]
    assert points[0] == {"line": 0.05, "abstained": 0.0, "refused": 0.0}
    assert curve([Outcome(question=_ASKED, text="", probability=0.9)]) == []
