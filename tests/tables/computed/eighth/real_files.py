# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion

Q = ComputedQuestion


def questions() -> list[Q]:
    if not (SHARED / "real/plumber-issue-336-example.pdf").is_file():
        return []
    t = "<公路监控.pdf>"
    return [
        Q(text="25000≤Q＜40000的μ≤10系数是多少", kind="lookup", gold=(0.81,), sql=f"SELECT [μ≤10] FROM {t} WHERE [路段交通量Q （pcu/d）] = '25000≤Q＜40000'", language="zh"),
        Q(text="二级公路的造价是多少", kind="none", gold=(), language="zh"),
    ]  # fmt: skip
