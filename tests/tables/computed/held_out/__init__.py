"""The half that authors of the rules do not read."""

from __future__ import annotations

from tests.tables.computed.held_out import company, other_languages, real_files, research
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet


def questions() -> list[ComputedQuestion]:
    """All of this half, the same on every run."""
    return [
        *company.questions(),
        *research.questions(),
        *other_languages.questions(),
        *real_files.questions(),
    ]


HELD_OUT = QuestionSet(
    makers=company.MAKERS | research.MAKERS | other_languages.MAKERS,
    real={
        "stanley cups by era.xlsx": "real/unst-stanley-cups.xlsx",
        "sku stock.xlsx": "made/sheets.xlsx",
        "编号数量.csv": "made/enc-gbk.csv",
        "date formats.xlsx": "real/tika-testEXCEL_dateFormats.xlsx",
        "old sheets.xls": "real/markit-test.xls",
        "no strings.xlsx": "real/poi-noSharedStringTable.xlsx",
        "emoji cups.tsv": "real/unst-stanley-cups-with-emoji.tsv",
        "wide.csv": "made/csv-wide.csv",
    },
    questions=questions,
)
