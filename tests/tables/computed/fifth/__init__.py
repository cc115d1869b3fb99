"""Written before verbs, comparatives, shares and differences were read by rules; looked at since."""

from __future__ import annotations

from tests.tables.computed.fifth import english, other_languages, real_files
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet


def questions() -> list[ComputedQuestion]:
    """All of this set, the same on every run."""
    return [*english.questions(), *other_languages.questions(), *real_files.questions()]


FIFTH = QuestionSet(
    makers=english.MAKERS | other_languages.MAKERS,
    real={
        "inventory report.pdf": "real/markit-SPARSE-2024-INV-1234_borderless_table.pdf",
        "fruit.md": "real/unst-simple-table.md",
    },
    questions=questions,
)
