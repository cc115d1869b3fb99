"""Written by another author than the rules; worked with."""

from __future__ import annotations

from tests.tables.computed.question_set import ComputedQuestion, QuestionSet
from tests.tables.computed.seventh import english, other_languages, real_files


def questions() -> list[ComputedQuestion]:
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


SEVENTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS,
    real={
        "layoff notices.pdf": "real/plumber-WARN-Report-for-7-1-2015-to-03-25-2016.pdf",
        "적립 안내.pdf": "real/unst-korean-text-with-tables.pdf",
    },
    questions=questions,
)
