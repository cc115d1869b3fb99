# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import made, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion
PRICES = {"Standard": 350, "Student": 120, "VIP": 690}


def samples() -> list[Row]:
    """Sample, site, day, pH, nitrate, E. coli, within limits, analyst."""
    source = random.Random(1401)
    rows: list[Row] = []
    for n in range(28):
        nitrate, coli = source.randrange(60, 590) / 10, source.randrange(20, 1400)
        rows.append(
            (
                f"S-{412 + n:04}",
                source.choice([code for code, *_ in sites()]),
                date(2025, 4, 2) + timedelta(days=5 * n),
                source.randrange(62, 86) / 10,
                nitrate,
                coli,
                "no" if nitrate > 50 or coli > 1000 else "yes",
                source.choice(("Brennan", "Oduya", "Castell")),
            )
        )
    return rows


def sites() -> list[Row]:
    """Site, river, ranger, height."""
    return [
        ("ASH-1", "Ash", "Nell Tolley", 142),
        ("ASH-3", "Ash", "Nell Tolley", 118),
        ("KEN-2", "Kent", "Joss Avery", 87),
        ("LUNE-1", "Lune", "Nell Tolley", 203),
        ("MINT-4", "Mint", "Hugh Pask", 165),
    ]


def registrations() -> list[Row]:
    """Attendee, company, country, ticket, day, vegetarian, workshop (sometimes empty)."""
    source = random.Random(1402)
    people = (
        ("Yuki Tanabe", "Orbit Maps", "Japan"),
        ("Carlos Prieto", "Valle GIS", "Spain"),
        ("Hanna Lindgren", "Nordkart", "Sweden"),
        ("Peter Voss", "Geowerk", "Germany"),
        ("Amelie Roche", "Terra Lab", "France"),
        ("Marta Soler", "Valle GIS", "Spain"),
        ("Jonas Ek", "Nordkart", "Sweden"),
        ("Lucy Hart", "Fieldnote", "United Kingdom"),
        ("Sabine Kurz", "Geowerk", "Germany"),
        ("Diego Alba", "Valle GIS", "Spain"),
        ("Ravi Menon", "Orbit Maps", "India"),
        ("Owen Price", "Fieldnote", "United Kingdom"),
        ("Lena Fuchs", "Geowerk", "Germany"),
        ("Paul Girod", "Terra Lab", "France"),
        ("Elsa Berg", "Nordkart", "Sweden"),
        ("Nuria Campos", "Valle GIS", "Spain"),
        ("Mia Walsh", "Fieldnote", "Ireland"),
        ("Tom Reiter", "Alpenblick", "Austria"),
        ("Ken Mori", "Orbit Maps", "Japan"),
        ("Iris Blanc", "Terra Lab", "France"),
        ("Jack Nolan", "Fieldnote", "Ireland"),
        ("Pau Ferrer", "Valle GIS", "Spain"),
    )
    return [
        (
            *person,
            source.choice(("Standard", "Standard", "Student", "VIP")),
            date(2025, 2, 26) + timedelta(days=3 * n),
            source.choice(("Yes", "No", "No")),
            source.choice(("Drones", "Open data", "Cartography", "")),
        )
        for n, person in enumerate(people)
    ]


def teams() -> list[Row]:
    """Team, lead, heads, open roles."""
    return [
        ("Data Platform", "Irena Novak", 14, 3),
        ("Mobile", "Callum Reid", 9, 1),
        ("Support", "Fatou Diop", 22, 4),
        ("Finance", "Urs Keller", 6, 0),
        ("Design", "Bea Santos", 7, 2),
        ("Field Sales", "Marc Olsen", 17, 5),
    ]


def offices() -> list[Row]:
    """Office, town, desks, end of the lease, rent."""
    return [
        ("Limmat", "Zurich", 40, date(2027, 9, 30), 18_400),
        ("Rhein", "Basel", 24, date(2026, 3, 31), 9_650),
        ("Aare", "Bern", 18, date(2026, 12, 31), 7_200),
        ("Ticino", "Lugano", 10, date(2029, 6, 30), 4_150),
    ]


def _samples(path: Path) -> None:
    rows: list[Row] = [
        ("River monitoring programme 2025",),
        ("Nitrate limit 50 mg/l, E. coli limit 1000",),
        (),
        ("Sample", "Site code", "Taken on", "pH", "Nitrate (mg/l)", "E. coli (per 100 ml)", "Within limits", "Analyst"),
        *samples(),
    ]  # fmt: skip
    write_sheets(path, {"Samples": rows}, {3: "dd-mmm-yy"})


