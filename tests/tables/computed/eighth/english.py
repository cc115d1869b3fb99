# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import made
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

Q = ComputedQuestion


def orders() -> list[Row]:
    """Order, supplier, item, quantity, total, ordered, received (sometimes empty)."""
    source = random.Random(8801)
    return [
        (
            f"PO-{5001 + n}",
            source.choice(("Brightline", "Corvex", "Duna Supply", "Ostra")),
            source.choice(("Toner", "Chairs", "Cables", "Monitors")),
            source.randrange(1, 60),
            source.randrange(3_000, 900_000) / 100,
            date(2025, 1, 8) + timedelta(days=7 * n),
            "" if n in (11, 19, 22, 25, 26) else date(2025, 1, 20) + timedelta(days=7 * n),
        )
        for n in range(27)
    ]


def suppliers() -> list[Row]:
    """Supplier, country, contact, payment days."""
    return [
        ("Brightline", "Ireland", "Maeve Burke", 30),
        ("Corvex", "Poland", "Jan Lis", 14),
        ("Duna Supply", "Hungary", "Réka Nagy", 45),
        ("Ostra", "Poland", "Ola Mazur", 60),
    ]


def runners() -> list[Row]:
    """Runner, club, age, kilometres, points, country."""
    source = random.Random(8802)
    names = ("Aoife", "Ben", "Chidi", "Dagny", "Eero", "Fumi", "Gwen", "Hamza", "Ivo", "Jess", "Kofi")
    return [
        (
            name,
            source.choice(("Harriers", "Striders")),
            source.randrange(19, 66),
            source.choice((5, 10, 21)),
            31 + 8 * n + source.randrange(7),
            source.choice(("Ireland", "Wales", "Norway")),
        )
        for n, name in enumerate(names)
    ]


def tasks() -> list[Row]:
    """Task, owner, due, hours, done."""
    source = random.Random(8803)
    names = ("Laptop", "Badge", "VPN account", "Safety training", "Payroll form", "Desk", "Mentor lunch", "Handbook quiz", "Parking permit")  # fmt: skip
    return [
        (
            name,
            source.choice(("IT", "HR", "Facilities")),
            date(2025, 9, 1) + timedelta(days=3 * n),
            source.randrange(1, 13) / 2,
            source.choice(("yes", "no")),
        )
        for n, name in enumerate(names)
    ]


MAKERS = {
    "purchase orders.xlsx": made(
        ("PO number", "Supplier", "Item", "Qty", "Total (USD)", "Ordered on", "Received on"),
        orders(),
        sheet="2025",
        formats={5: "#,##0.00"},
    ),
    "supplier list.csv": made(("Supplier", "Country", "Contact person", "Payment terms (days)"), suppliers()),
    "race.md": made(("Runner", "Club", "Age", "Distance (km)", "Points", "Country"), runners()),
    "onboarding.docx": made(("Task", "Owner", "Due date", "Hours", "Done"), tasks()),
}


def questions() -> list[Q]:
    return [*_about_orders(), *_about_suppliers(), *_about_runners(), *_about_tasks()]


