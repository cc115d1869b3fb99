# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import made
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

Q = ComputedQuestion
STAFF = ("Hanna Vogt", "Ikram Saleh", "Jonas Petit", "Kim Duarte", "Lena Ortiz")


def tickets() -> list[Row]:
    """Ticket, opened, closed (sometimes empty), priority, team, assignee, minutes."""
    source = random.Random(7701)
    return [
        (
            f"T-{301 + n}",
            date(2025, 1, 3) + timedelta(days=4 * n),
            "" if n % 6 == 4 else date(2025, 1, 4) + timedelta(days=4 * n + source.randrange(9)),
            source.choice(("high", "medium", "low")),
            source.choice(("Network", "Desktop", "Accounts")),
            STAFF[n % 4],
            11 + 7 * n + source.randrange(6),
        )
        for n in range(26)
    ]


def expenses() -> list[Row]:
    """Day, employee, category, merchant, amount, reimbursed."""
    source = random.Random(7702)
    return [
        (
            date(2024, 10, 2) + timedelta(days=9 * n),
            source.choice(STAFF),
            source.choice(("Hotel", "Taxi", "Meals", "Flights")),
            source.choice(("Lufthansa", "Hilton", "Bolt", "Vapiano", "Marriott")),
            source.randrange(900, 68_000) / 100,
            source.choice(("yes", "yes", "no")),
        )
        for n in range(30)
    ]


def members() -> list[Row]:
    """Member, plan, joined, fee, city."""
    source = random.Random(7703)
    names = ("Abel", "Bianca", "Cem", "Dora", "Emil", "Farah", "Greta", "Hugo", "Ines")
    return [
        (
            name,
            ("Gold", "Silver", "Bronze")[source.randrange(3)],
            date(2021, 3, 4) + timedelta(days=170 * n),
            source.randrange(19, 90) + 0.5,
            ("Leeds", "York")[source.randrange(2)],
        )
        for n, name in enumerate(names)
    ]


def dishes() -> list[Row]:
    """Dish, category, price, calories, vegetarian."""
    source = random.Random(7704)
    names = ("Tomato soup", "Caesar salad", "Margherita", "Lasagne", "Ribeye steak", "Falafel plate", "Cheesecake", "Tiramisu", "Espresso", "Lemonade")  # fmt: skip
    groups = ("Starter", "Starter", "Main", "Main", "Main", "Main", "Dessert", "Dessert", "Drink", "Drink")
    meat = ("Caesar salad", "Lasagne", "Ribeye steak")
    return [
        (
            name,
            groups[n],
            source.randrange(250, 2900) / 100,
            source.randrange(5, 1200),
            "no" if name in meat else "yes",
        )
        for n, name in enumerate(names)
    ]


MAKERS = {
    "helpdesk.xlsx": made(
        ("Ticket", "Opened", "Closed", "Priority", "Team", "Assignee", "Minutes spent"), tickets(), sheet="Q1"
    ),
    "team expenses.csv": made(
        ("Date", "Employee", "Category", "Merchant", "Amount (EUR)", "Reimbursed"), expenses()
    ),
    "gym.md": made(("Member", "Plan", "Joined", "Monthly fee (£)", "City"), members()),
    "bistro menu.html": made(("Dish", "Course", "Price ($)", "Calories", "Vegetarian"), dishes()),
}


def questions() -> list[Q]:
    return [*_about_tickets(), *_about_expenses(), *_about_members(), *_about_dishes()]


