"""Written before the rules for empty cells, ambiguous columns and keys without partner were changed, and asked blind once."""

from __future__ import annotations

from tests.tables.computed.fourth import organisation, other_languages, real_files
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet


def questions() -> list[ComputedQuestion]:
    """All of this set, the same on every run."""
    return [*organisation.questions(), *other_languages.questions(), *real_files.questions()]


FOURTH = QuestionSet(
    makers=organisation.MAKERS | other_languages.MAKERS,
    real={
        "roadmap.pptx": "made/slides.pptx",
        "grid.pptx": "real/markit-test.pptx",
        "letters.pptx": "real/unst-sample-presentation.pptx",
        "headers.asciidoc": "real/docling-asciidoc_02.asciidoc",
        "cells.pages": "real/tika-testPages.pages",
        "filariasis.nxml": "real/docling-pntd.0008301.nxml",
    },
    questions=questions,
)
