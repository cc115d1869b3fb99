# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import made, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion
RATES = {"Priya Nair": 13.4, "Dylan Cross": 12.6, "Agnes Boyle": 14.75, "Mo Sesay": 12.6, "Tess Hollis": 15.2}


def rota() -> list[Row]:
    """Date, who, shop, shift, hours, pay an hour, keyholder."""
    source = random.Random(1501)
    rows: list[Row] = []
    for n in range(44):
        who = source.choice(list(RATES))
        shift = source.choice(("Early", "Early", "Late", "Night"))
        hours = {"Early": 7.5, "Late": 6, "Night": 9}[shift] - source.choice((0, 0, 0.5))
        shop = source.choice(("High Street", "Station", "Retail Park"))
        day = date(2025, 9, 1) + timedelta(days=n * 2 // 3)
        rows.append((day, who, shop, shift, hours, RATES[who], source.choice(("yes", "no", "no"))))
    return rows


def invoices() -> list[Row]:
    """Number, client, issued, due, net, VAT, gross, paid on (empty: open), account manager."""
    source = random.Random(1502)
    clients = (
        "Larkfield Dental",
        "Osprey Kitchens",
        "Bright Path Nursery",
        "Tamar Logistics",
        "Wickham & Rowe",
    )
    rows: list[Row] = []
    for n in range(36):
        issued = date(2025, 1, 7) + timedelta(days=7 * n + source.randrange(4))
        days = source.choice((14, 30, 30))
        net = source.randrange(8_500, 640_000) / 100
        vat = round(net * 0.2, 2)
        paid = (
            "" if n in (9, 17, 23, 28, 31, 33, 34, 35) else issued + timedelta(days=source.randrange(6, 52))
        )
        who = source.choice(("Hallam", "Ogden", "Frith"))
        rows.append(
            (f"INV-25{n + 41:03}", source.choice(clients), issued, issued + timedelta(days=days), net, vat, round(net + vat, 2), paid, who)
        )  # fmt: skip
    return rows


def _rota(path: Path) -> None:
    rows: list[Row] = [
        ("Shop rota September 2025",),
        (),
        ("Date", "Employee", "Shop", "Shift", "Hours", "Rate (£/h)", "Keyholder"),
        *rota(),
    ]
    write_sheets(path, {"September": rows}, {1: "ddd dd mmm yyyy", 5: "0.0", 6: "£0.00"})


def _day(day: date | str) -> str:
    return f"{day:%d/%m/%Y}" if isinstance(day, date) else day


MAKERS = {
    "shop rota.xlsx": _rota,
    "sales invoices.csv": made(
        (
            "Invoice no.",
            "Client",
            "Issue date",
            "Due date",
            "Net",
            "VAT",
            "Gross",
            "Paid on",
            "Account manager",
        ),
        [
            (
                *r[:2],
                _day(r[2]),
                _day(r[3]),
                f"£{r[4]:,.2f}",
                f"£{r[5]:,.2f}",
                f"£{r[6]:,.2f}",
                _day(r[7]),
                r[8],
            )
            for r in invoices()
        ],
    ),
}


def questions() -> list[Q]:
    return [*_about_rota(), *_about_invoices()]


def _about_rota() -> list[Q]:
    rows, t = rota(), "<shop rota.xlsx>"
    hours = {w: sum(r[4] for r in rows if r[1] == w) for w in RATES}
    shops = ("High Street", "Station", "Retail Park")
    nights = {w: sum(r[1] == w and r[3] == "Night" for r in rows) for w in RATES}
    thirteenth = [r for r in rows if r[0] == date(2025, 9, 13)]
    pay = {s: round(sum(r[4] * r[5] for r in rows if r[2] == s), 2) for s in shops}
    return [
        Q(text="hours per person for the september rota pls", kind="group", gold=tuple(hours.values()), sql=f"SELECT [Employee], SUM([Hours]) FROM {t} GROUP BY [Employee]"),
        Q(text="who's got the most hours on the shop rota", kind="extreme", gold=(max(hours, key=lambda w: hours[w]),), sql=f"SELECT [Employee], SUM([Hours]) FROM {t} GROUP BY [Employee] ORDER BY 2 DESC LIMIT 1"),
        Q(text="How many late shifts do we have at the Station shop in September?", kind="count", gold=(sum(r[2] == "Station" and r[3] == "Late" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Shop] = 'Station' AND [Shift] = 'Late'"),
        Q(text="Mo's average shift length in hours?", kind="average", gold=(mean(r[4] for r in rows if r[1] == "Mo Sesay"),), sql=f"SELECT AVG([Hours]) FROM {t} WHERE [Employee] = 'Mo Sesay'"),
        Q(text="number of shifts between the 8th and the 14th of September 2025", kind="dates", gold=(sum(date(2025, 9, 8) <= r[0] <= date(2025, 9, 14) for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Date] BETWEEN '2025-09-08' AND '2025-09-14'"),
        Q(text="what do the wages (hours times rate) come to for the Retail Park over the whole rota?", kind="sum", gold=(pay["Retail Park"],), sql=f"SELECT SUM([Hours] * [Rate]) FROM {t} WHERE [Shop] = 'Retail Park'"),
        Q(text="on how many shifts is Tess Hollis the keyholder", kind="count", gold=(sum(r[1] == "Tess Hollis" and r[6] == "yes" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Employee] = 'Tess Hollis' AND [Keyholder] = 1"),
        Q(text="who works the most nights?", kind="extreme", gold=(max(nights, key=lambda w: nights[w]),), sql=f"SELECT [Employee], COUNT(*) FROM {t} WHERE [Shift] = 'Night' GROUP BY [Employee] ORDER BY 2 DESC LIMIT 1"),
        Q(text="Could you tell me everyone who is on the rota on 13 September?", kind="dates", gold=tuple(r[1] for r in thirteenth), sql=f"SELECT DISTINCT [Employee] FROM {t} WHERE [Date] = '2025-09-13'"),
        Q(text="What is Agnes Boyle's hourly rate?", kind="lookup", gold=(14.75,), sql=f"SELECT DISTINCT [Rate] FROM {t} WHERE [Employee] = 'Agnes Boyle'"),
        Q(text="what does tess get per hour", kind="lookup", gold=(15.2,), sql=f"SELECT DISTINCT [Rate] FROM {t} WHERE [Employee] = 'Tess Hollis'"),
        Q(text="how many hours does Dylan have in October", kind="none", gold=()),
        Q(text="Which shifts has Callum got at High Street?", kind="none", gold=()),
    ]  # fmt: skip


def _about_invoices() -> list[Q]:
    rows, t = invoices(), "<sales invoices.csv>"
    clients = sorted({r[1] for r in rows})
    due = {c: round(sum(r[6] for r in rows if r[1] == c and r[7] == ""), 2) for c in clients}
    late = [r for r in rows if r[7] != "" and r[7] > r[3]]
    net = {c: round(sum(r[4] for r in rows if r[1] == c), 2) for c in clients}
    counts = {m: sum(r[8] == m for r in rows) for m in ("Hallam", "Ogden", "Frith")}
    biggest = sorted(rows, key=lambda r: r[6], reverse=True)[:3]
    return [
        Q(text="unpaid invoices - how many are there", kind="count", gold=(sum(r[7] == "" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Paid on] IS NULL"),
        Q(text="gross total of the sales invoices that nobody has paid yet", kind="sum", gold=(round(sum(due.values()), 2),), sql=f"SELECT SUM([Gross]) FROM {t} WHERE [Paid on] IS NULL"),
        Q(text="what did we bill Osprey Kitchens net in total", kind="sum", gold=(net["Osprey Kitchens"],), sql=f"SELECT SUM([Net]) FROM {t} WHERE [Client] = 'Osprey Kitchens'"),
        Q(text="Which three invoices are the largest by gross amount?", kind="top", gold=tuple(r[0] for r in biggest), sql=f"SELECT [Invoice no], [Gross] FROM {t} ORDER BY [Gross] DESC LIMIT 3"),
        Q(text="How many invoices were paid after their due date?", kind="filter", gold=(len(late),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Paid on] > [Due date]"),
        Q(text="our best customer by net turnover?", kind="extreme", gold=(max(net, key=lambda c: net[c]),), sql=f"SELECT [Client], SUM([Net]) FROM {t} GROUP BY [Client] ORDER BY 2 DESC LIMIT 1"),
        Q(text="VAT on everything issued in the second quarter of 2025", kind="dates", gold=(round(sum(r[5] for r in rows if date(2025, 4, 1) <= r[2] <= date(2025, 6, 30)), 2),), sql=f"SELECT SUM([VAT]) FROM {t} WHERE [Issue date] BETWEEN '2025-04-01' AND '2025-06-30'"),
        Q(text="how many invoices does each account manager have", kind="group", gold=tuple(counts.values()), sql=f"SELECT [Account manager], COUNT(*) FROM {t} GROUP BY [Account manager]"),
        Q(text="average net invoice value for Tamar Logistics", kind="average", gold=(mean(r[4] for r in rows if r[1] == "Tamar Logistics"),), sql=f"SELECT AVG([Net]) FROM {t} WHERE [Client] = 'Tamar Logistics'"),
        Q(text="when was INV-25052 paid?", kind="lookup", gold=(rows[11][7].isoformat(),), sql=f"SELECT [Paid on] FROM {t} WHERE [Invoice no] = 'INV-25052'"),
        Q(text="who looks after invoice INV-25060", kind="lookup", gold=(rows[19][8],), sql=f"SELECT [Account manager] FROM {t} WHERE [Invoice no] = 'INV-25060'"),
        Q(text="INV-25047 gross?", kind="lookup", gold=(rows[6][6],), sql=f"SELECT [Gross] FROM {t} WHERE [Invoice no] = 'INV-25047'"),
        Q(text="What is the purchase order number on INV-25050?", kind="none", gold=()),
    ]  # fmt: skip