def _about_orders() -> list[Q]:
    rows, t = orders(), "<purchase orders.xlsx>"
    by = {s: sum(r[4] for r in rows if r[1] == s) for s in sorted({r[1] for r in rows})}
    total = sum(by.values())
    return [
        Q(text="how much did we order from corvex", kind="sum", gold=(by["Corvex"],), sql=f"SELECT SUM([Total]) FROM {t} WHERE [Supplier] = 'Corvex'"),
        Q(text="what hasnt been received yet", kind="group", gold=tuple(r[0] for r in rows if r[6] == ""), sql=f"SELECT [PO number] FROM {t} WHERE [Received on] IS NULL"),
        Q(text="supplier w/ highest total spend", kind="extreme", gold=(max(by, key=lambda s: by[s]),), sql=f"SELECT [Supplier], SUM([Total]) FROM {t} GROUP BY [Supplier] ORDER BY 2 DESC LIMIT 1"),
        Q(text="spend per supplier", kind="group", gold=tuple(by.values()), sql=f"SELECT [Supplier], SUM([Total]) FROM {t} GROUP BY [Supplier]"),
        Q(text="what % of spend went to ostra", kind="average", gold=(100 * by["Ostra"] / total,), sql=f"SELECT 100.0 * SUM(CASE WHEN [Supplier] = 'Ostra' THEN [Total] END) / SUM([Total]) FROM {t}"),
        Q(text="orders worth more than 4k", kind="group", gold=tuple(r[0] for r in rows if r[4] > 4000), sql=f"SELECT [PO number] FROM {t} WHERE [Total] > 4000"),
        Q(text="how many chairs and cables did we order in total", kind="sum", gold=(sum(r[3] for r in rows if r[2] in ("Chairs", "Cables")),), sql=f"SELECT SUM([Qty]) FROM {t} WHERE [Item] IN ('Chairs', 'Cables')"),
        Q(text="no of orders in march", kind="dates", gold=(sum(r[5].month == 3 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Ordered on] BETWEEN '2025-03-01' AND '2025-03-31'"),
        Q(text="chairs from brightline, total cost?", kind="sum", gold=(sum(r[4] for r in rows if r[1] == "Brightline" and r[2] == "Chairs"),), sql=f"SELECT SUM([Total]) FROM {t} WHERE [Supplier] = 'Brightline' AND [Item] = 'Chairs'"),
        Q(text="avg order value", kind="average", gold=(mean(r[4] for r in rows),), sql=f"SELECT AVG([Total]) FROM {t}"),
        Q(text="top 3 orders by value", kind="top", gold=tuple(r[0] for r in sorted(rows, key=lambda r: -r[4])[:3]), sql=f"SELECT [PO number], [Total] FROM {t} ORDER BY [Total] DESC LIMIT 3"),
        Q(text="who supplied PO-5009", kind="lookup", gold=(rows[8][1],), sql=f"SELECT [Supplier] FROM {t} WHERE [PO number] = 'PO-5009'"),
        Q(text="total of PO-5013", kind="lookup", gold=(rows[12][4],), sql=f"SELECT [Total] FROM {t} WHERE [PO number] = 'PO-5013'"),
        Q(text="shipping cost for PO-5010", kind="none", gold=()),
        Q(text="how much did we order from Zenith", kind="none", gold=()),
        Q(text="spend on monitors in 2022", kind="none", gold=()),
        Q(text="total weight of the orders in kg", kind="none", gold=()),
    ]  # fmt: skip


def _about_suppliers() -> list[Q]:
    rows, t, o = orders(), "<purchase orders.xlsx>", "<supplier list.csv>"
    polish = sum(r[4] for r in rows if r[1] in ("Corvex", "Ostra"))
    return [
        Q(text="total order value of suppliers in poland", kind="join", gold=(polish,), sql=f"SELECT SUM(a.[Total]) FROM {t} a JOIN {o} b ON a.[Supplier] = b.[Supplier] WHERE b.[Country] = 'Poland'"),
        Q(text="payment terms of duna supply", kind="lookup", gold=(45,), sql=f"SELECT [Payment terms] FROM {o} WHERE [Supplier] = 'Duna Supply'"),
        Q(text="contact at corvex?", kind="lookup", gold=("Jan Lis",), sql=f"SELECT [Contact person] FROM {o} WHERE [Supplier] = 'Corvex'"),
        Q(text="phone number of Réka Nagy", kind="none", gold=()),
    ]  # fmt: skip


def _about_runners() -> list[Q]:
    rows, t = runners(), "<race.md>"
    clubs = sorted({r[1] for r in rows})
    return [
        Q(text="who is the oldest runner", kind="extreme", gold=(max(rows, key=lambda r: r[2])[0],), sql=f"SELECT [Runner], [Age] FROM {t} ORDER BY [Age] DESC LIMIT 1"),
        Q(text="avg points per club", kind="group", gold=tuple(mean(r[4] for r in rows if r[1] == c) for c in clubs), sql=f"SELECT [Club], AVG([Points]) FROM {t} GROUP BY [Club]"),
        Q(text="how many ran the 10k", kind="count", gold=(sum(r[3] == 10 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Distance] = 10"),
        Q(text="runners over 40", kind="group", gold=tuple(r[0] for r in rows if r[2] > 40), sql=f"SELECT [Runner] FROM {t} WHERE [Age] > 40"),
        Q(text="which club got more points", kind="extreme", gold=(max(clubs, key=lambda c: sum(r[4] for r in rows if r[1] == c)),), sql=f"SELECT [Club], SUM([Points]) FROM {t} GROUP BY [Club] ORDER BY 2 DESC LIMIT 1"),
        Q(text="points of Fumi", kind="lookup", gold=(rows[5][4],), sql=f"SELECT [Points] FROM {t} WHERE [Runner] = 'Fumi'"),
        Q(text="finish time of Kofi", kind="none", gold=()),
        Q(text="runners from Portugal", kind="none", gold=()),
    ]  # fmt: skip


def _about_tasks() -> list[Q]:
    rows, t = tasks(), "<onboarding.docx>"
    return [
        Q(text="how many hours are left to do", kind="sum", gold=(sum(r[3] for r in rows if r[4] == "no"),), sql=f"SELECT SUM([Hours]) FROM {t} WHERE [Done] = 0"),
        Q(text="whats due first", kind="extreme", gold=(rows[0][0],), sql=f"SELECT [Task], [Due date] FROM {t} ORDER BY [Due date] LIMIT 1"),
        Q(text="hours for IT", kind="sum", gold=(sum(r[3] for r in rows if r[1] == "IT"),), sql=f"SELECT SUM([Hours]) FROM {t} WHERE [Owner] = 'IT'"),
        Q(text="who does the parking permit", kind="lookup", gold=(rows[8][1],), sql=f"SELECT [Owner] FROM {t} WHERE [Task] = 'Parking permit'"),
        Q(text="budget for the mentor lunch", kind="none", gold=()),
    ]  # fmt: skip
