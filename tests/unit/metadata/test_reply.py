from __future__ import annotations

import pytest

from rag_engine.metadata.conditions import described, filter_of
from rag_engine.metadata.reply import filter_of_reply, limited_to


def test_the_most_certain_condition_comes_first() -> None:
    found, left_out = filter_of_reply(
        [
            {"key": "year", "op": "==", "value": 2024, "certainty": 0.2},
            {"key": "Author", "op": "contains", "value": "Anna", "certainty": 0.9},
            {"key": "type", "op": "in", "value": ["pdf", "docx"], "certainty": 0.5},
        ]
    )
    assert found is not None
    assert described([found]) == 'author contains Anna, type in "pdf, docx", year:2024'
    assert left_out == ()


@pytest.mark.parametrize("value", [None, "", [], {}, False, 0])
def test_no_filter_is_no_mistake(value: object) -> None:
    assert filter_of_reply(value) == (None, ())


@pytest.mark.parametrize(
    "value",
    [
        "n/a",
        7,
        ["year"],
        [{"key": 3, "op": "=", "value": "x"}],
        [{"key": "a", "op": "~", "value": "x"}],
        [{"key": "a", "op": "=", "value": None}],
        [{"key": "a", "op": "=", "value": "x" * 10_000}],
        [{"key": "tag" * 1_000, "op": "=", "value": "x"}],
        {"logic": "and", "conditions": "a = b"},
        [{"key": "date", "op": "≥", "value": "2025"}, {"key": "date", "op": "<", "value": "2024"}],
    ],
)
def test_a_broken_filter_is_left_out_and_named(value: object) -> None:
    found, left_out = filter_of_reply(value)
    assert found is None
    assert len(left_out) == 1
    assert 0 < len(left_out[0]) <= 61


def test_conditions_may_be_joined_by_or() -> None:
    found, _ = filter_of_reply(
        {
            "logic": "or",
            "conditions": [{"key": "a", "op": "=", "value": "x"}, {"key": "b", "op": "is not", "value": "y"}],
        }
    )
    assert found == filter_of("a = x or b != y")


def test_chosen_keys_alone_with_their_fixed_operators() -> None:
    asked = filter_of("year = 2024 and author:anna and type:pdf")
    found, left_out = limited_to(asked, ["year >=", "Author"])
    assert found == filter_of("year >= 2024 and author:anna")
    assert left_out == ("type:pdf",)
    assert limited_to(asked, []) == (asked, ())
    assert limited_to(filter_of("type:pdf"), ["year"]) == (None, ("type:pdf",))
