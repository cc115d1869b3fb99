"""Options of a question become the filters that a person could have typed."""

from __future__ import annotations

import pytest

from bot.commands.ask_filters import filtered_question
from rag_engine.metadata.conditions import described, taken_from


def read(**values: str) -> tuple[str, str]:
    question, found = taken_from(filtered_question({"question": "How much?", **values}))
    return question, described([found] if found else [])


def test_without_options_the_question_stays_as_it_is() -> None:
    assert filtered_question({"question": "a  b\nc"}) == "a  b\nc"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"file": "annual budget.pdf"}, 'name contains "annual budget.pdf"'),
        ({"file": 'the "new" plan'}, 'name contains "the "new" plan"'),
        ({"file": "Anna's plan?"}, 'name contains "Anna\'s plan?"'),
        ({"type": "pdf, docx"}, 'type in "pdf, docx"'),
        ({"after": "2025-01-31"}, "after:2025-01-31"),
        ({"tag": "draft"}, "tag:draft"),
        ({"tag": " , "}, ""),
        (
            {"file": "a.pdf", "type": "pdf", "after": "2025", "tag": "x"},
            "name contains a.pdf, type:pdf, after:2025, tag:x",
        ),
    ],
)
def test_each_option_is_the_filter_of_its_name(values: dict[str, str], said: str) -> None:
    assert read(**values) == ("How much?", said)


def test_a_value_with_every_quotation_mark_stays_one_filter() -> None:
    question, said = read(file="""a"b'c“d”e""")
    assert question == "How much?"
    assert said.startswith("name contains ")
