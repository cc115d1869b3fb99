"""Short, polite and broken questions of very different askers; the rules were changed with these."""

from __future__ import annotations

from tests.tables.computed.question_set import ComputedQuestion, QuestionSet
from tests.tables.computed.tenth import english, other_languages


def questions() -> list[ComputedQuestion]:
    return [*english.questions(), *other_languages.questions()]


TENTH = QuestionSet(makers=english.MAKERS | other_languages.MAKERS, real={}, questions=questions)
