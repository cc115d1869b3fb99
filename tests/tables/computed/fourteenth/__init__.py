"""Written from the files alone, by somebody who had not read the rules: rivers, a conference, trips and building sites."""

from __future__ import annotations

from tests.tables.computed.fourteenth import english, other_languages, real_files
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet


def questions() -> list[ComputedQuestion]:
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


FOURTEENTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS, real=real_files.REAL, questions=questions
)
