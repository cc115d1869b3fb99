from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import made
from tests.tables.computed.question_set import SHARED, ComputedQuestion, Row, mean

Q = ComputedQuestion
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")


def staff() -> list[Row]:
    """Name, department, job title, hired, salary, office."""
    source = random.Random(1101)
    names = (
        *("Aaron Blythe", "Beata Nowak", "Carl Munro", "Divya Rao", "Esther Klein", "Farid Haddad"),
        *("Gina Moretti", "Henrik Dahl", "Isla Ferguson", "Jorge Pinto", "Katya Orlova", "Leo Tanaka"),
    )
    return [
        (
            name,
            ("Finance", "Engineering", "Support")[source.randrange(3)],
            source.choice(("Analyst", "Engineer", "Manager", "Assistant")),
            date(2016, 4, 11) + timedelta(days=211 * n),
            31_000 + 500 * source.randrange(90) + n,
            source.choice(("Dublin", "Porto", "Gdansk")),
        )
        for n, name in enumerate(names)
    ]


def traffic() -> list[Row]:
    """Month, visits, signups, ad spend."""
    source = random.Random(1102)
    return [
        (month, source.randrange(4_000, 19_000), source.randrange(90, 600), source.randrange(700, 5_000))
        for month in MONTHS
    ]


def trips() -> list[Row]:
    """Destination, class, teacher, day, pupils, cost per pupil."""
    source = random.Random(1103)
    places = ("Castle", "Zoo", "Science museum", "Harbour", "Farm", "Theatre", "Planetarium", "Forest")
    return [
        (
            place,
            ("5A", "6B", "7C")[n % 3],
            ("Ms Doyle", "Mr Ito", "Mrs Quinn")[source.randrange(3)],
            date(2025, 2, 12) + timedelta(days=17 * n),
            17 + n + source.randrange(3),
            4 + 3 * n + source.randrange(3) / 2,
        )
        for n, place in enumerate(places)
    ]


MAKERS = {
    "people directory.xlsx": made(
        ("Name", "Department", "Job title", "Hired", "Annual salary (€)", "Office"), staff(), sheet="Staff"
    ),
    "web traffic 2025.md": made(("Month", "Visits", "Signups", "Ad spend (USD)"), traffic()),
    "school trips.docx": made(
        ("Destination", "Class", "Teacher", "Date", "Pupils", "Cost per pupil (£)"), trips()
    ),
}


def questions() -> list[Q]:
    return [*_about_staff(), *_about_traffic(), *_about_trips(), *_about_cities()]


def _about_staff() -> list[Q]:
    rows = staff()
    teams, offices = sorted({r[1] for r in rows}), sorted({r[5] for r in rows})
    return [
        Q(text="how many ppl work in engineering", kind="count", gold=(sum(r[1] == "Engineering" for r in rows),)),
        Q(text="headcount per office", kind="group", gold=tuple(sum(r[5] == o for r in rows) for o in offices)),
        Q(text="mean salary by department", kind="group", gold=tuple(mean(r[4] for r in rows if r[1] == t) for t in teams)),
        Q(text="who makes the most money", kind="extreme", gold=(max(rows, key=lambda r: r[4])[0],)),
        Q(text="Who has been with us the longest?", kind="extreme", gold=(rows[0][0],)),
        Q(text="what does Divya Rao do", kind="lookup", gold=(rows[3][2],)),
        Q(text="which office does Leo sit in", kind="lookup", gold=(rows[11][5],)),
        Q(text="salary henrik dahl", kind="lookup", gold=(rows[7][4],)),
        Q(text="when did we hire Katya Orlova?", kind="lookup", gold=(f"{rows[10][3]}",)),
        Q(text="what do we pay the support team in total", kind="sum", gold=(sum(r[4] for r in rows if r[1] == "Support"),)),
        Q(text="people hired after 2019", kind="group", gold=tuple(r[0] for r in rows if r[3].year > 2019)),
        Q(text="how many earn less than 50k", kind="filter", gold=(sum(r[4] < 50_000 for r in rows),)),
        Q(text="how many people work in marketing", kind="none", gold=()),
        Q(text="what is the birthday of Esther Klein", kind="none", gold=()),
    ]  # fmt: skip


def _about_traffic() -> list[Q]:
    rows = traffic()
    return [
        Q(text="total visits so far", kind="sum", gold=(sum(r[1] for r in rows),)),
        Q(text="which month had the best signups", kind="extreme", gold=(max(rows, key=lambda r: r[2])[0],)),
        Q(text="ad spend in march", kind="lookup", gold=(rows[2][3],)),
        Q(text="how much went into ads altogether", kind="sum", gold=(sum(r[3] for r in rows),)),
        Q(text="months with more than 10,000 visits", kind="group", gold=tuple(r[0] for r in rows if r[1] > 10_000)),
        Q(text="what was the average number of signups a month?", kind="average", gold=(mean(r[2] for r in rows),)),
        Q(text="visits in december", kind="none", gold=()),
    ]  # fmt: skip


def _about_trips() -> list[Q]:
    rows = trips()
    return [
        Q(text="How many pupils go to the zoo?", kind="lookup", gold=(rows[1][4],)),
        Q(text="who accompanies the trip to the planetarium", kind="lookup", gold=(rows[6][2],)),
        Q(text="trips of class 5A", kind="group", gold=tuple(r[0] for r in rows if r[1] == "5A")),
        Q(text="priciest trip", kind="extreme", gold=(max(rows, key=lambda r: r[5])[0],)),
        Q(text="in total how many pupils travel with Mr Ito", kind="sum", gold=(sum(r[4] for r in rows if r[2] == "Mr Ito"),)),
        Q(text="trips after easter 2025", kind="none", gold=()),
        Q(text="how many trips take place in spring term", kind="none", gold=()),
    ]  # fmt: skip


def _about_cities() -> list[Q]:
    if not (SHARED / "real/unst-stanley-cups.csv").is_file():
        return []
    return [
        Q(text="where do the flyers play", kind="lookup", gold=("PHI",)),
        Q(text="cups of the blues", kind="lookup", gold=(1,)),
    ]
