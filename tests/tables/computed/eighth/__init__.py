"""Written with the seventh set; asked once, at the end."""

from __future__ import annotations

from tests.tables.computed.eighth import english, other_languages, real_files
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet


def questions() -> list[ComputedQuestion]:
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


EIGHTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS,
    real={"公路监控.pdf": "real/plumber-issue-336-example.pdf"},
    questions=questions,
)
