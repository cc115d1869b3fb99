# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import write_csv
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path


Q = ComputedQuestion


def energy() -> list[Row]:
    """Month, plant, electricity, gas (sometimes missing)."""
    source = random.Random(1509)
    return [
        (
            f"2025-{month:02}",
            plant,
            source.randrange(1000, 90000),
            source.randrange(100, 4000) if source.random() > 0.15 else None,
        )
        for month in range(1, 13)
        for plant in ("Mill Lane", "Dock Road", "High Street")
    ]


def _energy(path: Path) -> None:
    lines = [(m, p, f"{e:,}", "n/a" if g is None else g) for m, p, e, g in energy()]
    write_csv(path, [("Month", "Plant", "Electricity (kWh)", "Gas (m³)"), *lines])


def _energy_questions() -> list[Q]:
    rows, t = energy(), "<energy use.csv>"
    return [
        Q(
            text="What was the total electricity use of the Dock Road plant?",
            kind="sum",
            gold=(sum(r[2] for r in rows if r[1] == "Dock Road"),),
            sql=f"SELECT SUM([Electricity]) FROM {t} WHERE [Plant] = 'Dock Road'",
        ),
        Q(
            text="Average gas consumption of the Mill Lane plant",
            kind="average",
            gold=(mean(r[3] for r in rows if r[1] == "Mill Lane" and r[3] is not None),),
            sql=f"SELECT AVG([Gas]) FROM {t} WHERE [Plant] = 'Mill Lane'",
        ),
        Q(
            text="Lowest electricity value of the High Street plant",
            kind="extreme",
            gold=(min(r[2] for r in rows if r[1] == "High Street"),),
            sql=f"SELECT MIN([Electricity]) FROM {t} WHERE [Plant] = 'High Street'",
        ),
        Q(
            text="Total electricity by plant",
            kind="group",
            gold=tuple(
                sum(r[2] for r in rows if r[1] == p) for p in ("Dock Road", "High Street", "Mill Lane")
            ),
            sql=f"SELECT [Plant], SUM([Electricity]) FROM {t} GROUP BY [Plant]",
        ),
        Q(
            text="How much electricity did Dock Road use in May 2025?",
            kind="lookup",
            gold=(next(r[2] for r in rows if r[:2] == ("2025-05", "Dock Road")),),
            sql=f"SELECT [Electricity] FROM {t} WHERE [Plant] = 'Dock Road' AND [Month] LIKE '2025-05%'",
        ),
        Q(text="What was the total water use of the Dock Road plant?", kind="none", gold=()),
    ]


def invoices() -> list[Row]:
    """Invoice, date, supplier, amount, currency."""
    source = random.Random(1510)
    return [
        (
            f"INV-{n:03}",
            date(2025, 1, 5) + timedelta(days=n * 4),
            source.choice(("Nordwind", "Paperly", "Quantum Ltd")),
            source.randrange(5000, 900_000) / 100,
            source.choice(("USD", "EUR")),
        )
        for n in range(1, 61)
    ]


def _invoices(path: Path) -> None:
    lines = [(n, f"{day:%d/%m/%Y}", s, f"{a:,.2f}", c) for n, day, s, a, c in invoices()]
    write_csv(path, [("Invoice", "Invoice date", "Supplier", "Amount", "Currency"), *lines])


def _invoice_questions() -> list[Q]:
    rows, t = invoices(), "<invoices.csv>"
    return [
        Q(
            text="Sum of the invoice amounts in EUR",
            kind="sum",
            gold=(round(sum(r[3] for r in rows if r[4] == "EUR"), 2),),
            sql=f"SELECT ROUND(SUM([Amount]), 2) FROM {t} WHERE [Currency] = 'EUR'",
        ),
        Q(
            text="How many invoices did Paperly send?",
            kind="count",
            gold=(sum(r[2] == "Paperly" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Supplier] = 'Paperly'",
        ),
        Q(
            text="How many invoices have an amount over 5,000 USD?",
            kind="filter",
            gold=(sum(r[3] > 5000 and r[4] == "USD" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Amount] > 5000 AND [Currency] = 'USD'",
        ),
        Q(
            text="How many invoices are dated in June 2025?",
            kind="dates",
            gold=(sum(r[1].month == 6 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Invoice date] LIKE '2025-06-%'",
        ),
        Q(
            text="What is the amount of invoice INV-017?",
            kind="lookup",
            gold=(rows[16][3],),
            sql=f"SELECT [Amount] FROM {t} WHERE [Invoice] = 'INV-017'",
        ),
        Q(
            text="Which supplier sent invoice INV-033?",
            kind="lookup",
            gold=(rows[32][2],),
            sql=f"SELECT [Supplier] FROM {t} WHERE [Invoice] = 'INV-033'",
        ),
        Q(text="Sum of the invoice amounts in CHF", kind="none", gold=()),
    ]


def tickets() -> list[Row]:
    """Ticket, opened, priority, agent, minutes."""
    source = random.Random(1511)
    return [
        (
            f"T{n}",
            datetime(2025, 6, 1, 8) + timedelta(minutes=source.randrange(80_000)),
            source.choice(("low", "medium", "high", "urgent")),
            source.choice(("Kim", "Lou", "Max")),
            source.randrange(2, 600),
        )
        for n in range(900, 990)
    ]


def _tickets(path: Path) -> None:
    lines = [(n, f"{at:%Y-%m-%d %H:%M}", p, a, m) for n, at, p, a, m in tickets()]
    write_csv(path, [("Ticket", "Opened", "Priority", "Agent", "Minutes to solve"), *lines])


def _ticket_questions() -> list[Q]:
    rows, t = tickets(), "<support tickets.csv>"
    return [
        Q(
            text="How many urgent tickets are there?",
            kind="count",
            gold=(sum(r[2] == "urgent" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Priority] = 'urgent'",
        ),
        Q(
            text="What is the average number of minutes to solve a high priority ticket?",
            kind="average",
            gold=(mean(r[4] for r in rows if r[2] == "high"),),
            sql=f"SELECT AVG([Minutes to solve]) FROM {t} WHERE [Priority] = 'high'",
        ),
        Q(
            text="How many tickets did each agent have?",
            kind="group",
            gold=tuple(sum(r[3] == a for r in rows) for a in ("Kim", "Lou", "Max")),
            sql=f"SELECT [Agent], COUNT(*) FROM {t} GROUP BY [Agent]",
        ),
        Q(
            text="How many tickets were opened in July 2025?",
            kind="dates",
            gold=(sum(r[1].month == 7 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Opened] LIKE '2025-07-%'",
        ),
        Q(
            text="Which agent has ticket T944?",
            kind="lookup",
            gold=(next(r[3] for r in rows if r[0] == "T944"),),
            sql=f"SELECT [Agent] FROM {t} WHERE [Ticket] = 'T944'",
        ),
        Q(text="How many tickets did agent Pat have?", kind="none", gold=()),
        Q(text="Why do customers open so many tickets?", kind="none", gold=()),
    ]


MAKERS = {
    "energy use.csv": _energy,
    "invoices.csv": _invoices,
    "support tickets.csv": _tickets,
}


def questions() -> list[Q]:
    return [
        *_energy_questions(),
        *_invoice_questions(),
        *_ticket_questions(),
    ]
