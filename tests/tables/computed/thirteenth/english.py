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
PEOPLE = ("Farid Haddad", "Chloe Evans", "Tom Baines", "Ines Duarte", "Wei Zhang", "Olga Petrova")
COURSES = ("Fire safety", "First aid", "Excel basics", "GDPR", "Manual handling")


def orders() -> list[Row]:
    """Number, supplier, ordered, delivered (sometimes empty), category, net, VAT rate, approver."""
    source = random.Random(1301)
    rows: list[Row] = []
    for n in range(30):
        ordered = date(2025, 1, 9) + timedelta(days=8 * n + n % 3)
        rows.append(
            (
                f"PO-{4501 + n}",
                source.choice([name for name, *_ in suppliers()]),
                ordered,
                "" if n in (19, 24, 26, 28, 29) else ordered + timedelta(days=source.randrange(3, 21)),
                source.choice(("Stationery", "Cleaning", "Furniture", "IT")),
                source.randrange(4_000, 390_000) / 100,
                source.choice((0.2, 0.2, 0.05)),
                source.choice(("M. Okoye", "J. Stein", "R. Valdez")),
            )
        )
    return rows


def suppliers() -> list[Row]:
    """Supplier, town, payment terms, contact."""
    return [
        ("Norwell Paper", "Bristol", 30, "Dana Reyes"),
        ("Kestrel Tools", "Sheffield", 14, "Ian Holt"),
        ("Aqua Blue Ltd", "Bristol", 14, "Sofia Lind"),
        ("Hartley & Sons", "Leicester", 60, "Ruth Hartley"),
        ("Deskworks", "Derby", 45, "Pavel Krol"),
    ]


def trainings() -> list[Row]:
    """Person, course, day, hours, passed, fee."""
    source = random.Random(1302)
    pairs = source.sample([(person, course) for person in PEOPLE for course in COURSES], 24)
    return [
        (
            person,
            course,
            date(2025, 1, 14) + timedelta(days=11 * n),
            source.choice((2, 3.5, 4, 6, 7.5)),
            source.choice(("yes", "yes", "no")),
            source.choice((60, 85, 95, 120, 140)),
        )
        for n, (person, course) in enumerate(pairs)
    ]


def volunteers() -> list[Row]:
    """Name, team, day of joining, hours in 2024 and 2025, first aider, extension."""
    return [
        ("Beatrix Lowe", "Garden", "2018-04-02", 64, 71, "yes", 214),
        ("Samuel Adeyemi", "Library", "2021-09-13", 120, 96, "no", 231),
        ("Greta Holm", "Garden", "2019-11-25", 38, 52, "yes", 208),
        ("Tony Marsh", "Kitchen", "2023-02-06", 82, 82, "no", 240),
        ("Leila Karimi", "Kitchen", "2022-06-20", 145, 131, "yes", 226),
        ("Dev Patel", "Library", "2017-01-16", 27, 44, "no", 219),
        ("Rosa Jimenez", "Garden", "2024-03-11", 49, 88, "no", 235),
        ("Alan Whyte", "Drivers", "2016-08-29", 203, 187, "yes", 202),
        ("Moira Quinn", "Drivers", "2020-05-04", 91, 104, "no", 247),
    ]


def _orders(path: Path) -> None:
    rows: list[Row] = [
        ("Purchase orders - Facilities",),
        ("As of 30 September 2025, amounts in GBP",),
        (),
        ("PO no.", "Supplier", "Ordered on", "Delivered on", "Category", "Net (GBP)", "VAT", "Approved by"),
        *orders(),
        (),
        ("Total", "", "", "", "", round(sum(r[5] for r in orders()), 2)),
    ]
    write_sheets(path, {"Orders": rows}, {3: "dd/mm/yyyy", 4: "dd/mm/yyyy", 6: "£#,##0.00", 7: "0%"})


