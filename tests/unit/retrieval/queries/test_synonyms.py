from __future__ import annotations

import math
import time

import pytest

from rag_engine.errors import UserError
from rag_engine.retrieval.queries.synonyms import entry_of, synonyms_for
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.types import KnowledgeBaseId

OURS, THEIRS = KnowledgeBaseId("ours"), KnowledgeBaseId("theirs")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("PTO = paid leave, vacation", ("PTO", "paid leave", "vacation")),
        ("x=y", ("x", "y")),
        ("年假＝带薪休假、annual leave", ("年假", "带薪休假", "annual leave")),
        ("PTO = pto,  Paid   leave ", ("PTO", "Paid leave")),
        ("C++ = cpp", ("C++", "cpp")),
    ],
)
def test_an_entry_is_read(text: str, terms: tuple[str, ...]) -> None:
    assert entry_of(text) == terms


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Synonyms are written like this"),
        ("PTO", "Synonyms are written like this"),
        ("PTO = pto", "Synonyms are written like this"),
        ("=" * 10_000, "Synonyms are written like this"),
        ("x = " + "y" * 10_000, "may have 60 characters in 8 words"),
        ("x" * 10_000, "Synonyms are written like this"),
        ("x = one two three four five six seven eight nine", "may have 60 characters in 8 words"),
        (" = ".join(f"word{number}" for number in range(11)), "may have 10 terms"),
        ("PTO = !?", "no words"),
    ],
)
def test_a_bad_entry_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        entry_of(text)


def test_a_term_finds_its_synonyms() -> None:
    found = synonyms_for("How many days of PTO do I get?", {OURS: [("PTO", "paid leave", "vacation")]})
    assert found.tokens[OURS][tokens("vacation", language="en")[0]] == 0.7
    assert found.tokens[OURS]["paid"] == pytest.approx(0.7 / math.sqrt(2))
    assert "pto" not in found.tokens[OURS]
    assert found.known == set(query_tokens("PTO"))
    assert found.wordings == (
        "How many days of paid leave do I get?",
        "How many days of vacation do I get?",
    )


@pytest.mark.parametrize(
    ("question", "entry", "token"),
    [
        ("How much paid leave is there?", ("PTO", "paid leave"), "pto"),
        ("the terms of service", ("terms of service", "agb"), "agb"),
        ("Are vacations paid?", ("leave", "vacation"), "leav"),
        ("员工的年假有几天", ("年假", "annual leave"), "annual"),
        ("How long is annual leave?", ("年假", "annual leave"), "年假"),
        ("휴가는 며칠입니까", ("휴가", "leave"), "leav"),
        ("Is XR-2000/B in stock?", ("XR-2000/B", "Falke"), "falk"),
    ],
)
def test_terms_are_found_in_questions(question: str, entry: tuple[str, str], token: str) -> None:
    assert token in synonyms_for(question, {OURS: [entry]}).tokens[OURS]


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("Is the leave paid?", ("paid leave", "PTO")),
        ("Where is the xbox?", ("x", "y")),
        ("Is XR-3000 in stock?", ("XR-2000", "Falke")),
        ("", ("PTO", "vacation")),
    ],
)
def test_other_words_are_no_term(question: str, entry: tuple[str, str]) -> None:
    assert synonyms_for(question, {OURS: [entry]}).tokens == {}


def test_a_circle_of_entries_ends_after_one_step() -> None:
    found = synonyms_for("alpha", {OURS: [("alpha", "beta"), ("beta", "gamma"), ("gamma", "alpha")]})
    assert found.tokens[OURS].keys() == set(query_tokens("beta gamma"))


def test_each_knowledge_base_has_its_own() -> None:
    found = synonyms_for("What is Heron?", {OURS: [("Heron", "payroll")], THEIRS: [("Stork", "budget")]})
    assert found.tokens.keys() == {OURS}


def test_very_many_synonyms_are_cut() -> None:
    entries = [("heron", *(f"word{entry}x{number}" for number in range(9))) for entry in range(100)]
    found = synonyms_for("What is Heron?", {OURS: entries, THEIRS: entries})
    assert sum(map(len, found.tokens.values())) == 200
    assert len(found.wordings) == 3


@pytest.mark.slow
def test_many_entries_cost_a_question_little() -> None:
    entries = {OURS: [tuple(f"holiday {entry}x{term}" for term in range(10)) for entry in range(500)]}
    asked = " ".join(["holiday 3x1"] * 100)
    assert synonyms_for(asked, entries).known
    started = time.process_time()
    assert synonyms_for(asked, entries).wordings
    assert time.process_time() - started < 0.5


@pytest.mark.slow
def test_of_many_new_entries_a_question_analyses_a_part_and_later_ones_the_rest() -> None:
    entries = {
        KnowledgeBaseId(f"base{base}"): [
            tuple(f"zq{base}x{entry}y{term}" for term in range(10)) for entry in range(500)
        ]
        for base in range(3)
    }
    question = " ".join(f"zq{base}x7y0" for base in range(3))
    found = [set(synonyms_for(question, entries).tokens) for _ in range(3)]
    assert [len(bases) for bases in found] == [1, 2, 3]
