from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion

Q = ComputedQuestion


def questions() -> list[Q]:
    """Those about real files that are absent are left out."""
    if not (SHARED / "made/slides.pptx").is_file():
        return []
    return [
        Q(text="What is the date of Handover 79a64828?", kind="lookup", gold=("2027-03-09",),
          sql="SELECT [Date] FROM <roadmap.pptx>"),
        Q(text="What is the sum of ColA?", kind="sum", gold=(21,), sql="SELECT SUM([ColA]) FROM <grid.pptx>"),
        Q(text="What is the average of ColF?", kind="average", gold=(12,), sql="SELECT AVG([ColF]) FROM <grid.pptx>"),
        Q(text="What is the highest value of ColE?", kind="extreme", gold=(17,),
          sql="SELECT MAX([ColE]) FROM <grid.pptx>"),
        Q(text="Which Header 2 belongs to Value 3?", kind="lookup", gold=("Value 4",),
          sql="SELECT [Header 2] FROM <headers.asciidoc> WHERE [Header 1] = 'Value 3'"),
        Q(text="What is in Column three next to Cell seven?", kind="lookup", gold=("Cell nine",),
          sql="SELECT [Column three] FROM <cells.pages> WHERE [Column one] = 'Cell seven'"),
        Q(text="How many covariates belong to the domain Environment?", kind="count", gold=(8,),
          sql="SELECT COUNT([Covariate]) FROM <filariasis.nxml> WHERE [Domain] = 'Environment'"),
    ]  # fmt: skip
