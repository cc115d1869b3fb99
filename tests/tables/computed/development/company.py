# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path


Q = ComputedQuestion
DEPARTMENTS = ("Engineering", "Field Sales", "Legal", "Support")
ITEMS = ("Travel", "Software", "Training")


def budget() -> list[Row]:
    """Department, item, four quarters."""
    source = random.Random(1502)
    return [(d, i, *(source.randrange(20, 900) * 100 for _ in range(4))) for d in DEPARTMENTS for i in ITEMS]


def _budget(path: Path) -> None:
    lines: list[Row] = [
        ("Team budget 2025, in EUR",),
        (),
        ("Department", "Cost item", "Q1", "Q2", "Q3", "Q4"),
    ]
    for department in DEPARTMENTS:
        own = [row for row in budget() if row[0] == department]
        lines += [
            *own,
            (f"Subtotal {department}", None, *(sum(row[at] for row in own) for at in range(2, 6))),
        ]
    lines.append(("Grand total", None, *(sum(row[at] for row in budget()) for at in range(2, 6))))
    write_sheets(path, {"Team budget": lines}, dict.fromkeys(range(3, 7), "#,##0"))


def _budget_questions() -> list[Q]:
    rows, t = budget(), "<team budget.xlsx>"
    return [
        Q(
            text="What is the sum of Q2 in the team budget?",
            kind="sum",
            gold=(sum(r[3] for r in rows),),
            sql=f"SELECT SUM([Q2]) FROM {t}",
        ),
        Q(
            text="Team budget: sum of Q1 for Engineering",
            kind="sum",
            gold=(sum(r[2] for r in rows if r[0] == "Engineering"),),
            sql=f"SELECT SUM([Q1]) FROM {t} WHERE [Department] = 'Engineering'",
        ),
        Q(
            text="How much is budgeted for Travel in Q3 across all departments?",
            kind="sum",
            gold=(sum(r[4] for r in rows if r[1] == "Travel"),),
            sql=f"SELECT SUM([Q3]) FROM {t} WHERE [Cost item] = 'Travel'",
        ),
        Q(
            text="Which department and cost item has the highest Q4 budget?",
            kind="extreme",
            gold=tuple(max(rows, key=lambda r: r[5])[:2]),
            sql=f"SELECT [Department], [Cost item], [Q4] FROM {t} ORDER BY [Q4] DESC LIMIT 1",
        ),
        Q(
            text="Average Q1 budget per cost item in the team budget",
            kind="group",
            gold=tuple(mean(r[2] for r in rows if r[1] == i) for i in ITEMS),
            sql=f"SELECT [Cost item], AVG([Q1]) FROM {t} GROUP BY [Cost item]",
        ),
        Q(
            text="What did Legal budget for Software in Q2?",
            kind="lookup",
            gold=(next(r[3] for r in rows if r[:2] == ("Legal", "Software")),),
            sql=f"SELECT [Q2] FROM {t} WHERE [Department] = 'Legal' AND [Cost item] = 'Software'",
        ),
        Q(text="What is the Q1 budget of the Marketing department?", kind="none", gold=()),
    ]


def stock(place: str) -> list[Row]:
    """SKU, item, on hand, reorder level, unit cost."""
    source = random.Random(f"1503{place}")
    kinds = ("Cable", "Switch", "Router", "Adapter", "Battery", "Sensor")
    return [
        (
            f"{place[:2].upper()}-{100 + n}",
            f"{source.choice(kinds)} type {chr(65 + n)}",
            source.randrange(0, 400),
            source.randrange(20, 120),
            source.randrange(150, 9900) / 100,
        )
        for n in range(18)
    ]


def _stock(path: Path) -> None:
    header = ("SKU", "Item", "On hand", "Reorder level", "Unit cost (GBP)")
    lines: list[Row] = []
    for place in ("Leeds", "Bristol"):
        lines += [(f"Warehouse {place}",), header, *stock(place), (), ()]
    write_sheets(path, {"Stock": lines}, {5: "0.00"})


