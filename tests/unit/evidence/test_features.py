"""The numbers that the decision rests on, each on passages where it is plain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.evidence.calibration import probability
from rag_engine.evidence.close_sentence import TYPICAL, SentenceCosines
from rag_engine.evidence.features import Reading, read
from rag_engine.evidence.passage_words import PassageWords
from rag_engine.types import Hit, Ranking
from tests.unit.prompting import passages

if TYPE_CHECKING:
    from collections.abc import Callable


def _read(
    question: str,
    *texts: str,
    language: str = "en",
    cosine: float = 0.6,
    score: float = 1.0,
    rarest: float = 0.0,
    said: SentenceCosines | None = None,
    known: Callable[[str], float] = lambda _: 1.0,
) -> Reading:
    hits = tuple(
        replace(hit, chunk=replace(hit.chunk, title="", language=language)) for hit in passages(*texts)
    )
    dense = tuple(Hit(chunk=hit.chunk, score=cosine, rank=hit.rank) for hit in hits)
    lexical = tuple(replace(hit, score=score / hit.rank) for hit in hits)
    rankings = [
        Ranking(leg="lexical", hits=lexical, rarest=rarest),
        Ranking(leg="dense", hits=dense),
    ]
    reading = read(question, hits, rankings, familiar=known, contrast=1.0, words=PassageWords(), said=said)
    assert reading is not None
    return reading


def test_one_passage_must_cover_the_words() -> None:
    whole = _read(
        "Which notice period applies?", "The notice period that applies is four weeks.", "Lunch is at noon."
    )
    parted = _read("Which notice period applies?", "Read the notice.", "A period of four weeks.")

    assert whole.features.coverage == 1
    assert parted.features.coverage < 0.7


def test_a_verb_of_the_file_may_be_another_one() -> None:
    question = "Wer kaufte die Aquarelle?"
    other_verb = _read(question, "Die Aquarelle erwarb ein Zar.", language="de")
    other_noun = _read(question, "Die Uhren kaufte ein Zar.", language="de")

    assert other_verb.features.coverage > 0.6 > 0.4 > other_noun.features.coverage


def test_the_wrong_year_month_or_name_is_missing() -> None:
    text = "In March 2024 Sales North spent 500 euros on travel."

    assert _read("What did Sales North spend in March 2024?", text).features.figures_missing == 0
    wrong = _read("What did Sales South spend in April 2025?", text)
    assert wrong.features.figures_missing == 1
    assert wrong.features.names_missing == 0.5
    assert wrong.unmentioned == ("South", "April", "2025")


def test_an_inflected_word_counts_in_part() -> None:
    inflected = _read("Which Verwaltungsgericht?", "The Verwaltungsgerichtshof.")

    assert 0.6 < inflected.features.coverage < 1


def test_the_passage_with_the_figures_counts_even_if_another_has_more_words() -> None:
    reading = _read(
        "How much did the sales team spend in 2025?",
        "In 2024 the sales team spent 500 euros.",
        "In 2025 the team spent 600 euros.",
    )

    assert reading.features.figures_missing == 0


def test_a_code_is_met_as_a_whole() -> None:
    question = "What is the total of SKU-9917?"

    assert _read(question, "SKU-9917 | total 20").features.figures_missing == 0
    assert _read(question, "SKU-1234 | total 20").features.figures_missing == 1


def test_an_amount_may_be_in_a_range() -> None:
    text = "Claims above 1,000 euros are approved by the founders."

    assert _read("Who approves a claim of 3,000 euros?", text).features.figures_missing == 0
    assert _read("Who approved the claim of 2019?", text).features.figures_missing == 1


def test_half_of_a_german_compound_counts_in_part() -> None:
    question = "Welche Satzungsänderung gilt?"

    assert _read(question, "Die Änderung der Satzung.", language="de").features.coverage > 0.3
    assert _read(question, "Die Änderung der Satzung.", language="en").features.coverage < 0.1


def test_a_word_of_another_inflection_is_not_absent() -> None:
    assert (
        _read("Wer genehmigt Dienstreisen?", "Der Vorstand genehmigt jede Dienstreise.").features.absent == 0
    )


def test_both_legs_may_find_the_same_passage_first() -> None:
    assert _read("Which notice period?", "The notice period.", "Lunch.").features.agreement == 1


def test_a_number_that_is_asked_for_must_be_there() -> None:
    question = "How many people work in Malmö?"

    assert _read(question, "In Malmö 12 people work.").features.kind_missing == 0
    assert _read(question, "In Malmö people work in shifts.").features.kind_missing == 1


def test_a_passage_in_another_language_is_reported() -> None:
    question = "How long is the notice period for the team?"

    assert _read(question, "Die Frist beträgt vier Wochen.", language="de").is_crosslingual
    assert not _read(question, "The notice period is four weeks.").is_crosslingual


def test_the_cosine_with_a_passage_in_an_unknown_language_says_nothing() -> None:
    question = "How long is the notice period for the team?"

    def english(text: str) -> float:
        return 1.0 if text == question else 0.2

    known = _read(question, "Die Frist beträgt vier Wochen.", language="de")
    unknown = _read(question, "Die Frist beträgt vier Wochen.", language="de", known=english)

    assert known.reach > 0.5 > 0.2 > unknown.reach
    assert probability(known) > 0.5 > 0.2 > probability(unknown)


def test_without_hits_or_words_there_is_nothing_to_judge() -> None:
    assert read("How long is it?", (), (), familiar=lambda _: 1.0, contrast=1.0, words=PassageWords()) is None
    assert (
        read("What is it?", passages("Text."), (), familiar=lambda _: 1.0, contrast=1.0, words=PassageWords())
        is None
    )


def test_each_of_two_names_may_have_its_own_passage() -> None:
    question = "Are Iain Banks and Irwin Shaw both writers?"
    shaw = "Irwin Shaw was a writer of plays."
    both = _read(question, "Iain Banks was among the best writers.", shaw, "Lunch is at noon.")
    one = _read(question, "Iain Banks was among the best writers.", "Lunch is at noon.")

    assert both.features.names_missing == 0
    assert both.features.coverage > one.features.coverage
    assert one.features.names_missing == 0.5


def test_a_part_of_a_german_compound_counts_in_part() -> None:
    question = "Wie hoch war die Flut?"
    part = _read(question, "Die Sturmflut war hoch.", language="de")
    other = _read(question, "Der Sturm war hoch.", language="de")

    assert 1 > part.features.coverage > other.features.coverage


def test_how_far_one_sentence_is_ahead() -> None:
    question = "Which notice period applies?"
    answer = "The notice period that applies is four weeks."
    others = ("Lunch is at noon.", "Boats are red.", "The sea is cold.")
    sentences = _read(question, f"{answer} {' '.join(others)}", *others, said=TYPICAL).features
    everywhere = _read(question, " ".join([answer] * 5), answer, answer, answer, said=TYPICAL).features

    assert sentences.sentence_lead == 1
    assert everywhere.sentence_lead == 0


def test_the_best_lexical_score_is_counted_in_rare_words_whatever_the_index_holds() -> None:
    question, text = "Which notice period applies to interns?", "The notice period of interns is four weeks."
    small = _read(question, text, score=4.0, rarest=2.0).features.rare_words
    large = _read(question, text, score=16.0, rarest=8.0).features.rare_words

    assert small == large > _read(question, text, score=4.0, rarest=8.0).features.rare_words
    assert _read(question, text).features.rare_words == 0


def test_a_short_question_needs_fewer_rare_words() -> None:
    short = _read("Any bandages?", "Bandages are here.", score=2.0, rarest=4.0).features
    long = _read(
        "Which cupboard holds clean bandages, plasters and scissors?", "Bandages.", score=2.0, rarest=4.0
    )

    assert short.rare_words > 0 > long.features.rare_words
