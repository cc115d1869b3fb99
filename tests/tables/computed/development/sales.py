# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import write_csv
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path


Q = ComputedQuestion
CUSTOMERS = (
    "Arden Foods",
    "Bolt & Sons",
    "Cedar Labs",
    "Delta Print",
    "Eagle Optics",
    "Fern Travel",
    "Granite Bank",
)
SEGMENTS = ("Retail", "Industry", "Industry", "Retail", "Health", "Retail", "Finance")
COUNTRIES = ("Norway", "Portugal", "Ireland", "Austria")
PRODUCTS = ("Desk Lamp", "Office Chair", "Monitor Arm", "Standing Desk")
STATUSES = ("shipped", "open", "cancelled")


def orders() -> list[Row]:
    """Number, date, customer, country, product, quantity, unit price, total, status."""
    source = random.Random(1501)
    rows: list[Row] = []
    for number in range(180):
        quantity, price = source.randrange(1, 40), source.randrange(1900, 89900) / 100
        rows.append(
            (
                f"SO-{5000 + number}",
                date(2024, 1, 3) + timedelta(days=source.randrange(720)),
                source.choice(CUSTOMERS),
                source.choice(COUNTRIES),
                source.choice(PRODUCTS),
                quantity,
                price,
                round(quantity * price, 2),
                source.choice(STATUSES),
            )
        )
    return rows


def _orders(path: Path) -> None:
    header = (
        "Order",
        "Order Date",
        "Customer",
        "Country",
        "Product",
        "Quantity",
        "Unit Price",
        "Order Total",
        "Status",
    )
    lines = [(*row[:6], f"${row[6]:,.2f}", f"${row[7]:,.2f}", row[8]) for row in orders()]
    write_csv(path, [header, *lines])


def _customers(path: Path) -> None:
    cities = ("Oslo", "Lisbon", "Dublin", "Vienna", "Bergen", "Porto", "Cork")
    write_csv(path, [("Customer", "Segment", "City"), *zip(CUSTOMERS, SEGMENTS, cities, strict=True)])


def _order_questions() -> list[Q]:
    rows = orders()
    t = "<orders.csv>"
    spring = [row for row in rows if date(2025, 3, 1) <= row[1] <= date(2025, 5, 31)]
    return [
        Q(
            text="How many orders came from Norway?",
            kind="count",
            gold=(sum(r[3] == "Norway" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Country] = 'Norway'",
        ),
        Q(
            text="How many orders are cancelled?",
            kind="count",
            gold=(sum(r[8] == "cancelled" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Status] = 'cancelled'",
        ),
        Q(
            text="What is the total of all orders from Portugal?",
            kind="sum",
            gold=(round(sum(r[7] for r in rows if r[3] == "Portugal"), 2),),
            sql=f"SELECT ROUND(SUM([Order Total]), 2) FROM {t} WHERE [Country] = 'Portugal'",
        ),
        Q(
            text="Sum of quantity for Office Chair orders",
            kind="sum",
            gold=(sum(r[5] for r in rows if r[4] == "Office Chair"),),
            sql=f"SELECT SUM([Quantity]) FROM {t} WHERE [Product] = 'Office Chair'",
        ),
        Q(
            text="What is the average order total for Cedar Labs?",
            kind="average",
            gold=(mean(r[7] for r in rows if r[2] == "Cedar Labs"),),
            sql=f"SELECT AVG([Order Total]) FROM {t} WHERE [Customer] = 'Cedar Labs'",
        ),
        Q(
            text="How many orders did we get in 2025?",
            kind="dates",
            gold=(sum(r[1].year == 2025 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Order Date] BETWEEN '2025-01-01' AND '2025-12-31'",
        ),
        Q(
            text="Total order value between 1 March 2025 and 31 May 2025",
            kind="dates",
            gold=(round(sum(r[7] for r in spring), 2),),
            sql=f"SELECT ROUND(SUM([Order Total]), 2) FROM {t} WHERE [Order Date] BETWEEN '2025-03-01' AND '2025-05-31'",
        ),
    ]


def _ranked_order_questions() -> list[Q]:
    rows, t = orders(), "<orders.csv>"
    best = sorted(CUSTOMERS, key=lambda name: -sum(row[7] for row in rows if row[2] == name))[:3]
    largest = sorted(rows, key=lambda row: -row[7])[:5]
    return [
        Q(
            text="Order total per country",
            kind="group",
            gold=tuple(round(sum(r[7] for r in rows if r[3] == c), 2) for c in COUNTRIES),
            sql=f"SELECT [Country], ROUND(SUM([Order Total]), 2) FROM {t} GROUP BY [Country]",
        ),
        Q(
            text="Number of orders by status",
            kind="group",
            gold=tuple(sum(r[8] == s for r in rows) for s in STATUSES),
            sql=f"SELECT [Status], COUNT(*) FROM {t} GROUP BY [Status]",
        ),
        Q(
            text="Which three customers have the highest total order value?",
            kind="top",
            gold=tuple(best),
            sql=f"SELECT [Customer], SUM([Order Total]) AS s FROM {t} GROUP BY [Customer] ORDER BY s DESC LIMIT 3",
        ),
        Q(
            text="Show the top 5 orders by order total",
            kind="top",
            gold=tuple(r[0] for r in largest),
            sql=f"SELECT [Order], [Order Total] FROM {t} ORDER BY [Order Total] DESC LIMIT 5",
        ),
        Q(
            text="How many open orders have a quantity above 30?",
            kind="filter",
            gold=(sum(r[8] == "open" and r[5] > 30 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Status] = 'open' AND [Quantity] > 30",
        ),
        Q(
            text="What is the status of order SO-5042?",
            kind="lookup",
            gold=(rows[42][8],),
            sql=f"SELECT [Status] FROM {t} WHERE [Order] = 'SO-5042'",
        ),
        Q(
            text="Which product was ordered in SO-5117?",
            kind="lookup",
            gold=(rows[117][4],),
            sql=f"SELECT [Product] FROM {t} WHERE [Order] = 'SO-5117'",
        ),
    ]


def _customer_questions() -> list[Q]:
    rows, t = orders(), "<orders.csv>"
    segment = dict(zip(CUSTOMERS, SEGMENTS, strict=True))
    return [
        Q(
            text="Join orders and customers: total order value of customers in the Retail segment",
            kind="join",
            gold=(round(sum(r[7] for r in rows if segment[r[2]] == "Retail"), 2),),
            sql=f"SELECT ROUND(SUM(o.[Order Total]), 2) FROM {t} AS o JOIN <customers.csv> AS c ON o.[Customer] = c.[Customer] WHERE c.[Segment] = 'Retail'",
        ),
        Q(
            text="How many orders per segment, using the customers file for the segment?",
            kind="join",
            gold=tuple(sum(segment[r[2]] == s for r in rows) for s in sorted(set(SEGMENTS))),
            sql=f"SELECT c.[Segment], COUNT(*) FROM {t} AS o JOIN <customers.csv> AS c ON o.[Customer] = c.[Customer] GROUP BY c.[Segment]",
        ),
        Q(text="How many orders came from Denmark?", kind="none", gold=()),
        Q(text="What was the total order value in 2019?", kind="none", gold=()),
        Q(text="What is the average discount per order?", kind="none", gold=()),
        Q(text="What is the total of all orders in yen?", kind="none", gold=()),
    ]


MAKERS = {
    "orders.csv": _orders,
    "customers.csv": _customers,
}


def questions() -> list[Q]:
    return [
        *_order_questions(),
        *_ranked_order_questions(),
        *_customer_questions(),
    ]