def _about_tickets() -> list[Q]:
    rows, t = tickets(), "<helpdesk.xlsx>"
    people = sorted({r[5] for r in rows})
    high = [r for r in rows if r[3] == "high"]
    return [
        Q(text="how many high prio tickets did we get", kind="count", gold=(len(high),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Priority] = 'high'"),
        Q(text="tickets still open?", kind="count", gold=(sum(r[2] == "" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Closed] IS NULL"),
        Q(text="who spent the most time on tickets", kind="extreme", gold=(max(people, key=lambda p: sum(r[6] for r in rows if r[5] == p)),),
          sql=f"SELECT [Assignee], SUM([Minutes]) FROM {t} GROUP BY [Assignee] ORDER BY 2 DESC LIMIT 1"),
        Q(text="avg minutes for network tickets pls", kind="average", gold=(mean(r[6] for r in rows if r[4] == "Network"),), sql=f"SELECT AVG([Minutes]) FROM {t} WHERE [Team] = 'Network'"),
        Q(text="tickets per team", kind="group", gold=tuple(sum(r[4] == g for r in rows) for g in sorted({r[4] for r in rows})), sql=f"SELECT [Team], COUNT(*) FROM {t} GROUP BY [Team]"),
        Q(text="how many tickets opened in feb", kind="dates", gold=(sum(r[1].month == 2 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Opened] BETWEEN '2025-02-01' AND '2025-02-28'"),
        Q(text="total minutes on high and medium tickets", kind="sum", gold=(sum(r[6] for r in rows if r[3] in ("high", "medium")),), sql=f"SELECT SUM([Minutes]) FROM {t} WHERE [Priority] IN ('high', 'medium')"),
        Q(text="who had T-315", kind="lookup", gold=(rows[14][5],), sql=f"SELECT [Assignee] FROM {t} WHERE [Ticket] = 'T-315'"),
        Q(text="when was T-309 opened", kind="lookup", gold=(f"{rows[8][1]}",), sql=f"SELECT [Opened] FROM {t} WHERE [Ticket] = 'T-309'"),
        Q(text="how many tickets came from the warehouse", kind="none", gold=()),
        Q(text="minutes spent on T-399", kind="none", gold=()),
    ]  # fmt: skip


def _about_expenses() -> list[Q]:
    rows, t = expenses(), "<team expenses.csv>"
    people = sorted({r[1] for r in rows})
    by = {p: sum(r[4] for r in rows if r[1] == p) for p in people}
    hotel, total = sum(r[4] for r in rows if r[2] == "Hotel"), sum(r[4] for r in rows)
    return [
        Q(text="who has the highest expenses", kind="extreme", gold=(max(people, key=lambda p: by[p]),), sql=f"SELECT [Employee], SUM([Amount]) FROM {t} GROUP BY [Employee] ORDER BY 2 DESC LIMIT 1"),
        Q(text="highest expense per person", kind="group", gold=tuple(max(r[4] for r in rows if r[1] == p) for p in people), sql=f"SELECT [Employee], MAX([Amount]) FROM {t} GROUP BY [Employee]"),
        Q(text="what share of the expenses is hotels", kind="average", gold=(100 * hotel / total,), sql=f"SELECT 100.0 * SUM(CASE WHEN [Category] = 'Hotel' THEN [Amount] END) / SUM([Amount]) FROM {t}"),
        Q(text="how much is not reimbursed yet", kind="sum", gold=(sum(r[4] for r in rows if r[5] == "no"),), sql=f"SELECT SUM([Amount]) FROM {t} WHERE [Reimbursed] = 0"),
        Q(text="taxi spend of Ikram", kind="sum", gold=(sum(r[4] for r in rows if r[1] == "Ikram Saleh" and r[2] == "Taxi"),), sql=f"SELECT SUM([Amount]) FROM {t} WHERE [Employee] = 'Ikram Saleh' AND [Category] = 'Taxi'"),
        Q(text="spend for meals and taxis together", kind="sum", gold=(sum(r[4] for r in rows if r[2] in ("Meals", "Taxi")),), sql=f"SELECT SUM([Amount]) FROM {t} WHERE [Category] IN ('Meals', 'Taxi')"),
        Q(text="top 3 biggest expenses", kind="top", gold=tuple(r[4] for r in sorted(rows, key=lambda r: -r[4])[:3]), sql=f"SELECT [Merchant], [Amount] FROM {t} ORDER BY [Amount] DESC LIMIT 3"),
        Q(text="how much did we spend between nov 2024 and jan 2025", kind="dates", gold=(sum(r[4] for r in rows if date(2024, 11, 1) <= r[0] <= date(2025, 1, 31)),),
          sql=f"SELECT SUM([Amount]) FROM {t} WHERE [Date] BETWEEN '2024-11-01' AND '2025-01-31'"),
        Q(text="expenses that exceed 500 euros, how many?", kind="filter", gold=(sum(r[4] > 500 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Amount] > 500"),
        Q(text="how much more did Lena spend than Kim", kind="sum", gold=(by["Lena Ortiz"] - by["Kim Duarte"],),
          sql=f"SELECT (SELECT SUM([Amount]) FROM {t} WHERE [Employee] = 'Lena Ortiz') - (SELECT SUM([Amount]) FROM {t} WHERE [Employee] = 'Kim Duarte')"),
        Q(text="expenses of Hanna in 2019", kind="none", gold=()),
        Q(text="how much VAT is in the expenses", kind="none", gold=()),
        Q(text="what did Oskar spend on taxis", kind="none", gold=()),
    ]  # fmt: skip


def _about_members() -> list[Q]:
    rows, t = members(), "<gym.md>"
    return [
        Q(text="how many gold members", kind="count", gold=(sum(r[1] == "Gold" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Plan] = 'Gold'"),
        Q(text="which plan is Farah on", kind="lookup", gold=(rows[5][1],), sql=f"SELECT [Plan] FROM {t} WHERE [Member] = 'Farah'"),
        Q(text="total monthly fees york", kind="sum", gold=(sum(r[3] for r in rows if r[4] == "York"),), sql=f"SELECT SUM([Monthly fee]) FROM {t} WHERE [City] = 'York'"),
        Q(text="who joined last", kind="extreme", gold=(max(rows, key=lambda r: r[2])[0],), sql=f"SELECT [Member], [Joined] FROM {t} ORDER BY [Joined] DESC LIMIT 1"),
        Q(text="members who joined since 2023", kind="group", gold=tuple(r[0] for r in rows if r[2].year >= 2023), sql=f"SELECT [Member] FROM {t} WHERE [Joined] >= '2023-01-01'"),
        Q(text="what does Hugo pay", kind="lookup", gold=(rows[7][3],), sql=f"SELECT [Monthly fee] FROM {t} WHERE [Member] = 'Hugo'"),
        Q(text="how many platinum members do we have", kind="none", gold=()),
        Q(text="how old is Dora", kind="none", gold=()),
    ]  # fmt: skip


def _about_dishes() -> list[Q]:
    rows, t = dishes(), "<bistro menu.html>"
    mains = [r for r in rows if r[1] == "Main"]
    return [
        Q(text="cheapest main?", kind="extreme", gold=(min(mains, key=lambda r: r[2])[0],), sql=f"SELECT [Dish], [Price] FROM {t} WHERE [Course] = 'Main' ORDER BY [Price] LIMIT 1"),
        Q(text="which dishes are veggie", kind="group", gold=tuple(r[0] for r in rows if r[4] == "yes"), sql=f"SELECT [Dish] FROM {t} WHERE [Vegetarian] = 1"),
        Q(text="how many dishes under 500 kcal", kind="filter", gold=(sum(r[3] < 500 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Calories] < 500"),
        Q(text="avg price by course", kind="group", gold=tuple(mean(r[2] for r in rows if r[1] == c) for c in sorted({r[1] for r in rows})), sql=f"SELECT [Course], AVG([Price]) FROM {t} GROUP BY [Course]"),
        Q(text="price of the tiramisu", kind="lookup", gold=(rows[7][2],), sql=f"SELECT [Price] FROM {t} WHERE [Dish] = 'Tiramisu'"),
        Q(text="which dish has most calories", kind="extreme", gold=(max(rows, key=lambda r: r[3])[0],), sql=f"SELECT [Dish], [Calories] FROM {t} ORDER BY [Calories] DESC LIMIT 1"),
        Q(text="is the lasagne gluten free", kind="none", gold=()),
        Q(text="price of the sushi", kind="none", gold=()),
    ]  # fmt: skip
