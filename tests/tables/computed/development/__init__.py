"""The half that the rules are written with."""

from __future__ import annotations

from tests.tables.computed.development import company, other_languages, real_files, records, sales
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet


def questions() -> list[ComputedQuestion]:
    """All of this half, the same on every run."""
    return [
        *sales.questions(),
        *company.questions(),
        *other_languages.questions(),
        *records.questions(),
        *real_files.questions(),
    ]


DEVELOPMENT = QuestionSet(
    makers=sales.MAKERS | company.MAKERS | other_languages.MAKERS | records.MAKERS,
    real={
        "stanley cups.csv": "real/unst-stanley-cups.csv",
        "people amounts.csv": "made/csv-30k-rows.csv",
        "big and small cities.xlsx": "real/poi-DataTableCities.xlsx",
        "alpha beta.xlsx": "real/markit-test.xlsx",
        "meibo.csv": "real/markit-test_mskanji.csv",
        "formats.xlsx": "real/tika-testEXCEL-formats.xlsx",
        "semicolons.csv": "real/unst-semicolon-delimited.csv",
    },
    questions=questions,
)
