# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion, asker, mean, real_sheet

Q = ComputedQuestion
REAL = {
    "WARN report.pdf": "real/plumber-WARN-Report-for-7-1-2015-to-03-25-2016.pdf",
    "measurements.xlsx": "real/markit-test.xlsx",
    "cups.tsv": "real/unst-stanley-cups-with-emoji.tsv",
    "pump schedule.html": "made/page.html",
    "stock.xlsx": "made/sheets.xlsx",
    "公路用地指标.pdf": "real/plumber-issue-336-example.pdf",
    "card points.pdf": "real/unst-korean-text-with-tables.pdf",
    "animaux.pdf": "real/plumber-word365_structure.pdf",
}


def questions() -> list[Q]:
    if not all((SHARED / place).is_file() for place in REAL.values()):
        return []
    return [*_notices(), *_measurements(), *_small_files()]


def _notices() -> list[Q]:
    # The table runs over 16 pages; its rows were counted and added up when this was written.
    t = "<WARN report.pdf>"
    return [
        Q(text="How many employees did Boeing Company give notice to in the WARN report?", kind="sum", gold=(1365,), sql=f"SELECT SUM([No. Of]) FROM {t} WHERE [Company] = 'Boeing Company'"),
        Q(text="WARN notices for San Diego, how many", kind="count", gold=(57,), sql=f"SELECT COUNT(*) FROM {t} WHERE [City] = 'San Diego'"),
        Q(text="number of WARN notices received in February 2016", kind="dates", gold=(92,), sql=f"SELECT COUNT(*) FROM {t} WHERE [Received] BETWEEN '2016-02-01' AND '2016-02-29'"),
        Q(text="Which company's notice affected the most employees?", kind="extreme", gold=("Toyota Motor North America",), sql=f"SELECT [Company], [No. Of] FROM {t} ORDER BY [No. Of] DESC LIMIT 1"),
        Q(text="how many notices were about a temporary closure", kind="count", gold=(12,), sql=f"SELECT COUNT(*) FROM {t} WHERE [Layoff/Closure] = 'Closure Temporary'"),
        Q(text="number of employees in SurveyMonkey Inc.'s notice", kind="lookup", gold=(57,), sql=f"SELECT [No. Of] FROM {t} WHERE [Company] = 'SurveyMonkey Inc.'"),
        Q(text="Effective date of the TiVo Inc. layoff?", kind="lookup", gold=("2016-03-01",), sql=f"SELECT [Effective] FROM {t} WHERE [Company] = 'TiVo Inc.'"),
        Q(text="how many employees were affected in Portland", kind="none", gold=()),
        Q(text="WARN notices received in 2012", kind="none", gold=()),
    ]  # fmt: skip


def _measurements() -> list[Q]:
    rows, t = real_sheet(REAL["measurements.xlsx"], "Sheet1")[1:], "<measurements.xlsx#Sheet1>"
    return [
        Q(text="average of the Alpha column", kind="average", gold=(mean(row[0] for row in rows),), sql=f"SELECT AVG([Alpha]) FROM {t}"),
        Q(text="How many rows have a Delta above 60?", kind="filter", gold=(sum(row[3] > 60 for row in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Delta] > 60"),
        Q(text="what is the mean of the Epsilon column", kind="none", gold=()),
    ]  # fmt: skip


def _small_files() -> list[Q]:
    zh, fr, land = asker("zh"), asker("fr"), "<公路用地指标.pdf>"
    return [
        Q(text="Stanley Cups of the Blues and the Flyers added together", kind="sum", gold=(3,), sql="SELECT SUM([Stanley Cups]) FROM <cups.tsv> WHERE [Team] IN ('Blues', 'Flyers')"),
        Q(text="how many stanley cups have the Rangers won?", kind="none", gold=()),
        Q(text="litres for pump P-e8c2237f", kind="lookup", gold=(4200,), sql="SELECT [Litres] FROM <pump schedule.html> WHERE [Pump] = 'P-e8c2237f'"),
        Q(text="what quantity of SKU-1c07d47b do we hold", kind="lookup", gold=(1_234_567,), sql="SELECT [Qty] FROM <stock.xlsx#Stock> WHERE [SKU] = 'SKU-1c07d47b'"),
        Q(text="What is the 적립 대상 for 주유?", kind="lookup", gold=("모든 주유소",), sql="SELECT [적립 대상] FROM <card points.pdf> WHERE [업종] = '주유'"),
        zh("二级公路的用地指标基准值是多少？", "lookup", (0.3333,), f"SELECT [用地指标基准值] FROM {land} WHERE [公路技术] = '二级公路'"),
        zh("路段监控通信站的用地指标", "lookup", (0.8667,), f"SELECT [路段监控通信站] FROM {land}"),
        zh("四级公路的用地指标基准值是多少", "none", ()),
        fr("Que dit l'En-tête 3 pour la Ligne 1 ?", "lookup", ("Farfadet",), "SELECT [En-tête 3] FROM <animaux.pdf> WHERE [En-tête 1] = 'Ligne 1'"),
    ]  # fmt: skip
