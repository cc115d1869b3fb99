# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion

Q = ComputedQuestion


def questions() -> list[Q]:
    """Those about real files that are absent are left out."""
    if not (SHARED / "real/unst-simple-table.md").is_file():
        return []
    report = "<inventory report.pdf>"
    return [
        Q(text="What is the unit cost of SKU-4563?", kind="lookup", gold=(120,), sql=f"SELECT [Unit Cost] FROM {report} WHERE [Product Code] = 'SKU-4563'"),
        Q(text="When was SKU-9201 last audited?", kind="lookup", gold=("2024-10-22",), sql=f"SELECT [Last Audit] FROM {report} WHERE [Product Code] = 'SKU-9201'"),
        Q(text="How many bananas are in stock?", kind="lookup", gold=(6,), sql="SELECT [# In stock] FROM <fruit.md> WHERE [Item] = 'Bananas'"),
        Q(text="What do juicy apples cost?", kind="lookup", gold=(1.99,), sql="SELECT [Price] FROM <fruit.md> WHERE [Item] = 'Juicy Apples'"),
        Q(text="How much more expensive are the apples than the bananas?", kind="sum", gold=(0.1,),
          sql="SELECT (SELECT [Price] FROM <fruit.md> WHERE [Item] = 'Juicy Apples') - (SELECT [Price] FROM <fruit.md> WHERE [Item] = 'Bananas')"),
        Q(text="How many oranges are in stock?", kind="none", gold=()),
    ]  # fmt: skip
