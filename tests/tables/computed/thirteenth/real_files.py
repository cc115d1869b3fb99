# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion, asker, mean, real_rows, real_sheet

Q = ComputedQuestion
REAL = {
    "world cities.xlsx": "real/poi-DataTableCities.xlsx",
    "customers.csv": "made/csv-30k-rows.csv",
    "名簿.csv": "real/markit-test_mskanji.csv",
    "inventory reconciliation.pdf": "real/markit-SPARSE-2024-INV-1234_borderless_table.pdf",
    "fruit.md": "real/unst-simple-table.md",
    "bolts.docx": "made/rich.docx",
    "hockey.xlsx": "real/unst-stanley-cups.xlsx",
    "数量.csv": "made/enc-gbk.csv",
}


def questions() -> list[Q]:
    if not all((SHARED / place).is_file() for place in REAL.values()):
        return []
    return [*_cities(), *_customers(), *_inventory(), *_small_files()]


def _cities() -> list[Q]:
    # The big cities are left of the small ones.
    rows = [
        row
        for row in real_sheet(REAL["world cities.xlsx"], "Table")
        if isinstance(row[5], int) and row[2] != "Total"
    ]
    t, s, q = "<world cities.xlsx#Table!C3:F15>", "<world cities.xlsx#Table!I3:L15>", asker("de")
    smallest = min(rows, key=lambda row: row[11])
    return [
        Q(text="How many of the big cities have more than 15 million people?", kind="filter", gold=(sum(row[5] > 15_000_000 for row in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Population] > 15000000"),
        Q(text="small cities: which one has the lowest population", kind="extreme", gold=(smallest[8],), sql=f"SELECT [City], [Population] FROM {s} ORDER BY [Population] LIMIT 1"),
        Q(text="what is the population of London", kind="none", gold=()),
        q("Population von Karachi, Pakistan?", "lookup", (23_500_000,), f"SELECT [Population] FROM {t} WHERE [City] = 'Karachi, Pakistan'"),
    ]  # fmt: skip


def _customers() -> list[Q]:
    rows = [(row[1], row[2], float(row[3])) for row in real_rows(REAL["customers.csv"])[1:]]
    t, q = "<customers.csv>", asker("fr")
    return [
        Q(text="total amount for customers in Quito", kind="sum", gold=(round(sum(r[2] for r in rows if r[1] == "Quito"), 2),), sql=f"SELECT SUM([amount]) FROM {t} WHERE [city] = 'Quito'"),
        Q(text="how many customers in Oslo have an amount below 100?", kind="filter", gold=(sum(r[1] == "Oslo" and r[2] < 100 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [city] = 'Oslo' AND [amount] < 100"),
        Q(text="amount of person 4711", kind="lookup", gold=(next(r[2] for r in rows if r[0] == "person 4711"),), sql=f"SELECT [amount] FROM {t} WHERE [name] = 'person 4711'"),
        q("combien de clients avons-nous à Lyon ?", "count", (sum(r[1] == "Lyon" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [city] = 'Lyon'"),
    ]  # fmt: skip


def stock() -> list[tuple[str, str, float, float, str]]:
    """Product, category, unit cost, value, last audit (sometimes empty): as page 2 shows them."""
    return [
        ("SKU-8847", "Electronics", 45.0, 13005.0, "2024-10-15"),
        ("SKU-9201", "Hardware", 32.5, 25285.0, "2024-10-22"),
        ("SKU-4563", "Software", 120.0, 18720.0, ""),
        ("SKU-7728", "Accessories", 15.75, 14726.25, "2024-11-01"),
        ("SKU-3345", "Electronics", 67.0, 22445.0, "2024-10-18"),
        ("SKU-5512", "Hardware", 89.0, 31150.0, ""),
        ("SKU-6678", "Software", 200.0, 42000.0, "2024-10-25"),
        ("SKU-7789", "Accessories", 8.5, 5950.0, "2024-11-05"),
        ("SKU-2234", "Electronics", 125.0, 35000.0, ""),
        ("SKU-1123", "Hardware", 55.0, 27500.0, "2024-10-30"),
    ]


def _inventory() -> list[Q]:
    rows, t = stock(), "<inventory reconciliation.pdf>"
    return [
        Q(text="Total value of all electronics products?", kind="sum", gold=(sum(r[3] for r in rows if r[1] == "Electronics"),), sql=f"SELECT SUM([Total Value]) FROM {t} WHERE [Category] = 'Electronics'"),
        Q(text="how many SKUs have no last audit date in the extended inventory review", kind="count", gold=(sum(not r[4] for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Last Audit] IS NULL AND [Unit Cost] IS NOT NULL"),
        Q(text="average unit cost, hardware only", kind="average", gold=(mean(r[2] for r in rows if r[1] == "Hardware"),), sql=f"SELECT AVG([Unit Cost]) FROM {t} WHERE [Category] = 'Hardware'"),
        Q(text="unit cost of SKU-7728", kind="lookup", gold=(15.75,), sql=f"SELECT [Unit Cost] FROM {t} WHERE [Product Code] = 'SKU-7728'"),
        Q(text="When was SKU-3345 last audited?", kind="lookup", gold=("2024-10-18",), sql=f"SELECT [Last Audit] FROM {t} WHERE [Product Code] = 'SKU-3345'"),
        Q(text="unit cost of SKU-3354?", kind="none", gold=()),
    ]  # fmt: skip


def _small_files() -> list[Q]:
    es, zh = asker("es"), asker("zh")
    names, cups = "<名簿.csv>", "<hockey.xlsx#Stanley Cups Since 67>"
    return [
        Q(text="how old is 佐藤太郎", kind="lookup", gold=(30,), sql=f"SELECT [年齢] FROM {names} WHERE [名前] = '佐藤太郎'"),
        Q(text="price of juicy apples", kind="lookup", gold=(1.99,), sql="SELECT [Price] FROM <fruit.md> WHERE [Item] = 'Juicy Apples'"),
        Q(text="who is the owner of Bolt-faec254a-1", kind="lookup", gold=("Ines",), sql="SELECT [Owner] FROM <bolts.docx> WHERE [Part] = 'Bolt-faec254a-1'"),
        Q(text="What torque does Bolt-faec254a-7 need?", kind="none", gold=()),
        Q(text="stanley cups since 67, all teams together", kind="sum", gold=(3,), sql=f"SELECT SUM([Stanley Cups]) FROM {cups}"),
        Q(text="location of the Flyers", kind="lookup", gold=("PHI",), sql=f"SELECT [Location] FROM {cups} WHERE [Team] = 'Flyers'"),
        Q(text="how many Stanley Cups did the Bruins win?", kind="none", gold=()),
        es("¿Qué precio tienen las Bananas?", "lookup", (1.89,), "SELECT [Price] FROM <fruit.md> WHERE [Item] = 'Bananas'"),
        zh("轴承的数量是多少?", "lookup", (7,), "SELECT [数量] FROM <数量.csv> WHERE [名称] = '轴承'"),
        zh("轴承的单价是多少", "none", ()),
    ]  # fmt: skip