def _teams_and_offices(path: Path) -> None:
    left: list[Row] = [
        ("Team", "Lead", "Headcount", "Open roles"),
        *teams(),
        ("Total", "", sum(r[2] for r in teams()), sum(r[3] for r in teams())),
    ]
    right: list[Row] = [("Office", "City", "Desks", "Lease ends", "Rent per month (CHF)"), *offices()]
    both = [
        (*(one or ("",) * 4), "", *(other or ("",) * 5))
        for one, other in zip_longest(left, right, fillvalue=())
    ]
    title: Row = ("Teams", "", "", "", "", "Offices")
    write_sheets(path, {"Overview": [title, *both]}, {9: "dd.mm.yyyy", 10: "#,##0"})


MAKERS = {
    "river samples.xlsx": _samples,
    "monitoring sites.csv": made(("Site code", "River", "Ranger", "Height (m)"), sites()),
    "registrations.csv": made(
        ("Reg no", "Attendee", "Company", "Country", "Ticket", "Paid", "Registered", "Vegetarian", "Workshop"),
        [
            (f"R{n:03}", *r[:4], f"${PRICES[r[3]]:.2f}", f"{r[4]:%B} {r[4].day}, {r[4].year}", *r[5:])
            for n, r in enumerate(registrations(), 1)
        ],
    ),
    "teams and offices.xlsx": _teams_and_offices,
}  # fmt: skip


def questions() -> list[Q]:
    return [*_about_samples(), *_about_registrations(), *_about_offices()]


