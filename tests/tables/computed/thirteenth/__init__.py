"""Written from the files alone, by somebody who had not read the rules: an office, its suppliers and its volunteers."""

from __future__ import annotations

from tests.tables.computed.question_set import ComputedQuestion, QuestionSet
from tests.tables.computed.thirteenth import english, other_languages, real_files


def questions() -> list[ComputedQuestion]:
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


THIRTEENTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS, real=real_files.REAL, questions=questions
)
