"""A stranger's: written from tables alone. A help desk, a league, a caterer, a class, room bookings, a warehouse, and public sheets."""

from __future__ import annotations

from tests.tables.computed.question_set import ComputedQuestion, QuestionSet
from tests.tables.computed.sixteenth import english, other_languages, real_files


def questions() -> list[ComputedQuestion]:
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


SIXTEENTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS | real_files.MAKERS,
    real=real_files.REAL,
    questions=questions,
)
