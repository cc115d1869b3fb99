from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion, real_rows

Q = ComputedQuestion


def questions() -> list[Q]:
    """Those about real files that are absent are left out."""
    cups = real_rows("real/unst-stanley-cups-utf-16.csv", encoding="utf-16", delimiter="\t")
    if not cups or not (SHARED / "made/rich.docx").is_file():
        return []
    return [
        Q(text="What is the price of the juicy apples?", kind="lookup", gold=(1.99,),
          sql="SELECT [Price] FROM <fruit.md> WHERE [Item] = 'Juicy Apples'"),
        Q(text="How many bananas are in stock?", kind="lookup", gold=(6,),
          sql="SELECT [In stock] FROM <fruit.md> WHERE [Item] = 'Bananas'"),
        Q(text="Where are the Flyers located?", kind="lookup", gold=("PHI",),
          sql="SELECT [Location] FROM <cups in utf 16.csv> WHERE [Team] = 'Flyers'"),
        Q(text="What is the torque of Bolt-faec254a-2?", kind="lookup", gold=(15,),
          sql="SELECT [Torque] FROM <site manual.docx> WHERE [Part] = 'Bolt-faec254a-2'"),
        Q(text="How many litres does pump P-e8c2237f move?", kind="lookup", gold=(4200,),
          sql="SELECT [Litres] FROM <pumps.html> WHERE [Pump] = 'P-e8c2237f'"),
        Q(text="How many items of fruit are in stock altogether?", kind="sum", gold=(745,),
          sql="SELECT SUM([In stock]) FROM <fruit.md>"),
    ]  # fmt: skip
