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
STAFF = ("Ada Quist", "Bela Ferro", "Cato Lind", "Dora Maas", "Edda Roth", "Faye Okoro", "Gus Tamm", "Hana Ito", "Ivo Sand", "Jana Weld", "Karl Ubo", "Lena Fisk")  # fmt: skip
TEAMS = ("Support", "Research", "Sales")
COURSES = ("Forklift", "First aid", "Data protection", "Welding", "Ladder safety")
DEPOTS = ("Alder", "Birch", "Cedar", "Dogwood")


def staff() -> list[Row]:
    """Employee, team, salary, mentor, joined; some salaries and mentors are empty."""
    source = random.Random(4401)
    return [
        (
            name,
            TEAMS[n % 3],
            "" if n in (2, 7) else source.randrange(31_000, 88_000, 500),
            "" if n % 4 == 1 else STAFF[(n + 3) % len(STAFF)],
            date(2019, 1, 10) + timedelta(days=211 * n),
        )
        for n, name in enumerate(STAFF)
    ]


def trainings() -> list[Row]:
    """Employee, course, day, hours, passed; "Rex Nobody" is no employee."""
    source = random.Random(4402)
    people = (*STAFF[:8], "Rex Nobody")
    return [
        (
            people[n % len(people)],
            source.choice(COURSES),
            date(2024, 2, 1) + timedelta(days=17 * n),
            source.randrange(2, 17),
            source.choice(("yes", "no")),
        )
        for n in range(31)
    ]


def vehicles() -> list[Row]:
    """Plate, depot, make, mileage, range, next inspection."""
    source = random.Random(4403)
    return [
        (
            f"QV-{100 + 7 * n}",
            DEPOTS[n % 4],
            source.choice(("Vanta", "Orelo", "Kimura")),
            source.randrange(4_000, 190_000),
            source.randrange(180, 620),
            date(2026, 1, 5) + timedelta(days=23 * n),
        )
        for n in range(16)
    ]


def projects() -> list[Row]:
    """Item, planned budget, approved budget, spent."""
    source = random.Random(4404)
    items = ("Lift", "Roof", "Canteen", "Lobby", "Parking deck", "Solar panels")
    return [(item, *(source.randrange(10_000, 900_000, 100) for _ in range(3))) for item in items]


def _staff(path: Path) -> None:
    write_csv(path, [("Employee", "Team", "Salary", "Mentor", "Joined"), *staff()])


def _trainings(path: Path) -> None:
    write_csv(path, [("Employee", "Course", "Day", "Hours", "Passed"), *trainings()])


def _vehicles(path: Path) -> None:
    header = ("Plate", "Depot", "Make", "Mileage (km)", "Range (km)", "Next inspection")
    write_sheets(path, {"Vehicles": [header, *vehicles()]}, {4: "#,##0", 6: "dd mmm yyyy"})


def _projects(path: Path) -> None:
    header = ("Item", "Planned budget", "Approved budget", "Spent")
    write_sheets(path, {"Projects": [header, *projects()]}, {2: "#,##0", 3: "#,##0", 4: "#,##0"})


MAKERS = {
    "payroll staff.csv": _staff,
    "course log.csv": _trainings,
    "van fleet.xlsx": _vehicles,
    "building projects.xlsx": _projects,
}


def questions() -> list[Q]:
    """In English."""
    return [*_about_staff(), *_about_trainings(), *_about_vehicles(), *_about_projects()]


