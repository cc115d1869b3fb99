# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import write_csv, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path


Q = ComputedQuestion
FEES = ("Starter", "Team", "Enterprise")


def fleet() -> list[Row]:
    """Plate, model, fuel, kilometres, last service, yearly cost."""
    source = random.Random(2601)
    return [
        (
            f"FT {n} K",
            source.choice(("Transit", "Vito", "Kangoo")),
            source.choice(("diesel", "electric", "petrol")),
            source.randrange(4_000, 190_000),
            date(2024, 2, 1) + timedelta(days=source.randrange(640)),
            source.randrange(90_000, 900_000) / 100,
        )
        for n in range(310, 345)
    ]


def _fleet(path: Path) -> None:
    header = ("Plate", "Model", "Fuel", "Mileage (km)", "Last service", "Yearly cost")
    write_sheets(
        path,
        {"Vehicles": [("Vehicle fleet",), header, *fleet()]},
        {4: "#,##0", 5: "d mmm yyyy", 6: '"€" #,##0.00'},
    )


def _fleet_questions() -> list[Q]:
    rows, t = fleet(), "<vehicle fleet.xlsx>"
    return [
        Q(
            text="How many electric vehicles do we have?",
            kind="count",
            gold=(sum(r[2] == "electric" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Fuel] = 'electric'",
        ),
        Q(
            text="What is the average mileage of the diesel vehicles?",
            kind="average",
            gold=(mean(r[3] for r in rows if r[2] == "diesel"),),
            sql=f"SELECT AVG([Mileage]) FROM {t} WHERE [Fuel] = 'diesel'",
        ),
        Q(
            text="What do all Vito vehicles cost per year together?",
            kind="sum",
            gold=(round(sum(r[5] for r in rows if r[1] == "Vito"), 2),),
            sql=f"SELECT SUM([Yearly cost]) FROM {t} WHERE [Model] = 'Vito'",
        ),
        Q(
            text="Which vehicle has the highest mileage?",
            kind="extreme",
            gold=(max(rows, key=lambda r: r[3])[0],),
            sql=f"SELECT [Plate], [Mileage] FROM {t} ORDER BY [Mileage] DESC LIMIT 1",
        ),
        Q(
            text="How many vehicles were last serviced before 2025?",
            kind="dates",
            gold=(sum(r[4].year < 2025 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Last service] < '2025-01-01'",
        ),
        Q(
            text="Number of vehicles per fuel",
            kind="group",
            gold=tuple(sum(r[2] == f for r in rows) for f in ("diesel", "electric", "petrol")),
            sql=f"SELECT [Fuel], COUNT(*) FROM {t} GROUP BY [Fuel]",
        ),
        Q(
            text="What model is the vehicle with the plate FT 322 K?",
            kind="lookup",
            gold=(rows[12][1],),
            sql=f"SELECT [Model] FROM {t} WHERE [Plate] = 'FT 322 K'",
        ),
        Q(text="How many hydrogen vehicles do we have?", kind="none", gold=()),
        Q(text="What is the average insurance premium of the vehicles?", kind="none", gold=()),
    ]


def event_costs(event: str) -> list[Row]:
    """Position, planned, actual."""
    source = random.Random(f"2603{event}")
    return [
        (name, source.randrange(400, 9000), source.randrange(400, 9000))
        for name in ("Catering", "Venue", "Speakers", "Print", "Insurance")
    ]


def _events(path: Path) -> None:
    lines: list[Row] = []
    for event in ("Autumn conference", "Trade fair"):
        rows = event_costs(event)
        lines += [
            (event,),
            ("Position", "Planned (CHF)", "Actual (CHF)"),
            *rows,
            ("Total", sum(r[1] for r in rows), sum(r[2] for r in rows)),
            (),
            (),
        ]
    write_sheets(path, {"Events": lines}, {2: "#,##0", 3: "#,##0"})


def _event_questions() -> list[Q]:
    fair, conference = event_costs("Trade fair"), event_costs("Autumn conference")
    t, u = "<event budget.xlsx#Trade fair>", "<event budget.xlsx#Autumn conference>"
    return [
        Q(
            text="Sum of the actual costs of the trade fair",
            kind="sum",
            gold=(sum(r[2] for r in fair),),
            sql=f"SELECT SUM([Actual]) FROM {t}",
        ),
        Q(
            text="Which position of the autumn conference had the highest planned cost?",
            kind="extreme",
            gold=(max(conference, key=lambda r: r[1])[0],),
            sql=f"SELECT [Position], [Planned] FROM {u} ORDER BY [Planned] DESC LIMIT 1",
        ),
        Q(
            text="How many positions of the trade fair cost more than planned?",
            kind="filter",
            gold=(sum(r[2] > r[1] for r in fair),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Actual] > [Planned]",
        ),
        Q(
            text="What was planned for catering at the autumn conference?",
            kind="lookup",
            gold=(conference[0][1],),
            sql=f"SELECT [Planned] FROM {u} WHERE [Position] = 'Catering'",
        ),
        Q(text="What did the summer party cost in total?", kind="none", gold=()),
    ]


def subscriptions() -> list[Row]:
    """Account, plan, currency, fee, since, active."""
    source = random.Random(2611)
    return [
        (
            f"ACC-{n}",
            source.choice(FEES),
            source.choice(("EUR", "GBP")),
            source.randrange(9, 400),
            date(2022, 1, 1) + timedelta(days=source.randrange(1300)),
            source.choice(("yes", "no")),
        )
        for n in range(200, 280)
    ]


def _subscriptions(path: Path) -> None:
    lines = [(a, p, f"{c} {f}.00", f"{d:%b %d, %Y}", x) for a, p, c, f, d, x in subscriptions()]
    write_csv(path, [("Account", "Plan", "Monthly fee", "Customer since", "Active"), *lines])


def _subscription_questions() -> list[Q]:
    rows, t = subscriptions(), "<subscriptions.csv>"
    return [
        Q(
            text="How many accounts are on the Team plan?",
            kind="count",
            gold=(sum(r[1] == "Team" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Plan] = 'Team'",
        ),
        Q(
            text="How many active accounts are on the Enterprise plan?",
            kind="filter",
            gold=(sum(r[1] == "Enterprise" and r[5] == "yes" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Plan] = 'Enterprise' AND [Active] = 1",
        ),
        Q(
            text="How many accounts are customers since 2024?",
            kind="dates",
            gold=(sum(r[4].year == 2024 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Customer since] LIKE '2024-%'",
        ),
        Q(
            text="Which plan does account ACC-233 have?",
            kind="lookup",
            gold=(rows[33][1],),
            sql=f"SELECT [Plan] FROM {t} WHERE [Account] = 'ACC-233'",
        ),
        Q(text="What is the sum of all monthly fees in dollars?", kind="none", gold=()),
    ]


def shipments() -> list[Row]:
    """Shipment, carrier, sent, delivered, weight."""
    source = random.Random(2612)
    rows: list[Row] = []
    for n in range(55):
        sent = date(2025, 7, 1) + timedelta(days=source.randrange(90))
        rows.append(
            (
                f"SH{n + 10}",
                source.choice(("Hermod", "Swift", "Pelican")),
                sent,
                sent + timedelta(days=source.randrange(1, 12)),
                source.randrange(5, 4000) / 10,
            )
        )
    return rows


def _shipments(path: Path) -> None:
    header = ("Shipment", "Carrier", "Sent", "Delivered", "Weight (kg)")
    write_sheets(
        path,
        {"Shipments": [header, *shipments()], "Notes": [("Weights are gross.",)]},
        {3: "dd/mm/yyyy", 4: "dd/mm/yyyy", 5: "0.0"},
    )


def _shipment_questions() -> list[Q]:
    rows, t = shipments(), "<shipments.xlsx#Shipments>"
    heaviest = sorted(rows, key=lambda r: -r[4])[:3]
    return [
        Q(
            text="Total weight shipped with Pelican",
            kind="sum",
            gold=(round(sum(r[4] for r in rows if r[1] == "Pelican"), 1),),
            sql=f"SELECT SUM([Weight]) FROM {t} WHERE [Carrier] = 'Pelican'",
        ),
        Q(
            text="How many shipments were sent between 1 August 2025 and 15 August 2025?",
            kind="dates",
            gold=(sum(date(2025, 8, 1) <= r[2] <= date(2025, 8, 15) for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Sent] BETWEEN '2025-08-01' AND '2025-08-15'",
        ),
        Q(
            text="What are the 3 heaviest shipments?",
            kind="top",
            gold=tuple(r[0] for r in heaviest),
            sql=f"SELECT [Shipment], [Weight] FROM {t} ORDER BY [Weight] DESC LIMIT 3",
        ),
        Q(
            text="Average days between sent and delivered per carrier",
            kind="group",
            gold=tuple(
                mean((r[3] - r[2]).days for r in rows if r[1] == c) for c in ("Hermod", "Pelican", "Swift")
            ),
            sql=f"SELECT [Carrier], AVG(julianday([Delivered]) - julianday([Sent])) FROM {t} GROUP BY [Carrier]",
        ),
        Q(
            text="Which carrier took shipment SH31?",
            kind="lookup",
            gold=(rows[21][1],),
            sql=f"SELECT [Carrier] FROM {t} WHERE [Shipment] = 'SH31'",
        ),
        Q(text="Total weight shipped with Albatross", kind="none", gold=()),
    ]


MAKERS = {
    "vehicle fleet.xlsx": _fleet,
    "event budget.xlsx": _events,
    "subscriptions.csv": _subscriptions,
    "shipments.xlsx": _shipments,
}


def questions() -> list[Q]:
    return [
        *_fleet_questions(),
        *_event_questions(),
        *_subscription_questions(),
        *_shipment_questions(),
    ]
