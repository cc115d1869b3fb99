"""Written with the fifth set and kept unseen until the rules were finished."""

from __future__ import annotations

from tests.tables.computed.question_set import ComputedQuestion, QuestionSet
from tests.tables.computed.sixth import english, other_languages, real_files


def questions() -> list[ComputedQuestion]:
    """All of this set, the same on every run."""
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


SIXTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS,
    real={
        "two columns.pdf": "real/pypdf-multicolumn.pdf",
        "background checks.pdf": "real/plumber-nics-background-checks-2015-11-rotated.pdf",
    },
    questions=questions,
)
