# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion

Q = ComputedQuestion
_STATES = "<background checks.pdf>"
_COUNTRIES = "<two columns.pdf>"


def questions() -> list[Q]:
    """Those about real files that are absent are left out."""
    if not (SHARED / "real/pypdf-multicolumn.pdf").is_file():
        return []
    return [
        Q(text="What is the capital of Denmark?", kind="lookup", gold=("Copenhagen",), sql=f"SELECT [Capital] FROM {_COUNTRIES} WHERE [Country] = 'Denmark'"),
        Q(text="Which country has the largest area?", kind="extreme", gold=("Finland",), sql=f"SELECT [Country], [Area] FROM {_COUNTRIES} ORDER BY [Area] DESC LIMIT 1"),
        Q(text="How many countries have more than 8 million inhabitants?", kind="filter", gold=(3,), sql=f"SELECT COUNT(*) FROM {_COUNTRIES} WHERE [Population] > 8"),
        Q(text="What is the combined population of Austria and Belgium?", kind="sum", gold=(20.4,),
          sql=f"SELECT SUM([Population]) FROM {_COUNTRIES} WHERE [Country] IN ('Austria', 'Belgium')"),
        Q(text="How many permits were there in Alabama?", kind="lookup", gold=(18870,), sql=f"SELECT [Permit] FROM {_STATES} WHERE [State] = 'Alabama'"),
        Q(text="What currency does Finland have?", kind="none", gold=()),
    ]  # fmt: skip
