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
VENDORS = (
    "Nordlicht Energy", "Brightline Cleaning", "Papyrus Print", "Kestrel Security", "Oakham Legal",
    "Pixel & Co", "Verde Catering", "Summit Travel", "Cobalt Hosting", "Harbour Freight",
)  # fmt: skip


def contracts() -> list[Row]:
    """Vendor, category, start, end, monthly fee, auto-renewal."""
    source = random.Random(3101)
    return [
        (
            vendor,
            source.choice(("Facilities", "IT", "Professional services")),
            date(2023, 1, 1) + timedelta(days=30 * source.randrange(20)),
            date(2025, 2, 1) + timedelta(days=29 * n),
            source.randrange(120, 9_000),
            source.choice(("yes", "no")),
        )
        for n, vendor in enumerate(VENDORS)
    ]


def _contracts(path: Path) -> None:
    header = ("Vendor", "Category", "Start date", "End date", "Monthly fee (EUR)", "Auto-renewal")
    write_sheets(path, {"Contracts": [header, *contracts()]}, {3: "dd/mm/yyyy", 4: "dd/mm/yyyy", 5: "#,##0"})


def _contract_questions() -> list[Q]:
    rows, t = contracts(), "<vendor contracts.xlsx>"
    categories = sorted({r[1] for r in rows})
    return [
        Q(text="What is the monthly fee of Kestrel Security?", kind="lookup", gold=(rows[3][4],),
          sql=f"SELECT [Monthly fee] FROM {t} WHERE [Vendor] = 'Kestrel Security'"),
        Q(text="When does the contract with Cobalt Hosting end?", kind="lookup", gold=(rows[8][3].isoformat(),),
          sql=f"SELECT [End date] FROM {t} WHERE [Vendor] = 'Cobalt Hosting'"),
        Q(text="Is the contract of Verde Catering renewed automatically?", kind="lookup", gold=(rows[6][5],),
          sql=f"SELECT CASE [Auto-renewal] WHEN 1 THEN 'yes' ELSE 'no' END AS renewal FROM {t} WHERE [Vendor] = 'Verde Catering'"),
        Q(text="Which category does Oakham Legal belong to?", kind="lookup", gold=(rows[4][1],),
          sql=f"SELECT [Category] FROM {t} WHERE [Vendor] = 'Oakham Legal'"),
        Q(text="Which vendor has the highest monthly fee?", kind="extreme", gold=(max(rows, key=lambda r: r[4])[0],),
          sql=f"SELECT [Vendor], [Monthly fee] FROM {t} ORDER BY [Monthly fee] DESC LIMIT 1"),
        Q(text="Total monthly fees per category", kind="group",
          gold=tuple(sum(r[4] for r in rows if r[1] == c) for c in categories),
          sql=f"SELECT [Category], SUM([Monthly fee]) FROM {t} GROUP BY [Category]"),
        Q(text="How many contracts end after June 2025?", kind="dates", gold=(sum(r[3] > date(2025, 6, 30) for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [End date] > '2025-06-30'"),
        Q(text="How many vendor contracts have auto-renewal?", kind="count", gold=(sum(r[5] == "yes" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Auto-renewal] = 1"),
        Q(text="Which contract ends last?", kind="extreme", gold=(max(rows, key=lambda r: r[3])[0],),
          sql=f"SELECT [Vendor], [End date] FROM {t} ORDER BY [End date] DESC LIMIT 1"),
        Q(text="What is the notice period of Summit Travel?", kind="none", gold=()),
        Q(text="What is the average discount of the vendor contracts?", kind="none", gold=()),
    ]  # fmt: skip


MEALS = (
    "Lentil soup", "Chicken curry", "Veggie lasagne", "Fish and chips", "Caesar salad", "Pumpkin risotto",
    "Beef stew", "Tofu bowl", "Mushroom pasta", "Pancakes", "Falafel wrap", "Potato gratin",
)  # fmt: skip


def meals() -> list[Row]:
    """Dish, diet, price, calories, portions sold."""
    source = random.Random(3102)
    return [
        (
            dish,
            source.choice(("vegan", "vegetarian", "meat")),
            source.randrange(390, 1190) / 100,
            source.randrange(280, 990),
            source.randrange(20, 400),
        )
        for dish in MEALS
    ]


def _meals(path: Path) -> None:
    write_csv(path, [("Dish", "Diet", "Price", "Calories (kcal)", "Portions sold"), *meals()])


def _meal_questions() -> list[Q]:
    rows, t = meals(), "<canteen menu.csv>"
    by_calories = sorted(rows, key=lambda r: -r[3])
    cheapest = min(rows, key=lambda r: r[2])
    return [
        Q(text="How much does the pumpkin risotto cost?", kind="lookup", gold=(rows[5][2],),
          sql=f"SELECT [Price] FROM {t} WHERE [Dish] = 'Pumpkin risotto'"),
        Q(text="How many calories does the beef stew have?", kind="lookup", gold=(rows[6][3],),
          sql=f"SELECT [Calories] FROM {t} WHERE [Dish] = 'Beef stew'"),
        Q(text="How many portions of falafel wrap were sold?", kind="lookup", gold=(rows[10][4],),
          sql=f"SELECT [Portions sold] FROM {t} WHERE [Dish] = 'Falafel wrap'"),
        Q(text="What is the cheapest dish in the canteen?", kind="extreme", gold=(cheapest[0],),
          sql=f"SELECT [Dish], [Price] FROM {t} ORDER BY [Price] LIMIT 1"),
        Q(text="Top 3 dishes by calories", kind="top", gold=tuple(r[0] for r in by_calories[:3]),
          sql=f"SELECT [Dish], [Calories] FROM {t} ORDER BY [Calories] DESC LIMIT 3"),
        Q(text="What is the average price of the vegan dishes?", kind="average",
          gold=(mean(r[2] for r in rows if r[1] == "vegan"),),
          sql=f"SELECT AVG([Price]) FROM {t} WHERE [Diet] = 'vegan'"),
        Q(text="How many dishes have fewer than 500 kcal?", kind="filter", gold=(sum(r[3] < 500 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Calories] < 500"),
        Q(text="How many portions were sold in total?", kind="sum", gold=(sum(r[4] for r in rows),),
          sql=f"SELECT SUM([Portions sold]) FROM {t}"),
        Q(text="How much protein does the tofu bowl have?", kind="none", gold=()),
        Q(text="How many gluten-free dishes are there?", kind="none", gold=()),
    ]  # fmt: skip


STAFF = (
    ("Marta Vidal", "Lisbon", "Design"), ("Jonas Brandt", "Berlin", "Engineering"),
    ("Aiko Mori", "Berlin", "Support"), ("Peter Novak", "Prague", "Engineering"),
    ("Leila Haddad", "Lisbon", "Support"), ("Tom Becker", "Berlin", "Design"),
    ("Nina Kralova", "Prague", "Engineering"), ("Carlos Pinto", "Lisbon", "Engineering"),
)  # fmt: skip


def logged_hours() -> list[Row]:
    """Day, person, project, hours."""
    source = random.Random(3103)
    return [
        (
            date(2025, 1, 6) + timedelta(days=source.randrange(80)),
            source.choice(STAFF)[0],
            source.choice(("Atlas", "Beacon", "Comet")),
            source.randrange(2, 17) / 2,
        )
        for _ in range(60)
    ]


def _hours(path: Path) -> None:
    write_csv(path, [("Date", "Name", "Project", "Hours"), *logged_hours()])


def _people(path: Path) -> None:
    write_csv(path, [("Name", "Office", "Department"), *STAFF])


def _hour_questions() -> list[Q]:
    rows, t, p = logged_hours(), "<logged hours.csv>", "<people.csv>"
    office, department = ({name: value for name, *rest in STAFF for value in (rest[n],)} for n in (0, 1))
    joined = f"FROM {t} JOIN {p} ON {t}.[Name] = {p}.[Name]"
    months = {m: sum(r[3] for r in rows if r[0].month == m) for m in (1, 2, 3)}
    busiest = max(("Atlas", "Beacon", "Comet"), key=lambda name: sum(r[3] for r in rows if r[2] == name))
    return [
        Q(text="Which office does Nina Kralova work in?", kind="lookup", gold=("Prague",),
          sql=f"SELECT [Office] FROM {p} WHERE [Name] = 'Nina Kralova'"),
        Q(text="How many people are in the Lisbon office?", kind="count", gold=(3,),
          sql=f"SELECT COUNT(*) FROM {p} WHERE [Office] = 'Lisbon'"),
        Q(text="How many hours were logged for Beacon?", kind="sum", gold=(sum(r[3] for r in rows if r[2] == "Beacon"),),
          sql=f"SELECT SUM([Hours]) FROM {t} WHERE [Project] = 'Beacon'"),
        Q(text="Total hours by month", kind="group", gold=tuple(months[m] for m in (1, 2, 3)),
          sql=f"SELECT substr([Date], 1, 7) AS m, SUM([Hours]) FROM {t} GROUP BY m"),
        Q(text="How many hours did Aiko Mori log in February 2025?", kind="dates",
          gold=(sum(r[3] for r in rows if r[1] == "Aiko Mori" and r[0].month == 2),),
          sql=f"SELECT SUM([Hours]) FROM {t} WHERE [Name] = 'Aiko Mori' AND [Date] BETWEEN '2025-02-01' AND '2025-02-28'"),
        Q(text="Which project has the most logged hours?", kind="extreme", gold=(busiest,),
          sql=f"SELECT [Project], SUM([Hours]) AS s FROM {t} GROUP BY [Project] ORDER BY s DESC LIMIT 1"),
        Q(text="Total hours of people in the Berlin office", kind="join",
          gold=(sum(r[3] for r in rows if office[r[1]] == "Berlin"),),
          sql=f"SELECT SUM([Hours]) {joined} WHERE [Office] = 'Berlin'"),
        Q(text="How many hours did the Engineering department log on Comet?", kind="join",
          gold=(sum(r[3] for r in rows if department[r[1]] == "Engineering" and r[2] == "Comet"),),
          sql=f"SELECT SUM([Hours]) {joined} WHERE [Department] = 'Engineering' AND [Project] = 'Comet'"),
        Q(text="Logged hours per office", kind="join",
          gold=tuple(sum(r[3] for r in rows if office[r[1]] == o) for o in ("Berlin", "Lisbon", "Prague")),
          sql=f"SELECT [Office], SUM([Hours]) {joined} GROUP BY [Office]"),
        Q(text="How many hours were logged in 2023?", kind="none", gold=()),
        Q(text="How many people are in the Madrid office?", kind="none", gold=()),
    ]  # fmt: skip


ROOMS = ("Aurora", "Boreal", "Cirrus", "Delta", "Ember", "Fjord", "Glacier")


def rooms() -> list[Row]:
    """Room, floor, seats, day rate in US dollars, projector."""
    source = random.Random(3104)
    return [
        (
            room,
            source.randrange(1, 5),
            source.randrange(4, 60),
            source.randrange(80, 900),
            source.choice(("yes", "no")),
        )
        for room in ROOMS
    ]


def _rooms(path: Path) -> None:
    rows = rooms()
    lines: list[Row] = [
        ("Meeting rooms 2025",),
        (),
        ("Room", "Floor", "Seats", "Day rate ($)", "Projector"),
        *rows,
        ("Total", None, sum(r[2] for r in rows), sum(r[3] for r in rows), None),
    ]
    write_sheets(path, {"Rooms": lines}, {4: '"$"#,##0'})


def _room_questions() -> list[Q]:
    rows, t = rooms(), "<meeting rooms.xlsx>"
    return [
        Q(text="How many seats does the Fjord room have?", kind="lookup", gold=(rows[5][2],),
          sql=f"SELECT [Seats] FROM {t} WHERE [Room] = 'Fjord'"),
        Q(text="On which floor is Cirrus?", kind="lookup", gold=(rows[2][1],),
          sql=f"SELECT [Floor] FROM {t} WHERE [Room] = 'Cirrus'"),
        Q(text="How many seats do all meeting rooms have together?", kind="sum", gold=(sum(r[2] for r in rows),),
          sql=f"SELECT SUM([Seats]) FROM {t}"),
        Q(text="Which rooms have more than 30 seats?", kind="group", gold=tuple(r[0] for r in rows if r[2] > 30),
          sql=f"SELECT [Room] FROM {t} WHERE [Seats] > 30"),
        Q(text="What is the smallest meeting room by seats?", kind="extreme", gold=(min(rows, key=lambda r: r[2])[0],),
          sql=f"SELECT [Room], [Seats] FROM {t} ORDER BY [Seats] LIMIT 1"),
        Q(text="Average day rate of rooms with a projector", kind="average",
          gold=(mean(r[3] for r in rows if r[4] == "yes"),),
          sql=f"SELECT AVG([Day rate]) FROM {t} WHERE [Projector] = 1"),
        Q(text="What is the day rate of the Ember room in pounds?", kind="none", gold=()),
    ]  # fmt: skip


MAKERS = {
    "vendor contracts.xlsx": _contracts,
    "canteen menu.csv": _meals,
    "logged hours.csv": _hours,
    "people.csv": _people,
    "meeting rooms.xlsx": _rooms,
}


def questions() -> list[Q]:
    return [*_contract_questions(), *_meal_questions(), *_hour_questions(), *_room_questions()]
