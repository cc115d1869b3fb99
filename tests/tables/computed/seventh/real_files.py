# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion

Q = ComputedQuestion


def questions() -> list[Q]:
    if not (SHARED / "real/plumber-WARN-Report-for-7-1-2015-to-03-25-2016.pdf").is_file():
        return []
    t, k = "<layoff notices.pdf>", "<적립 안내.pdf>"
    return [
        Q(text="how many notices from san diego", kind="count", gold=(57,), sql=f"SELECT COUNT(*) FROM {t} WHERE [City] = 'San Diego'"),
        Q(text="number of permanent closures", kind="count", gold=(213,), sql=f"SELECT COUNT(*) FROM {t} WHERE [Layoff/Closure] = 'Closure Permanent'"),
        Q(text="which city has the most notices", kind="extreme", gold=("San Diego",), sql=f"SELECT [City], COUNT(*) FROM {t} GROUP BY [City] ORDER BY 2 DESC LIMIT 1"),
        Q(text="what city is Alphatec Spine in", kind="lookup", gold=("Carlsbad",), sql=f"SELECT [City] FROM {t} WHERE [Company] = 'Alphatec Spine'"),
        Q(text="when is McGraw-Hill Education effective", kind="lookup", gold=("2015-08-29",), sql=f"SELECT [Effective] FROM {t} WHERE [Company] = 'McGraw-Hill Education'"),
        Q(text="how many notices from chicago", kind="none", gold=()),
        Q(text="주유 적립 대상은?", kind="lookup", gold=("모든 주유소",), sql=f"SELECT [적립 대상] FROM {k} WHERE [업종] = '주유'", language="ko"),
    ]  # fmt: skip
