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


def trips() -> list[Row]:
    """Trip, plate, driver, day, depot, kilometres, litres, fuel cost."""
    source = random.Random(9901)
    return [
        (
            f"T-{101 + n}",
            source.choice(("YK19 RTU", "BD21 HJO", "LM23 KPA", "NX18 VCE")),
            source.choice(("T. Okafor", "L. Brandt", "S. Iyer", "M. Dunne")),
            date(2025, 2, 3) + timedelta(days=4 * n),
            source.choice(("Leeds", "Hull", "York")),
            source.randrange(40, 480),
            source.randrange(40, 620) / 10,
            source.randrange(6_000, 98_000) / 1000 // 0.01 / 100,
        )
        for n in range(36)
    ]


def vehicles() -> list[Row]:
    """Plate, model, year bought, payload, insurance due."""
    return [
        ("YK19 RTU", "Sprinter", 2019, 1180, date(2026, 3, 14)),
        ("BD21 HJO", "Transit", 2021, 1025, date(2026, 1, 30)),
        ("LM23 KPA", "Sprinter", 2023, 1210, date(2026, 7, 2)),
        ("NX18 VCE", "Vivaro", 2018, 960, date(2025, 12, 19)),
    ]


def tickets() -> list[Row]:
    """Ticket, opened, closed (sometimes empty), priority, category, agent, minutes."""
    source = random.Random(9902)
    return [
        (
            f"INC-{2200 + n}",
            date(2025, 5, 26) + timedelta(days=n + n // 5),
            "" if n in (9, 17, 22, 25, 27, 28) else date(2025, 5, 28) + timedelta(days=n + n // 3),
            source.choice(("P1", "P2", "P3")),
            source.choice(("VPN", "Printer", "Email", "Laptop")),
            source.choice(("Nadia", "Goran", "Priya")),
            source.randrange(5, 240),
        )
        for n in range(30)
    ]


def donations() -> list[Row]:
    """Donor, campaign, day, amount, gift aid."""
    source = random.Random(9903)
    donors = (
        "Mrs Whitcombe",
        "A. Farouk",
        "The Lindqvists",
        "Rotary Club",
        "J. Pereira",
        "Anonymous",
        "Dr Sen",
    )
    return [
        (
            source.choice(donors),
            source.choice(("Roof Appeal", "Minibus Fund", "Summer Camp")),
            date(2024, 11, 5) + timedelta(days=9 * n),
            source.choice((10, 25, 40, 75, 120, 250, 500)) + n,
            source.choice(("Yes", "No")),
        )
        for n in range(26)
    ]


def campaigns() -> list[Row]:
    """Campaign, target, manager."""
    return [
        ("Roof Appeal", 1200, "Hattie Moss"),
        ("Minibus Fund", 5400, "Colm Byrne"),
        ("Summer Camp", 800, "Hattie Moss"),
    ]


def rooms() -> list[Row]:
    """Room, floor, seats, projector, hourly rate."""
    return [
        ("Larch", 1, 12, "no", "18.50"),
        ("Willow", 1, 30, "yes", "42.00"),
        ("Hazel", 2, 8, "no", "14.00"),
        ("Cedar", 2, 24, "yes", "36.50"),
        ("Maple", 2, 22, "no", "29.00"),
        ("Rowan", 3, 60, "yes", "75.00"),
        ("Elder", 3, 16, "yes", "27.50"),
    ]


def fields() -> list[Row]:
    """Crop, field, tonnes in 2023, 2024 and 2025, moisture."""
    return [
        ("Wheat", "North Meadow", 41.2, 38.7, 44.9, 14.1),
        ("Wheat", "Long Acre", 63.5, 59.4, 61.0, 13.6),
        ("Barley", "Church Field", 27.8, 31.3, 29.5, 12.9),
        ("Barley", "Mill Bank", 33.1, 30.6, 34.4, 13.3),
        ("Oats", "Dairy Ground", 18.4, 16.9, 20.2, 12.2),
        ("Oats", "Top Close", 22.7, 24.0, 19.6, 13.0),
        ("Wheat", "Hanger", 36.6, 40.1, 37.3, 14.4),
    ]


INCOME = {
    "Product sales": (18400, 17250, 20110, 19480, 21900, 22340),
    "Consulting": (5200, 6100, 4800, 7350, 6600, 5900),
}
COSTS = {
    "Salaries": (11200, 11200, 11450, 11450, 11450, 11900),
    "Rent": (2400, 2400, 2400, 2550, 2550, 2550),
    "Insurance": (310, 310, 310, 345, 345, 345),
    "Travel": (780, 1240, 660, 1515, 930, 1105),
}


def _profit_and_loss(path: Path) -> None:
    def total(name: str, accounts: dict[str, tuple[int, ...]]) -> Row:
        return (name, "", *(sum(month) for month in zip(*accounts.values(), strict=True)))

    rows: list[Row] = [
        ("Profit and loss, first half of 2025 (EUR)",),
        (),
        ("Account", "Type", "Jan", "Feb", "Mar", "Apr", "May", "Jun"),
        *((name, "Income", *months) for name, months in INCOME.items()),
        total("Total income", INCOME),
        *((name, "Operating costs", *months) for name, months in COSTS.items()),
        total("Total operating costs", COSTS),
    ]
    write_sheets(path, {"P&L 2025": rows}, dict.fromkeys(range(3, 9), "#,##0"))


def _donations(path: Path) -> None:
    sheets = {
        "Donations": [("Donor", "Campaign", "Date", "Amount (GBP)", "Gift Aid"), *donations()],
        "Campaigns": [("Campaign", "Target (GBP)", "Manager"), *campaigns()],
    }
    write_sheets(path, sheets)


MAKERS = {
    "fleet log.xlsx": made(
        ("Trip", "Plate", "Driver", "Date", "Depot", "Km", "Diesel (l)", "Fuel cost (EUR)"),
        trips(),
        sheet="Trips",
        formats={4: "dd/mm/yyyy", 8: "#,##0.00"},
    ),
    "vehicles.csv": made(("Plate", "Model", "Year bought", "Payload (kg)", "Insurance due"), vehicles()),
    "helpdesk.csv": made(
        ("Ticket", "Opened", "Closed", "Priority", "Category", "Agent", "Minutes spent"), tickets()
    ),
    "donations.xlsx": _donations,
    "room hire.docx": made(("Room", "Floor", "Seats", "Projector", "Rate per hour (GBP)"), rooms()),
    "harvest.md": made(("Crop", "Field", "2023 (t)", "2024 (t)", "2025 (t)", "Moisture (%)"), fields()),
    "profit and loss.xlsx": _profit_and_loss,
}


def questions() -> list[Q]:
    return [
        *_about_trips(),
        *_about_tickets(),
        *_about_donations(),
        *_about_rooms(),
        *_about_fields(),
        *_about_accounts(),
    ]


def _about_trips() -> list[Q]:
    rows, t, v = trips(), "<fleet log.xlsx>", "<vehicles.csv>"
    litres = {p: sum(r[6] for r in rows if r[1] == p) for p in sorted({r[1] for r in rows})}
    drivers = {d: sum(r[5] for r in rows if r[2] == d) for d in sorted({r[2] for r in rows})}
    model, bought = {r[0]: r[1] for r in vehicles()}, {r[0]: r[2] for r in vehicles()}
    return [
        Q(text="total km driven by Okafor", kind="sum", gold=(drivers["T. Okafor"],), sql=f"SELECT SUM([Km]) FROM {t} WHERE [Driver] = 'T. Okafor'"),
        Q(text="how many trips left from the Leeds depot", kind="count", gold=(sum(r[4] == "Leeds" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Depot] = 'Leeds'"),
        Q(text="fuel cost for april all vehicles", kind="dates", gold=(sum(r[7] for r in rows if r[3].month == 4),), sql=f"SELECT SUM([Fuel cost]) FROM {t} WHERE [Date] BETWEEN '2025-04-01' AND '2025-04-30'"),
        Q(text="Which plate burned the most diesel overall?", kind="extreme", gold=(max(litres, key=lambda p: litres[p]),), sql=f"SELECT [Plate], SUM([Diesel]) FROM {t} GROUP BY [Plate] ORDER BY 2 DESC LIMIT 1"),
        Q(text="avg km per trip, Hull only", kind="average", gold=(mean(r[5] for r in rows if r[4] == "Hull"),), sql=f"SELECT AVG([Km]) FROM {t} WHERE [Depot] = 'Hull'"),
        Q(text="trips longer than 300 km - how many were there", kind="filter", gold=(sum(r[5] > 300 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Km] > 300"),
        Q(text="km per driver pls", kind="group", gold=tuple(drivers.values()), sql=f"SELECT [Driver], SUM([Km]) FROM {t} GROUP BY [Driver]"),
        Q(text="How many litres of diesel did we need between 1 March and 31 March 2025?", kind="dates", gold=(sum(r[6] for r in rows if r[3].month == 3),), sql=f"SELECT SUM([Diesel]) FROM {t} WHERE [Date] BETWEEN '2025-03-01' AND '2025-03-31'"),
        Q(text="Fuel cost of the vehicles we bought before 2021, sum", kind="join", gold=(sum(r[7] for r in rows if bought[r[1]] < 2021),), sql=f"SELECT SUM([Fuel cost]) FROM {t} JOIN {v} USING ([Plate]) WHERE [Year bought] < 2021"),
        Q(text="kilometres of all Sprinter vans together", kind="join", gold=(sum(r[5] for r in rows if model[r[1]] == "Sprinter"),), sql=f"SELECT SUM([Km]) FROM {t} JOIN {v} USING ([Plate]) WHERE [Model] = 'Sprinter'"),
        Q(text="who drove T-118", kind="lookup", gold=(rows[17][2],), sql=f"SELECT [Driver] FROM {t} WHERE [Trip] = 'T-118'"),
        Q(text="depot for trip T-109?", kind="lookup", gold=(rows[8][4],), sql=f"SELECT [Depot] FROM {t} WHERE [Trip] = 'T-109'"),
        Q(text="what model is YK19 RTU", kind="lookup", gold=("Sprinter",), sql=f"SELECT [Model] FROM {v} WHERE [Plate] = 'YK19 RTU'"),
        Q(text="When is the insurance for BD21 HJO due?", kind="lookup", gold=("2026-01-30",), sql=f"SELECT [Insurance due] FROM {v} WHERE [Plate] = 'BD21 HJO'"),
        Q(text="how many accidents did Iyer have", kind="none", gold=()),
        Q(text="CO2 emissions of the fleet in May", kind="none", gold=()),
        Q(text="km driven by Petrov", kind="none", gold=()),
    ]  # fmt: skip


def _about_tickets() -> list[Q]:
    rows, t = tickets(), "<helpdesk.csv>"
    minutes = {c: sum(r[6] for r in rows if r[4] == c) for c in sorted({r[4] for r in rows})}
    counts = {c: sum(r[4] == c for r in rows) for c in minutes}
    return [
        Q(text="hi, how many tickets are not closed yet?", kind="filter", gold=(sum(r[2] == "" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Closed] IS NULL"),
        Q(text="How many P1 tickets did Nadia get?", kind="count", gold=(sum(r[3] == "P1" and r[5] == "Nadia" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Priority] = 'P1' AND [Agent] = 'Nadia'"),
        Q(text="average minutes spent on a VPN ticket", kind="average", gold=(mean(r[6] for r in rows if r[4] == "VPN"),), sql=f"SELECT AVG([Minutes spent]) FROM {t} WHERE [Category] = 'VPN'"),
        Q(text="Please give me the count of tickets by category.", kind="group", gold=tuple(counts.values()), sql=f"SELECT [Category], COUNT(*) FROM {t} GROUP BY [Category]"),
        Q(text="top 3 tickets by minutes spent", kind="top", gold=tuple(r[0] for r in sorted(rows, key=lambda r: -r[6])[:3]), sql=f"SELECT [Ticket], [Minutes spent] FROM {t} ORDER BY [Minutes spent] DESC LIMIT 3"),
        Q(text="tickets opened after 15 june 2025, number", kind="dates", gold=(sum(r[1] > date(2025, 6, 15) for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Opened] > '2025-06-15'"),
        Q(text="which category eats up most of our minutes", kind="extreme", gold=(max(minutes, key=lambda c: minutes[c]),), sql=f"SELECT [Category], SUM([Minutes spent]) FROM {t} GROUP BY [Category] ORDER BY 2 DESC LIMIT 1"),
        Q(text="minutes on Printer and Email combined", kind="sum", gold=(minutes["Printer"] + minutes["Email"],), sql=f"SELECT SUM([Minutes spent]) FROM {t} WHERE [Category] IN ('Printer', 'Email')"),
        Q(text="INC-2207 priority?", kind="lookup", gold=(rows[7][3],), sql=f"SELECT [Priority] FROM {t} WHERE [Ticket] = 'INC-2207'"),
        Q(text="Who is working on INC-2214", kind="lookup", gold=(rows[14][5],), sql=f"SELECT [Agent] FROM {t} WHERE [Ticket] = 'INC-2214'"),
        Q(text="What satisfaction score did INC-2210 get?", kind="none", gold=()),
        Q(text="how many tickets were opened in 2023", kind="none", gold=()),
        Q(text="minutes spent on Payroll tickets", kind="none", gold=()),
    ]  # fmt: skip


def _about_donations() -> list[Q]:
    rows, t, c = donations(), "<donations.xlsx#Donations>", "<donations.xlsx#Campaigns>"
    raised = {name: sum(r[3] for r in rows if r[1] == name) for name in sorted({r[1] for r in rows})}
    missed = tuple(name for name, target, _ in campaigns() if raised[name] < target)
    return [
        Q(text="How much has been raised for the Roof Appeal so far?", kind="sum", gold=(raised["Roof Appeal"],), sql=f"SELECT SUM([Amount]) FROM {t} WHERE [Campaign] = 'Roof Appeal'"),
        Q(text="average donation amount", kind="average", gold=(mean(r[3] for r in rows),), sql=f"SELECT AVG([Amount]) FROM {t}"),
        Q(text="number of donations with gift aid", kind="count", gold=(sum(r[4] == "Yes" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Gift Aid] = 1"),
        Q(text="who made the single biggest donation", kind="extreme", gold=(max(rows, key=lambda r: r[3])[0],), sql=f"SELECT [Donor], [Amount] FROM {t} ORDER BY [Amount] DESC LIMIT 1"),
        Q(text="Total donations in Q1 2025", kind="dates", gold=(sum(r[3] for r in rows if date(2025, 1, 1) <= r[2] <= date(2025, 3, 31)),), sql=f"SELECT SUM([Amount]) FROM {t} WHERE [Date] BETWEEN '2025-01-01' AND '2025-03-31'"),
        Q(text="which campaigns are still below their target", kind="join", gold=missed, sql=f"SELECT c.[Campaign] FROM {c} c JOIN {t} d ON d.[Campaign] = c.[Campaign] GROUP BY c.[Campaign], [Target] HAVING SUM([Amount]) < [Target]"),
        Q(text="list the gifts of 500 pounds or more", kind="group", gold=tuple(r[3] for r in rows if r[3] >= 500), sql=f"SELECT [Donor], [Amount] FROM {t} WHERE [Amount] >= 500"),
        Q(text="whats the target for the minibus fund", kind="lookup", gold=(5400,), sql=f"SELECT [Target] FROM {c} WHERE [Campaign] = 'Minibus Fund'"),
        Q(text="who manages Summer Camp?", kind="lookup", gold=("Hattie Moss",), sql=f"SELECT [Manager] FROM {c} WHERE [Campaign] = 'Summer Camp'"),
        Q(text="postcode of Mrs Whitcombe", kind="none", gold=()),
        Q(text="How much did the Roof Appeal raise in US dollars?", kind="none", gold=()),
    ]  # fmt: skip


def _about_rooms() -> list[Q]:
    rows, t = rooms(), "<room hire.docx>"
    return [
        Q(text="rooms with more than 20 seats and a projector", kind="group", gold=tuple(r[0] for r in rows if r[2] > 20 and r[3] == "yes"), sql=f"SELECT [Room] FROM {t} WHERE [Seats] > 20 AND [Projector] = 1"),
        Q(text="which room is cheapest per hour?", kind="extreme", gold=("Hazel",), sql=f"SELECT [Room], [Rate per hour] FROM {t} ORDER BY [Rate per hour] LIMIT 1"),
        Q(text="how many seats do we have on floor 2 in total", kind="sum", gold=(sum(r[2] for r in rows if r[1] == 2),), sql=f"SELECT SUM([Seats]) FROM {t} WHERE [Floor] = 2"),
        Q(text="How much is the Larch room an hour?", kind="lookup", gold=(18.5,), sql=f"SELECT [Rate per hour] FROM {t} WHERE [Room] = 'Larch'"),
        Q(text="does Willow have a projector", kind="lookup", gold=("yes",), sql=f"SELECT CASE [Projector] WHEN 1 THEN 'yes' ELSE 'no' END FROM {t} WHERE [Room] = 'Willow'"),
        Q(text="how many seats has Elder", kind="lookup", gold=(16,), sql=f"SELECT [Seats] FROM {t} WHERE [Room] = 'Elder'"),
        Q(text="weekend rate for Cedar", kind="none", gold=()),
        Q(text="how much is the Aspen room per hour", kind="none", gold=()),
    ]  # fmt: skip


def _about_fields() -> list[Q]:
    rows, t = fields(), "<harvest.md>"
    return [
        Q(text="tonnes of wheat in 2024 across all fields", kind="sum", gold=(sum(r[3] for r in rows if r[0] == "Wheat"),), sql=f"SELECT SUM([2024]) FROM {t} WHERE [Crop] = 'Wheat'"),
        Q(text="Best barley field in 2025?", kind="extreme", gold=(max((r for r in rows if r[0] == "Barley"), key=lambda r: r[4])[1],), sql=f"SELECT [Field], [2025] FROM {t} WHERE [Crop] = 'Barley' ORDER BY [2025] DESC LIMIT 1"),
        Q(text="North Meadow 2023, how many t", kind="lookup", gold=(41.2,), sql=f"SELECT [2023] FROM {t} WHERE [Field] = 'North Meadow'"),
        Q(text="wheat harvest in 2021", kind="none", gold=()),
    ]  # fmt: skip


def _about_accounts() -> list[Q]:
    t = "<profit and loss.xlsx>"
    return [
        Q(text="what did we spend on rent from January to March", kind="sum", gold=(sum(COSTS["Rent"][:3]),), sql=f"SELECT [Jan] + [Feb] + [Mar] FROM {t} WHERE [Account] = 'Rent'"),
        Q(text="total operating costs in May", kind="sum", gold=(sum(months[4] for months in COSTS.values()),), sql=f"SELECT SUM([May]) FROM {t} WHERE [Type] = 'Operating costs'"),
        Q(text="insurance in april", kind="lookup", gold=(345,), sql=f"SELECT [Apr] FROM {t} WHERE [Account] = 'Insurance'"),
        Q(text="Consulting income Feb 2025", kind="lookup", gold=(6100,), sql=f"SELECT [Feb] FROM {t} WHERE [Account] = 'Consulting'"),
        Q(text="travel costs in september", kind="none", gold=()),
    ]  # fmt: skip
