"""Names written together or apart find each other."""

from __future__ import annotations

import pytest

from rag_engine.retrieval.queries.spelling_corrections import held_respellings, respelled, respellings
from tests.doubles.rankings import chunk, ranking

KNOWN = frozenset(
    [
        "where",
        "is",
        "the",
        "lumen",
        "port",
        "harbour",
        "what",
        "does",
        "it",
        "cost",
        "for",
        "of",
        "a",
        "a4",
        "paper",
    ]
)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Where is the lumenport?", (("lumenport", "lumen port"),)),
        ("Where is the brook port?", (("brook port", "brookport"),)),
        ("Where is the harbour?", ()),
        ("What does AB-1234-X cost?", ()),
        ("笔记本电脑丢了怎么办？", ()),
        ("", ()),
    ],
)
def test_only_words_that_nobody_knows_are_written_otherwise(
    question: str, found: tuple[tuple[str, str], ...]
) -> None:
    spelled = respellings(question, lambda word: word.casefold() in KNOWN)
    assert spelled == found


def test_the_question_is_reworded_as_a_passage_writes_it() -> None:
    found = (("lumenport", "lumen port"), ("brook port", "brookport"))
    hits = ranking("lexical", [(chunk("a", text="The Lumen Port is closed.", language="en"), 2.0)])
    held = held_respellings(found, [hits])
    assert held == [("lumenport", "lumen port")]
    assert respelled("Where is the lumenport?", held) == ("Where is the lumen port?",)


def test_a_german_noun_is_not_joined_to_the_verb_before_it() -> None:
    """ "genehmigtReisen" would be two words again, one of which the passage holds."""
    found = [pair for pair in respellings("wer genehmigt Reisen?", lambda _: False) if " " in pair[0]]

    assert found == [("genehmigt Reisen", "genehmigtreisen")]
    text = "Urlaub wird von Oskar Lindqvale genehmigt."
    hits = ranking("lexical", [(chunk("a", text=text, language="de"), 1.0)])
    assert held_respellings(found, [hits]) == []