def _about_staff() -> list[Q]:
    rows, t = staff(), "<payroll staff.csv>"
    paid = [r for r in rows if r[2] != ""]
    return [
        Q(text="Which employees have no salary?", kind="group", gold=(STAFF[2], STAFF[7]),
          sql=f"SELECT [Employee] FROM {t} WHERE [Salary] IS NULL"),
        Q(text="How many employees have no mentor?", kind="count", gold=(sum(r[3] == "" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Mentor] IS NULL"),
        Q(text="How many employees have a mentor?", kind="count", gold=(sum(r[3] != "" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Mentor] IS NOT NULL"),
        Q(text="How many employees work in Research?", kind="count", gold=(sum(r[1] == "Research" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Team] = 'Research'"),
        Q(text="What is the average salary in the Sales team?", kind="average", gold=(mean(r[2] for r in paid if r[1] == "Sales"),),
          sql=f"SELECT AVG([Salary]) FROM {t} WHERE [Team] = 'Sales'"),
        Q(text="Who earns the most?", kind="extreme", gold=(max(paid, key=lambda r: r[2])[0],),
          sql=f"SELECT [Employee], [Salary] FROM {t} ORDER BY [Salary] DESC LIMIT 1"),
        Q(text="Total salary per team", kind="group", gold=tuple(sum(r[2] for r in paid if r[1] == team) for team in sorted(TEAMS)),
          sql=f"SELECT [Team], SUM([Salary]) FROM {t} GROUP BY [Team]"),
        Q(text="How many employees joined before 2022?", kind="dates", gold=(sum(r[4] < date(2022, 1, 1) for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Joined] < '2022-01-01'"),
        Q(text="Who is the mentor of Karl Ubo?", kind="lookup", gold=(rows[10][3],),
          sql=f"SELECT [Mentor] FROM {t} WHERE [Employee] = 'Karl Ubo'"),
        Q(text="When did Hana Ito join?", kind="lookup", gold=(rows[7][4].isoformat(),),
          sql=f"SELECT [Joined] FROM {t} WHERE [Employee] = 'Hana Ito'"),
        Q(text="What is Lena Fisk's salary?", kind="lookup", gold=(rows[11][2],),
          sql=f"SELECT [Salary] FROM {t} WHERE [Employee] = 'Lena Fisk'"),
        Q(text="What is the shoe size of Ivo Sand?", kind="none", gold=()),
    ]  # fmt: skip


def _about_trainings() -> list[Q]:
    rows, t = trainings(), "<course log.csv>"
    team = {r[0]: r[1] for r in staff()}
    return [
        Q(text="How many hours of Welding were trained?", kind="sum", gold=(sum(r[3] for r in rows if r[1] == "Welding"),),
          sql=f"SELECT SUM([Hours]) FROM {t} WHERE [Course] = 'Welding'"),
        Q(text="How many First aid courses were not passed?", kind="count", gold=(sum(r[1] == "First aid" and r[4] == "no" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Course] = 'First aid' AND [Passed] = 0"),
        Q(text="What is the longest course in hours?", kind="extreme", gold=(max(r[3] for r in rows),),
          sql=f"SELECT MAX([Hours]) FROM {t}"),
        Q(text="How many courses were held in May 2024?", kind="dates", gold=(sum((r[2].year, r[2].month) == (2024, 5) for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Day] BETWEEN '2024-05-01' AND '2024-05-31'"),
        Q(text="Number of trainings per course", kind="group", gold=tuple(sum(r[1] == c for r in rows) for c in sorted({r[1] for r in rows})),
          sql=f"SELECT [Course], COUNT(*) FROM {t} GROUP BY [Course]"),
        Q(text="Course hours per team", kind="join",
          gold=tuple(sum(r[3] for r in rows if team.get(r[0]) == one) for one in sorted(TEAMS)),
          sql=f"SELECT s.[Team], SUM(c.[Hours]) FROM {t} AS c JOIN <payroll staff.csv> AS s ON c.[Employee] = s.[Employee] GROUP BY s.[Team]"),
        Q(text="How many hours did Rex Nobody train?", kind="sum", gold=(sum(r[3] for r in rows if r[0] == "Rex Nobody"),),
          sql=f"SELECT SUM([Hours]) FROM {t} WHERE [Employee] = 'Rex Nobody'"),
        Q(text="How many Scuba courses were held?", kind="none", gold=()),
    ]  # fmt: skip


def _about_vehicles() -> list[Q]:
    rows, t = vehicles(), "<van fleet.xlsx>"
    top = sorted(rows, key=lambda r: -r[3])[:3]
    return [
        Q(text="Which three vans have the highest mileage?", kind="top", gold=tuple(r[0] for r in top),
          sql=f"SELECT [Plate], [Mileage (km)] FROM {t} ORDER BY [Mileage (km)] DESC LIMIT 3"),
        Q(text="How many vans are at the Cedar depot?", kind="count", gold=(sum(r[1] == "Cedar" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Depot] = 'Cedar'"),
        Q(text="What is the range of QV-135?", kind="lookup", gold=(rows[5][4],),
          sql=f"SELECT [Range (km)] FROM {t} WHERE [Plate] = 'QV-135'"),
        Q(text="When is the next inspection of QV-156?", kind="lookup", gold=(rows[8][5].isoformat(),),
          sql=f"SELECT [Next inspection] FROM {t} WHERE [Plate] = 'QV-156'"),
        Q(text="At which depot is QV-198?", kind="lookup", gold=(rows[14][1],),
          sql=f"SELECT [Depot] FROM {t} WHERE [Plate] = 'QV-198'"),
        Q(text="How many vans have a range of more than 400 km?", kind="filter", gold=(sum(r[4] > 400 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Range (km)] > 400"),
        Q(text="Average range of the vans per make", kind="group", gold=tuple(mean(r[4] for r in rows if r[2] == m) for m in sorted({r[2] for r in rows})),
          sql=f"SELECT [Make], AVG([Range (km)]) FROM {t} GROUP BY [Make]"),
        Q(text="Which vans have their next inspection in March 2026?", kind="group",
          gold=tuple(r[0] for r in rows if (r[5].year, r[5].month) == (2026, 3)),
          sql=f"SELECT [Plate] FROM {t} WHERE [Next inspection] BETWEEN '2026-03-01' AND '2026-03-31'"),
        Q(text="What is the lowest mileage of a van in the Birch depot?", kind="extreme", gold=(min(r[3] for r in rows if r[1] == "Birch"),),
          sql=f"SELECT MIN([Mileage (km)]) FROM {t} WHERE [Depot] = 'Birch'"),
        Q(text="What is the total mileage of the Kimura vans?", kind="sum", gold=(sum(r[3] for r in rows if r[2] == "Kimura"),),
          sql=f"SELECT SUM([Mileage (km)]) FROM {t} WHERE [Make] = 'Kimura'"),
        Q(text="What is the horsepower of QV-135?", kind="none", gold=()),
    ]  # fmt: skip


def _about_projects() -> list[Q]:
    rows, t = projects(), "<building projects.xlsx>"
    return [
        Q(text="Which item has the highest budget?", kind="none", gold=()),
        Q(text="Which item has the highest approved budget?", kind="extreme", gold=(max(rows, key=lambda r: r[2])[0],),
          sql=f"SELECT [Item], [Approved budget] FROM {t} ORDER BY [Approved budget] DESC LIMIT 1"),
        Q(text="How much was spent on the canteen?", kind="lookup", gold=(rows[2][3],),
          sql=f"SELECT [Spent] FROM {t} WHERE [Item] = 'Canteen'"),
        Q(text="What is the planned budget of the parking deck?", kind="lookup", gold=(rows[4][1],),
          sql=f"SELECT [Planned budget] FROM {t} WHERE [Item] = 'Parking deck'"),
        Q(text="Sum of the approved budgets of all building projects", kind="sum", gold=(sum(r[2] for r in rows),),
          sql=f"SELECT SUM([Approved budget]) FROM {t}"),
        Q(text="On how many items was more than 300000 spent?", kind="count", gold=(sum(r[3] > 300_000 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Spent] > 300000"),
    ]  # fmt: skip
