# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import zipfile

from tests.tables.computed.question_set import (
    SHARED,
    ComputedQuestion,
    real_rows,
    real_sheet,
)

Q = ComputedQuestion


def _eras() -> list[Q]:
    if not (since := real_sheet("real/unst-stanley-cups.xlsx", "Stanley Cups Since 67")[2:]):
        return []
    t, u = "<stanley cups by era.xlsx#Since 67>", "<stanley cups by era.xlsx#Stanley Cups!>"
    return [
        Q(
            text="How many Stanley Cups did all teams win since 67?",
            kind="sum",
            gold=(sum(int(r[2]) for r in since),),
            sql=f"SELECT SUM([Stanley Cups]) FROM {t}",
        ),
        Q(
            text="How many Stanley Cups did the Maple Leafs win since 67?",
            kind="lookup",
            gold=(0,),
            sql=f"SELECT [Stanley Cups] FROM {t} WHERE [Team] = 'Maple Leafs'",
        ),
        Q(
            text="Which team won the most Stanley Cups ever?",
            kind="extreme",
            gold=("Maple Leafs",),
            sql=f"SELECT [Team], [Stanley Cups] FROM {u} ORDER BY [Stanley Cups] DESC LIMIT 1",
        ),
    ]


def _made_stock() -> list[Q]:
    if not (stock := real_sheet_of_made_stock()):
        return []
    return [
        Q(
            text="What is the quantity of SKU-1c07d47b?",
            kind="lookup",
            gold=(stock,),
            sql="SELECT [Qty] FROM <sku stock.xlsx#Stock> WHERE [SKU] = 'SKU-1c07d47b'",
        )
    ]


def _chinese() -> list[Q]:
    if not (chinese := real_rows("made/enc-gbk.csv", encoding="gbk")[1:]):
        return []
    t = "<编号数量.csv>"
    return [
        Q(
            language="zh",
            text="轴承的数量是多少?",
            kind="lookup",
            gold=(int(chinese[1][2]),),
            sql=f"SELECT [数量] FROM {t} WHERE [名称] = '轴承'",
        ),
        Q(
            language="zh",
            text="编号数量表中数量的总和是多少?",
            kind="sum",
            gold=(sum(int(r[2]) for r in chinese),),
            sql=f"SELECT SUM([数量]) FROM {t}",
        ),
    ]


def _days() -> list[Q]:
    if not (days := real_sheet("real/tika-testEXCEL_dateFormats.xlsx", "Munka1")[1:]):
        return []
    latest = max(r[0] for r in days if r[0] is not None and hasattr(r[0], "year"))
    return [
        Q(
            text="What is the latest date in the date formats file?",
            kind="extreme",
            gold=(f"{latest:%Y-%m-%d}",),
            sql="SELECT MAX([date]) FROM <date formats.xlsx>",
        )
    ]


def real_sheet_of_made_stock() -> int:
    """Of a workbook whose last sheet is too large for a plain read; its quantity is in its manifest's cell B2."""

    path = SHARED / "made/sheets.xlsx"
    if not path.is_file():
        return 0
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    return int(sheet.partition('r="B2"')[2].partition("<v>")[2].partition("</v>")[0])


def questions() -> list[Q]:
    return [
        *_eras(),
        *_made_stock(),
        *_chinese(),
        *_days(),
    ]
