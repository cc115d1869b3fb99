# ruff: noqa: S608 - SQL of our own
"""Sheets of others. The files in `data` are from github.com/fivethirtyeight/data (CC BY 4.0)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.tables.computed.question_set import SHARED, ComputedQuestion, mean, real_rows, real_sheet

if TYPE_CHECKING:
    from collections.abc import Callable

Q = ComputedQuestion
DATA = Path(__file__).parent / "data"
REAL = {
    "people and amounts.csv": "made/csv-30k-rows.csv",
    "city populations.xlsx": "real/poi-DataTableCities.xlsx",
}


def _copied(name: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes((DATA / name).read_bytes())

    return write


MAKERS = {
    "airline safety.csv": _copied("airline-safety.csv"),
    "candy ranking.csv": _copied("candy-data.csv"),
}


def lines(name: str) -> list[dict[str, Any]]:
    with (DATA / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def questions() -> list[Q]:
    shared = [*_people(), *_cities()] if all((SHARED / place).is_file() for place in REAL.values()) else []
    return [*_airlines(), *_candy(), *shared]


def _airlines() -> list[Q]:
    rows, t = lines("airline-safety.csv"), "<airline safety.csv>"
    for r in rows:
        r.update({k: int(v) for k, v in r.items() if k != "airline"})
    n = len(rows)
    most = sorted(rows, key=lambda r: r["avail_seat_km_per_week"], reverse=True)[:3]
    crashed = sum(r["fatal_accidents_00_14"] > 0 for r in rows)
    return [
        Q(text="which airline had the most incidents from 1985 to 1999", kind="extreme", gold=(max(rows, key=lambda r: r["incidents_85_99"])["airline"],), sql=f"SELECT [airline], [incidents_85_99] FROM {t} ORDER BY [incidents_85_99] DESC LIMIT 1"),
        Q(text="fatalities 2000-2014 summed over all the airlines?", kind="sum", gold=(sum(r["fatalities_00_14"] for r in rows),), sql=f"SELECT SUM([fatalities_00_14]) FROM {t}"),
        Q(text="How many airlines had no fatalities at all, neither in 85-99 nor in 00-14?", kind="filter", gold=(sum(r["fatalities_85_99"] == 0 == r["fatalities_00_14"] for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [fatalities_85_99] = 0 AND [fatalities_00_14] = 0"),
        Q(text="top 3 airlines for available seat km per week", kind="top", gold=tuple(r["airline"] for r in most), sql=f"SELECT [airline], [avail_seat_km_per_week] FROM {t} ORDER BY 2 DESC LIMIT 3"),
        Q(text="mean number of incidents per airline in the 2000-2014 period", kind="average", gold=(mean(r["incidents_00_14"] for r in rows),), sql=f"SELECT AVG([incidents_00_14]) FROM {t}"),
        Q(text="airlines with more incidents in 00-14 than in 85-99: how many are those", kind="filter", gold=(sum(r["incidents_00_14"] > r["incidents_85_99"] for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [incidents_00_14] > [incidents_85_99]"),
        Q(text="What percentage of the airlines had at least one fatal accident between 2000 and 2014?", kind="count", gold=(100 * crashed / n,), sql=f"SELECT 100.0 * SUM([fatal_accidents_00_14] > 0) / COUNT(*) FROM {t}"),
        Q(text="list airlines with more than 10 incidents in 2000-2014", kind="filter", gold=tuple(r["airline"] for r in rows if r["incidents_00_14"] > 10), sql=f"SELECT [airline] FROM {t} WHERE [incidents_00_14] > 10"),
        Q(text="Finnair seat km per week", kind="lookup", gold=(506464950,), sql=f"SELECT [avail_seat_km_per_week] FROM {t} WHERE [airline] = 'Finnair'"),
        Q(text="how many people were killed on Malaysia Airlines in 2000-14", kind="lookup", gold=(537,), sql=f"SELECT [fatalities_00_14] FROM {t} WHERE [airline] = 'Malaysia Airlines'"),
        Q(text="Garuda Indonesia: number of fatal accidents 1985-1999?", kind="lookup", gold=(3,), sql=f"SELECT [fatal_accidents_85_99] FROM {t} WHERE [airline] = 'Garuda Indonesia'"),
        Q(text="how many incidents did Ryanair have", kind="none", gold=()),
        Q(text="how old are Iberia's planes on average", kind="none", gold=()),
    ]  # fmt: skip


def _candy() -> list[Q]:
    rows, t = lines("candy-data.csv"), "<candy ranking.csv>"
    for r in rows:
        r.update({k: float(v) for k, v in r.items() if k != "competitorname"})
    worst = sorted(rows, key=lambda r: r["winpercent"])[:5]
    bars = [r for r in rows if r["bar"]]
    return [
        Q(text="Which candy has the highest winpercent?", kind="extreme", gold=(max(rows, key=lambda r: r["winpercent"])["competitorname"],), sql=f"SELECT [competitorname], [winpercent] FROM {t} ORDER BY 2 DESC LIMIT 1"),
        Q(text="how many of the candies are chocolate", kind="count", gold=(sum(r["chocolate"] == 1 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [chocolate] = 1"),
        Q(text="average win percent of the fruity candy", kind="average", gold=(mean(r["winpercent"] for r in rows if r["fruity"]),), sql=f"SELECT AVG([winpercent]) FROM {t} WHERE [fruity] = 1"),
        Q(text="is there any candy that's both chocolate and fruity? which one", kind="filter", gold=tuple(r["competitorname"] for r in rows if r["chocolate"] and r["fruity"]), sql=f"SELECT [competitorname] FROM {t} WHERE [chocolate] = 1 AND [fruity] = 1"),
        Q(text="five least popular candies by winpercent, worst one first", kind="top", gold=tuple(r["competitorname"] for r in worst), sql=f"SELECT [competitorname], [winpercent] FROM {t} ORDER BY [winpercent] LIMIT 5"),
        Q(text="What percentage of the bars contain nougat?", kind="count", gold=(100 * sum(r["nougat"] for r in bars) / len(bars),), sql=f"SELECT 100.0 * SUM([nougat]) / COUNT(*) FROM {t} WHERE [bar] = 1"),
        Q(text="winpercent snickers", kind="lookup", gold=(76.673782,), sql=f"SELECT [winpercent] FROM {t} WHERE [competitorname] = 'Snickers'"),
        Q(text="what's the sugarpercent of Nerds please", kind="lookup", gold=(0.84799999,), sql=f"SELECT [sugarpercent] FROM {t} WHERE [competitorname] = 'Nerds'"),
        Q(text="and the win percent for Milky Way Midnight?", kind="lookup", gold=(60.800701,), sql=f"SELECT [winpercent] FROM {t} WHERE [competitorname] = 'Milky Way Midnight'"),
        Q(text="how many calories does a Twix have?", kind="none", gold=()),
        Q(text="winpercent of Toblerone", kind="none", gold=()),
    ]  # fmt: skip


def _people() -> list[Q]:
    rows = [(int(r[0]), r[1], r[2], float(r[3])) for r in real_rows(REAL["people and amounts.csv"])[1:]]
    t = "<people and amounts.csv>"
    cities = sorted({r[2] for r in rows})
    return [
        Q(text="How many people are in Osaka?", kind="count", gold=(sum(r[2] == "Osaka" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [city] = 'Osaka'"),
        Q(text="average amount by city", kind="group", gold=tuple(mean(r[3] for r in rows if r[2] == c) for c in cities), sql=f"SELECT [city], AVG([amount]) FROM {t} GROUP BY [city]"),
        Q(text="who has the biggest amount of all", kind="extreme", gold=(max(rows, key=lambda r: r[3])[1],), sql=f"SELECT [name], [amount] FROM {t} ORDER BY [amount] DESC LIMIT 1"),
        Q(text="people whose amount is between 900 and 950, how many", kind="filter", gold=(sum(900 <= r[3] <= 950 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [amount] BETWEEN 900 AND 950"),
        Q(text="in which city is person 22222?", kind="lookup", gold=(next(r[2] for r in rows if r[1] == "person 22222"),), sql=f"SELECT [city] FROM {t} WHERE [name] = 'person 22222'"),
        Q(text="the amount for id 17 please", kind="lookup", gold=(next(r[3] for r in rows if r[0] == 17),), sql=f"SELECT [amount] FROM {t} WHERE [id] = 17"),
        Q(text="what amount does person 45000 have", kind="none", gold=()),
        Q(text="I need the email address of person 30", kind="none", gold=()),
    ]  # fmt: skip


def _cities() -> list[Q]:
    rows = [
        r
        for r in real_sheet(REAL["city populations.xlsx"], "Table")
        if isinstance(r[5], int) and r[2] != "Total"
    ]
    t, s = "<city populations.xlsx#Table!C3:F15>", "<city populations.xlsx#Table!I3:L15>"
    return [
        Q(text="which of the Big Cities is furthest north", kind="extreme", gold=(max(rows, key=lambda r: r[3])[2],), sql=f"SELECT [City], [Latitude] FROM {t} ORDER BY [Latitude] DESC LIMIT 1"),
        Q(text="Small Cities that lie south of the equator", kind="filter", gold=tuple(r[8] for r in rows if r[9] < 0), sql=f"SELECT [City] FROM {s} WHERE [Latitude] < 0"),
        Q(text="how many people live in Fairbanks", kind="lookup", gold=(32000,), sql=f"SELECT [Population] FROM {s} WHERE [City] = 'Fairbanks, Alaska, USA'"),
        Q(text="longitude of Havana?", kind="lookup", gold=(-82.38,), sql=f"SELECT [Longitude] FROM {s} WHERE [City] = 'Havana, Cuba'"),
        Q(text="what's the area of Tokyo in square km", kind="none", gold=()),
    ]  # fmt: skip