def _about_samples() -> list[Q]:
    rows, t, s = samples(), "<river samples.xlsx>", "<monitoring sites.csv>"
    river, ranger = {r[0]: r[1] for r in sites()}, {r[0]: r[2] for r in sites()}
    acid = {code: mean(r[3] for r in rows if r[1] == code) for code in sorted({r[1] for r in rows})}
    return [
        Q(text="average nitrate at KEN-2?", kind="average", gold=(mean(r[4] for r in rows if r[1] == "KEN-2"),), sql=f"SELECT AVG([Nitrate]) FROM {t} WHERE [Site code] = 'KEN-2'"),
        Q(text="How many of the river samples were not within limits?", kind="count", gold=(sum(r[6] == "no" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Within limits] = 0"),
        Q(text="which sample had the highest e. coli reading", kind="extreme", gold=(max(rows, key=lambda r: r[5])[0],), sql=f"SELECT [Sample], [E. coli] FROM {t} ORDER BY [E. coli] DESC LIMIT 1"),
        Q(text="samples taken in May 2025 with Brennan as the analyst - how many?", kind="dates", gold=(sum(r[7] == "Brennan" and r[2].month == 5 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Analyst] = 'Brennan' AND [Taken on] BETWEEN '2025-05-01' AND '2025-05-31'"),
        Q(text="mean pH per site code", kind="group", gold=tuple(acid.values()), sql=f"SELECT [Site code], AVG([pH]) FROM {t} GROUP BY [Site code]"),
        Q(text="List all samples with more than 50 mg/l of nitrate, please", kind="filter", gold=tuple(r[0] for r in rows if r[4] > 50), sql=f"SELECT [Sample] FROM {t} WHERE [Nitrate] > 50"),
        Q(text="Average nitrate in the river Ash", kind="join", gold=(mean(r[4] for r in rows if river[r[1]] == "Ash"),), sql=f"SELECT AVG([Nitrate]) FROM {t} a JOIN {s} b ON a.[Site code] = b.[Site code] WHERE [River] = 'Ash'"),
        Q(text="how many samples come from the sites whose ranger is Nell Tolley", kind="join", gold=(sum(ranger[r[1]] == "Nell Tolley" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} a JOIN {s} b ON a.[Site code] = b.[Site code] WHERE [Ranger] = 'Nell Tolley'"),
        Q(text="pH of S-0417", kind="lookup", gold=(rows[5][3],), sql=f"SELECT [pH] FROM {t} WHERE [Sample] = 'S-0417'"),
        Q(text="Where was sample S-0433 taken? (site code)", kind="lookup", gold=(rows[21][1],), sql=f"SELECT [Site code] FROM {t} WHERE [Sample] = 'S-0433'"),
        Q(text="who's the ranger for MINT-4", kind="lookup", gold=("Hugh Pask",), sql=f"SELECT [Ranger] FROM {s} WHERE [Site code] = 'MINT-4'"),
        Q(text="phosphate level of S-0415", kind="none", gold=()),
        Q(text="pH of S-0471?", kind="none", gold=()),
        Q(text="What was the average nitrate at KEN-5?", kind="none", gold=()),
    ]  # fmt: skip


def _about_registrations() -> list[Q]:
    rows, t = registrations(), "<registrations.csv>"
    countries = {c: sum(r[2] == c for r in rows) for c in sorted({r[2] for r in rows})}
    vip = sum(PRICES[r[3]] for r in rows if r[3] == "VIP")
    return [
        Q(text="How much have we taken with VIP tickets?", kind="sum", gold=(vip,), sql=f"SELECT SUM([Paid]) FROM {t} WHERE [Ticket] = 'VIP'"),
        Q(text="registrations per country", kind="group", gold=tuple(countries.values()), sql=f"SELECT [Country], COUNT(*) FROM {t} GROUP BY [Country]"),
        Q(text="number of vegetarians", kind="count", gold=(sum(r[5] == "Yes" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Vegetarian] = 1"),
        Q(text="how many people registered before april 1st 2025", kind="dates", gold=(sum(r[4] < date(2025, 4, 1) for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Registered] < '2025-04-01'"),
        Q(text="what do attendees pay on average?", kind="average", gold=(mean(PRICES[r[3]] for r in rows),), sql=f"SELECT AVG([Paid]) FROM {t}"),
        Q(text="What percentage of the registrations are student tickets?", kind="count", gold=(100 * sum(r[3] == "Student" for r in rows) / len(rows),), sql=f"SELECT 100.0 * SUM([Ticket] = 'Student') / COUNT(*) FROM {t}"),
        Q(text="which company has registered the most people", kind="extreme", gold=("Valle GIS",), sql=f"SELECT [Company], COUNT(*) FROM {t} GROUP BY [Company] ORDER BY 2 DESC LIMIT 1"),
        Q(text="Give me the names of the Valle GIS people who are vegetarian.", kind="filter", gold=tuple(r[0] for r in rows if r[1] == "Valle GIS" and r[5] == "Yes"), sql=f"SELECT [Attendee] FROM {t} WHERE [Company] = 'Valle GIS' AND [Vegetarian] = 1"),
        Q(text="when did Carlos Prieto register", kind="lookup", gold=(rows[1][4].isoformat(),), sql=f"SELECT [Registered] FROM {t} WHERE [Attendee] = 'Carlos Prieto'"),
        Q(text="Which ticket does Sabine Kurz have?", kind="lookup", gold=(rows[8][3],), sql=f"SELECT [Ticket] FROM {t} WHERE [Attendee] = 'Sabine Kurz'"),
        Q(text="How many euros did we collect from student tickets?", kind="none", gold=()),
        Q(text="which hotel is Yuki Tanabe staying at", kind="none", gold=()),
    ]  # fmt: skip


def _about_offices() -> list[Q]:
    left, right, t = teams(), offices(), "<teams and offices.xlsx>"
    return [
        Q(text="monthly rent for all offices together", kind="sum", gold=(sum(r[4] for r in right),), sql=f"SELECT SUM([Rent per month]) FROM {t} WHERE [Office] IS NOT NULL"),
        Q(text="Which teams have more than 2 open roles?", kind="filter", gold=tuple(r[0] for r in left if r[3] > 2), sql=f"SELECT [Team] FROM {t} WHERE [Open roles] > 2 AND [Lead] IS NOT NULL"),
        Q(text="total headcount", kind="sum", gold=(sum(r[2] for r in left),), sql=f"SELECT SUM([Headcount]) FROM {t} WHERE [Lead] IS NOT NULL"),
        Q(text="office leases ending in 2026", kind="dates", gold=tuple(r[0] for r in right if r[3].year == 2026), sql=f"SELECT [Office] FROM {t} WHERE [Lease ends] BETWEEN '2026-01-01' AND '2026-12-31'"),
        Q(text="who leads Data Platform?", kind="lookup", gold=("Irena Novak",), sql=f"SELECT [Lead] FROM {t} WHERE [Team] = 'Data Platform'"),
        Q(text="number of desks in the Limmat office", kind="lookup", gold=(40,), sql=f"SELECT [Desks] FROM {t} WHERE [Office] = 'Limmat'"),
        Q(text="What rent do we pay for the Geneva office?", kind="none", gold=()),
    ]  # fmt: skip
