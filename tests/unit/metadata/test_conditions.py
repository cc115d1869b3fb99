from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.conditions import contradicts, described, filter_of, taken_from
from rag_engine.metadata.filter_types import Condition, Filter


def condition(key: str, operator: str, value: str = "") -> Condition:
    return Condition(key=key, operator=operator, value=value)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("text", ["year == 2024", "year = 2024", "year is 2024", "YEAR=2024", "year:2024"])
def test_all_spellings_of_equality_are_equal(text: str) -> None:
    assert filter_of(text) == Filter(conditions=(condition("year", "=", "2024"),))


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("a != b", "≠"),
        ("a <> b", "≠"),
        ("a is not b", "≠"),
        ("a >= b", "≥"),
        ("a ≥ b", "≥"),
        ("a<=b", "≤"),
        ("a > b", ">"),
        ("a < b", "<"),
        ("a contains b", "contains"),
        ("a not contains b", "not contains"),
        ("a in (b)", "in"),
        ("a not in (b)", "not in"),
        ("a start with b", "starts with"),
        ("a ends with b", "ends with"),
    ],
)
def test_every_operator_is_read(text: str, operator: str) -> None:
    assert filter_of(text).conditions == (condition("a", operator, "b"),)


def test_conditions_are_joined_by_and_or_or() -> None:
    conditions = (condition("type", "=", "pdf"), condition("year", ">", "2020"))
    for text in ("type:pdf and year > 2020", "type:pdf, year > 2020", "type:pdf year > 2020"):
        assert filter_of(text) == Filter(conditions=conditions)
    assert filter_of("type:pdf or year > 2020") == Filter(conditions=conditions, any_of=True)


def test_a_key_or_value_of_several_words_is_quoted() -> None:
    assert filter_of('"cost center" = "Sales & Co"').conditions == (
        condition("cost center", "=", "Sales & Co"),
    )
    assert filter_of("status is empty").conditions == (condition("status", "empty"),)
    assert filter_of("status not empty").conditions == (condition("status", "not empty"),)


@pytest.mark.parametrize(
    "text", ["", "pdf", "type:", "= 3", "a = b and", "a = b and c = d or e = f", "a = 'b", "((", "a b c"]
)
def test_what_cannot_be_read_is_refused_in_one_sentence(text: str) -> None:
    if text == "a = b and":
        assert filter_of(text).conditions == (condition("a", "=", "b"),)
        return
    with pytest.raises(InvalidFilter, match="cannot be read: write it like type:pdf"):
        filter_of(text)


def test_a_tag_of_ten_thousand_characters_is_refused_in_one_sentence() -> None:
    with pytest.raises(InvalidFilter, match=r"has 10,000 characters, and at most 200 are taken"):
        filter_of(f"tag:{'x' * 10_000}")
    with pytest.raises(InvalidFilter, match=r"has 10,000 characters"):
        taken_from(f"Who wrote it? tag:{'x' * 10_000}")


def test_filters_leave_the_question() -> None:
    left, found = taken_from("What does in:budget.pdf say of travel after:2025-01-01 from:anna?")
    assert left == "What does say of travel?"
    assert found == Filter(
        conditions=(
            condition("in", "=", "budget.pdf"),
            condition("date", "≥", "2025-01-01"),
            condition("author", "contains", "anna"),
        )
    )


@pytest.mark.parametrize(
    "question",
    [
        "Who approves travel?",
        "Is it 12:30 or 13:00?",
        "What is std::type: a type?",
        "What does `type:pdf` mean?",
        "See http://example.org/in:box",
        "in: which year was it?",
        "Plugin:foo does what?",
    ],
)
def test_other_questions_stay_as_they_are(question: str) -> None:
    assert taken_from(question) == (question, None)


def test_two_types_mean_either_of_them() -> None:
    _, found = taken_from("type:pdf type:docx costs")
    assert found == Filter(conditions=(condition("type", "in", "pdf, docx"),))


@pytest.mark.parametrize(
    ("text", "impossible"),
    [
        ("after:2025 before:2024", True),
        ("after:2025 before:2025", True),
        ("year > 2024 and year < 2024", True),
        ("after:2024 before:2025", False),
        ("tag:a and tag != A", True),
        ("tag:a and tag != b", False),
        ("after:2025 or before:2024", False),
    ],
)
def test_contradictions_are_noticed(text: str, *, impossible: bool) -> None:
    assert contradicts([filter_of(text)]) is impossible


@pytest.mark.parametrize("text", ["after:soon", "before:31.12.2024", "date > 2024-13-01"])
def test_a_date_must_be_one(text: str) -> None:
    with pytest.raises(InvalidFilter, match="is no date for a filter: write it like 2025-01-31"):
        filter_of(text)


@pytest.mark.parametrize(
    "text",
    ["type:pdf, after:2025-01-01", 'author contains "Anna Li"', "a ≠ b or c not empty", 'x in "a, b"'],
)
def test_a_description_can_be_typed(text: str) -> None:
    found = filter_of(text)
    assert described([found]) == text
    assert filter_of(described([found])) == found


@given(st.text(max_size=300))
def test_no_text_is_an_accident(text: str) -> None:
    for read in (filter_of, taken_from):
        with suppress(InvalidFilter):
            read(text)