MAKERS = {
    "purchase orders.xlsx": _orders,
    "suppliers.csv": made(("Supplier", "Town", "Payment terms (days)", "Contact"), suppliers()),
    "training log.csv": made(
        ("Name", "Course", "Date", "Hours", "Passed", "Fee"),
        [(*r[:2], f"{r[2].day} {r[2]:%b %Y}", *r[3:5], f"£{r[5]:.2f}") for r in trainings()],
    ),
    "volunteers.md": made(
        ("Name", "Team", "Joined", "Hours 2024", "Hours 2025", "First aider", "Ext."), volunteers()
    ),
}


def questions() -> list[Q]:
    return [*_about_orders(), *_about_trainings(), *_about_volunteers()]


def _about_orders() -> list[Q]:
    rows, t, s = orders(), "<purchase orders.xlsx>", "<suppliers.csv>"
    town, terms = {r[0]: r[1] for r in suppliers()}, {r[0]: r[2] for r in suppliers()}
    spent = {c: round(sum(r[5] for r in rows if r[4] == c), 2) for c in sorted({r[4] for r in rows})}
    return [
        Q(text="What have we ordered from Kestrel Tools so far, net?", kind="sum", gold=(round(sum(r[5] for r in rows if r[1] == "Kestrel Tools"), 2),), sql=f"SELECT SUM([Net]) FROM {t} WHERE [Supplier] = 'Kestrel Tools'"),
        Q(text="how many POs over £1,000 net did Okoye approve", kind="filter", gold=(sum(r[7] == "M. Okoye" and r[5] > 1000 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Approved by] = 'M. Okoye' AND [Net] > 1000"),
        Q(text="net value of everything we ordered between 1 April and 30 June 2025", kind="dates", gold=(round(sum(r[5] for r in rows if date(2025, 4, 1) <= r[2] <= date(2025, 6, 30)), 2),), sql=f"SELECT SUM([Net]) FROM {t} WHERE [Ordered on] BETWEEN '2025-04-01' AND '2025-06-30'"),
        Q(text="Which purchase orders haven't been delivered yet?", kind="filter", gold=tuple(r[0] for r in rows if r[3] == ""), sql=f"SELECT [PO no] FROM {t} WHERE [Delivered on] IS NULL AND [Supplier] IS NOT NULL"),
        Q(text="spend by category please (net)", kind="group", gold=tuple(spent.values()), sql=f"SELECT [Category], SUM([Net]) FROM {t} WHERE [Category] IS NOT NULL GROUP BY [Category]"),
        Q(text="the 5 most expensive purchase orders", kind="top", gold=tuple(r[0] for r in sorted(rows, key=lambda r: -r[5])[:5]), sql=f"SELECT [PO no], [Net] FROM {t} WHERE [Supplier] IS NOT NULL ORDER BY [Net] DESC LIMIT 5"),
        Q(text="What percentage of our net purchase order spend is IT?", kind="sum", gold=(100 * spent["IT"] / sum(spent.values()),), sql=f"SELECT 100.0 * SUM(CASE WHEN [Category] = 'IT' THEN [Net] ELSE 0 END) / SUM([Net]) FROM {t} WHERE [Category] IS NOT NULL"),
        Q(text="Could you add up the net amounts of all orders that went to suppliers in Bristol?", kind="join", gold=(round(sum(r[5] for r in rows if town[r[1]] == "Bristol"), 2),), sql=f"SELECT SUM([Net]) FROM {t} o JOIN {s} s ON o.[Supplier] = s.[Supplier] WHERE [Town] = 'Bristol'"),
        Q(text="number of orders with suppliers whose payment terms are longer than 30 days", kind="join", gold=(sum(terms[r[1]] > 30 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} o JOIN {s} s ON o.[Supplier] = s.[Supplier] WHERE [Payment terms] > 30"),
        Q(text="who approved PO-4512?", kind="lookup", gold=(rows[11][7],), sql=f"SELECT [Approved by] FROM {t} WHERE [PO no] = 'PO-4512'"),
        Q(text="PO-4507 delivery date", kind="lookup", gold=(rows[6][3].isoformat(),), sql=f"SELECT [Delivered on] FROM {t} WHERE [PO no] = 'PO-4507'"),
        Q(text="how many days do we have to pay Hartley & Sons", kind="lookup", gold=(60,), sql=f"SELECT [Payment terms] FROM {s} WHERE [Supplier] = 'Hartley & Sons'"),
        Q(text="What did we order from Kestrel Tyres in total?", kind="none", gold=()),
        Q(text="net amount of PO-4590", kind="none", gold=()),
        Q(text="how much did we spend on purchase orders in 2023?", kind="none", gold=()),
    ]  # fmt: skip


def _about_trainings() -> list[Q]:
    rows, t = trainings(), "<training log.csv>"
    hours = {p: sum(r[3] for r in rows if r[0] == p) for p in PEOPLE}
    first_aid = [r for r in rows if r[1] == "First aid"]
    passed = next(r for r in rows if r[1] == "Fire safety")
    fee = next(r for r in rows if r[1] == "Excel basics")
    return [
        Q(text="How much did we pay for first aid courses altogether?", kind="sum", gold=(sum(r[5] for r in rows if r[1] == "First aid"),), sql=f"SELECT SUM([Fee]) FROM {t} WHERE [Course] = 'First aid'"),
        Q(text="training hours per person", kind="group", gold=tuple(hours.values()), sql=f"SELECT [Name], SUM([Hours]) FROM {t} GROUP BY [Name]"),
        Q(text="how many trainings took place in march 2025", kind="dates", gold=(sum(r[2].month == 3 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Date] BETWEEN '2025-03-01' AND '2025-03-31'"),
        Q(text="pass rate for First aid in %", kind="count", gold=(100 * sum(r[4] == "yes" for r in first_aid) / len(first_aid),), sql=f"SELECT 100.0 * SUM([Passed] = 1) / COUNT(*) FROM {t} WHERE [Course] = 'First aid'"),
        Q(text="who has done the most hours of training so far?", kind="extreme", gold=(max(hours, key=lambda p: hours[p]),), sql=f"SELECT [Name], SUM([Hours]) FROM {t} GROUP BY [Name] ORDER BY 2 DESC LIMIT 1"),
        Q(text="courses not passed, how many?", kind="count", gold=(sum(r[4] == "no" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Passed] = 0"),
        Q(text=f"Did {passed[0]} pass Fire safety?", kind="lookup", gold=(passed[4],), sql=f"SELECT CASE [Passed] WHEN 1 THEN 'yes' ELSE 'no' END FROM {t} WHERE [Name] = '{passed[0]}' AND [Course] = 'Fire safety'"),
        Q(text=f"fee for {fee[0]}'s excel basics course", kind="lookup", gold=(fee[5],), sql=f"SELECT [Fee] FROM {t} WHERE [Name] = '{fee[0]}' AND [Course] = 'Excel basics'"),
        Q(text="how many people did the forklift training", kind="none", gold=()),
        Q(text="Who was the trainer of the first aid course?", kind="none", gold=()),
    ]  # fmt: skip


def _about_volunteers() -> list[Q]:
    rows, t = volunteers(), "<volunteers.md>"
    return [
        Q(text="total volunteer hours in 2025", kind="sum", gold=(sum(r[4] for r in rows),), sql=f"SELECT SUM([Hours 2025]) FROM {t}"),
        Q(text="Which volunteers worked more hours in 2025 than in 2024?", kind="filter", gold=tuple(r[0] for r in rows if r[4] > r[3]), sql=f"SELECT [Name] FROM {t} WHERE [Hours 2025] > [Hours 2024]"),
        Q(text="mean hours 2024 in the garden team", kind="average", gold=(mean(r[3] for r in rows if r[1] == "Garden"),), sql=f"SELECT AVG([Hours 2024]) FROM {t} WHERE [Team] = 'Garden'"),
        Q(text="volunteers that joined before 2020 and are first aiders", kind="filter", gold=tuple(r[0] for r in rows if r[2] < "2020" and r[5] == "yes"), sql=f"SELECT [Name] FROM {t} WHERE [Joined] < '2020-01-01' AND [First aider] = 1"),
        Q(text="what's Moira Quinn's ext?", kind="lookup", gold=(247,), sql=f"SELECT [Ext] FROM {t} WHERE [Name] = 'Moira Quinn'"),
        Q(text="hours Leila Karimi volunteered in 2022", kind="none", gold=()),
    ]  # fmt: skip