def _stock_questions() -> list[Q]:
    leeds, bristol = stock("Leeds"), stock("Bristol")
    t, u = "<warehouse stock.xlsx#Leeds>", "<warehouse stock.xlsx#Bristol>"
    return [
        Q(
            text="How many pieces are on hand in warehouse Leeds in total?",
            kind="sum",
            gold=(sum(r[2] for r in leeds),),
            sql=f"SELECT SUM([On hand]) FROM {t}",
        ),
        Q(
            text="How many items in warehouse Bristol are below their reorder level?",
            kind="filter",
            gold=(sum(r[2] < r[3] for r in bristol),),
            sql=f"SELECT COUNT(*) FROM {u} WHERE [On hand] < [Reorder level]",
        ),
        Q(
            text="What is the highest unit cost in warehouse Bristol?",
            kind="extreme",
            gold=(max(r[4] for r in bristol),),
            sql=f"SELECT MAX([Unit cost]) FROM {u}",
        ),
        Q(
            text="Total number of items on hand in both warehouses, Leeds and Bristol",
            kind="sum",
            gold=(sum(r[2] for r in leeds + bristol),),
            sql=f"SELECT (SELECT SUM([On hand]) FROM {t}) + (SELECT SUM([On hand]) FROM {u})",
        ),
        Q(
            text="What is the unit cost of LE-104?",
            kind="lookup",
            gold=(leeds[4][4],),
            sql=f"SELECT [Unit cost] FROM {t} WHERE [SKU] = 'LE-104'",
        ),
        Q(text="How many pieces are on hand in warehouse Cardiff?", kind="none", gold=()),
    ]


def staff() -> list[Row]:
    """Name, team, start, salary, weekly hours, remote."""
    source = random.Random(1504)
    first = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jo")
    last = ("Moss", "Reyes", "Stone", "Tran")
    return [
        (
            f"{f} {s}",
            source.choice(("Platform", "Design", "Finance", "Care")),
            date(2015, 1, 1) + timedelta(days=source.randrange(3900)),
            source.randrange(380, 980) * 100 if source.random() > 0.1 else None,
            source.choice((20, 32, 40)),
            source.choice(("yes", "no")),
        )
        for f in first
        for s in last
    ]


def _staff(path: Path) -> None:
    header = ("Name", "Team", "Start date", "Salary", "Hours per week", "Remote")
    write_sheets(path, {"Staff": [header, *staff()]}, {3: "dd mmm yyyy", 4: '#,##0 "€"'})


def _staff_questions() -> list[Q]:
    rows, t = staff(), "<staff list.xlsx>"
    paid = [r for r in rows if r[3] is not None]
    return [
        Q(
            text="How many people work in the Platform team?",
            kind="count",
            gold=(sum(r[1] == "Platform" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Team] = 'Platform'",
        ),
        Q(
            text="How many staff started after 2020?",
            kind="dates",
            gold=(sum(r[2].year > 2020 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Start date] > '2020-12-31'",
        ),
        Q(
            text="Average salary in the Design team",
            kind="average",
            gold=(mean(r[3] for r in paid if r[1] == "Design"),),
            sql=f"SELECT AVG([Salary]) FROM {t} WHERE [Team] = 'Design'",
        ),
        Q(
            text="How many staff have no salary entered?",
            kind="filter",
            gold=(len(rows) - len(paid),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Salary] IS NULL",
        ),
        Q(
            text="Who has the highest salary?",
            kind="extreme",
            gold=(max(paid, key=lambda r: r[3])[0],),
            sql=f"SELECT [Name], [Salary] FROM {t} ORDER BY [Salary] DESC LIMIT 1",
        ),
        Q(
            text="How many people in each team?",
            kind="group",
            gold=tuple(sum(r[1] == s for r in rows) for s in ("Care", "Design", "Finance", "Platform")),
            sql=f"SELECT [Team], COUNT(*) FROM {t} GROUP BY [Team]",
        ),
        Q(
            text="How many hours per week does Hana Stone work?",
            kind="lookup",
            gold=(next(r[4] for r in rows if r[0] == "Hana Stone"),),
            sql=f"SELECT [Hours per week] FROM {t} WHERE [Name] = 'Hana Stone'",
        ),
        Q(
            text="When did Ivo Tran start?",
            kind="lookup",
            gold=(f"{next(r[2] for r in rows if r[0] == 'Ivo Tran'):%d %b %Y}",),
            sql=f"SELECT [Start date] FROM {t} WHERE [Name] = 'Ivo Tran'",
        ),
        Q(text="What is the average age of the staff?", kind="none", gold=()),
    ]


MAKERS = {
    "team budget.xlsx": _budget,
    "warehouse stock.xlsx": _stock,
    "staff list.xlsx": _staff,
}


def questions() -> list[Q]:
    return [
        *_budget_questions(),
        *_stock_questions(),
        *_staff_questions(),
    ]
