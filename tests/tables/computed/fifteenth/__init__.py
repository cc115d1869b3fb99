"""A stranger's: written from tables alone. Shop rota, invoices, store room, club members, material tests, and public sheets."""

from __future__ import annotations

from tests.tables.computed.fifteenth import english, other_languages, real_files
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet


def questions() -> list[ComputedQuestion]:
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


FIFTEENTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS | real_files.MAKERS,
    real=real_files.REAL,
    questions=questions,
)
