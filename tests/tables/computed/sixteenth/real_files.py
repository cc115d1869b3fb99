# ruff: noqa: S608 - SQL of our own
"""Sheets of others. The files in `data` are from github.com/fivethirtyeight/data (CC BY 4.0)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.tables.computed.question_set import SHARED, ComputedQuestion, mean

if TYPE_CHECKING:
    from collections.abc import Callable

Q = ComputedQuestion
DATA = Path(__file__).parent / "data"
REAL = {
    "gun checks.pdf": "real/plumber-nics-background-checks-2015-11-rotated.pdf",
    "layoff notices.pdf": "real/plumber-WARN-Report-for-7-1-2015-to-03-25-2016.pdf",
}


def _copied(name: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes((DATA / name).read_bytes())

    return write


MAKERS = {
    "world cup tv audience.csv": _copied("fifa.csv"),
    "cabinet members.csv": _copied("cabinet.csv"),
    "drivers by state.csv": _copied("bad-drivers.csv"),
}


def lines(name: str) -> list[list[str]]:
    with (DATA / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))[1:]


def questions() -> list[Q]:
    shared = [*_checks(), *_notices()] if all((SHARED / place).is_file() for place in REAL.values()) else []
    return [*_audience(), *_cabinet(), *_drivers(), *shared]


def _audience() -> list[Q]:
    rows: list[Any] = [(r[0], r[1], *map(float, r[2:])) for r in lines("fifa.csv")]
    t = "<world cup tv audience.csv>"
    names = sorted({r[1] for r in rows})
    watched = {c: sum(r[3] for r in rows if r[1] == c) for c in names}
    richest = sorted(rows, key=lambda r: r[4], reverse=True)[:4]
    return [
        Q(text="how many of the countries in the world cup tv list are UEFA", kind="count", gold=(sum(r[1] == "UEFA" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [confederation] = 'UEFA'"),
        Q(text="CONMEBOL's tv audience share, all its countries added up", kind="sum", gold=(round(watched["CONMEBOL"], 1),), sql=f"SELECT SUM([tv_audience_share]) FROM {t} WHERE [confederation] = 'CONMEBOL'"),
        Q(text="which confederation has the biggest total tv audience share?", kind="extreme", gold=(max(watched, key=lambda c: watched[c]),), sql=f"SELECT [confederation], SUM([tv_audience_share]) FROM {t} GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
        Q(text="In how many countries is the tv audience share larger than the population share?", kind="filter", gold=(sum(r[3] > r[2] for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [tv_audience_share] > [population_share]"),
        Q(text="top four countries by GDP weighted share, in order", kind="top", gold=tuple(r[0] for r in richest), sql=f"SELECT [country], [gdp_weighted_share] FROM {t} ORDER BY 2 DESC LIMIT 4"),
        Q(text="number of countries per confederation", kind="group", gold=tuple(sum(r[1] == c for r in rows) for c in names), sql=f"SELECT [confederation], COUNT(*) FROM {t} GROUP BY 1"),
        Q(text="tv audience share mexico", kind="lookup", gold=(3.2,), sql=f"SELECT [tv_audience_share] FROM {t} WHERE [country] = 'Mexico'"),
        Q(text="Which confederation does Venezuela belong to?", kind="lookup", gold=("CONMEBOL",), sql=f"SELECT [confederation] FROM {t} WHERE [country] = 'Venezuela'"),
        Q(text="what share of the tv audience did Scotland have", kind="none", gold=()),
        Q(text="How many matches did South Korea play?", kind="none", gold=()),
    ]  # fmt: skip


def _cabinet() -> list[Q]:
    rows, t = lines("cabinet.csv"), "<cabinet members.csv>"
    presidents = list(dict.fromkeys(r[0] for r in rows))
    days = {(r[0], r[2]): int(r[5]) for r in rows if r[5].isdigit()}
    states = [int(r[5]) for r in rows if r[1] == "Secretary of State" and r[5]]
    trump = [r for r in rows if r[0] == "Trump"]
    return [
        Q(text="how many women were there in Clinton's cabinet (rows with gender female)", kind="count", gold=(sum(r[0] == "Clinton" and r[7] == "Female" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [president] = 'Clinton' AND [gender] = 'Female'"),
        Q(text="average length in days for a Secretary of State", kind="average", gold=(mean(states),), sql=f"SELECT AVG([length]) FROM {t} WHERE [position] = 'Secretary of State'"),
        Q(text="longest serving Attorney General?", kind="extreme", gold=("Janet Reno",), sql=f"SELECT [appointee], CAST([length] AS INTEGER) FROM {t} WHERE [position] = 'Attorney General' ORDER BY 2 DESC LIMIT 1"),
        Q(text="cabinet entries with a start date in 2009, number only", kind="dates", gold=(sum(r[3].endswith("/09") for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [start_date] BETWEEN '2009-01-01' AND '2009-12-31'"),
        Q(text="how many cabinet rows are listed under each president", kind="group", gold=tuple(sum(r[0] == p for r in rows) for p in presidents), sql=f"SELECT [president], COUNT(*) FROM {t} GROUP BY 1"),
        Q(text="List the women who served under Reagan.", kind="filter", gold=tuple(r[2] for r in rows if r[0] == "Reagan" and r[7] == "Female"), sql=f"SELECT [appointee] FROM {t} WHERE [president] = 'Reagan' AND [gender] = 'Female'"),
        Q(text="what percentage of Trump's cabinet entries are female", kind="count", gold=(100 * sum(r[7] == "Female" for r in trump) / len(trump),), sql=f"SELECT 100.0 * SUM([gender] = 'Female') / COUNT(*) FROM {t} WHERE [president] = 'Trump'"),
        Q(text="under which president was Harvey Rosen CEA chair", kind="lookup", gold=("Bush 43",), sql=f"SELECT [president] FROM {t} WHERE [appointee] = 'Harvey Rosen'"),
        Q(text="How many days did Rex Tillerson last?", kind="lookup", gold=(days["Trump", "Rex Tillerson"],), sql=f"SELECT [length] FROM {t} WHERE [appointee] = 'Rex Tillerson'"),
        Q(text="what job did Jeane Kirkpatrick have", kind="lookup", gold=("UN Ambassador",), sql=f"SELECT [position] FROM {t} WHERE [appointee] = 'Jeane Kirkpatrick'"),
        Q(text="how many cabinet members did Eisenhower have", kind="none", gold=()),
        Q(text="Salary of Janet Yellen as Secretary of the Treasury", kind="none", gold=()),
    ]  # fmt: skip


def _drivers() -> list[Q]:
    rows = [(r[0], *map(float, r[1:])) for r in lines("bad-drivers.csv")]
    t, premium = "<drivers by state.csv>", "[Car Insurance Premiums ($)]"
    fewest = sorted(rows, key=lambda r: r[1])[:3]
    return [
        Q(text="which state has the priciest car insurance", kind="extreme", gold=(max(rows, key=lambda r: r[6])[0],), sql=f"SELECT [State], {premium} FROM {t} ORDER BY 2 DESC LIMIT 1"),
        Q(text="states with car insurance premiums under $700, how many?", kind="filter", gold=(sum(r[6] < 700 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE {premium} < 700"),
        Q(text="mean insurance premium over all the states in the drivers table", kind="average", gold=(mean(r[6] for r in rows),), sql=f"SELECT AVG({premium}) FROM {t}"),
        Q(text="Where were more than 45 % of the drivers in fatal collisions speeding?", kind="filter", gold=tuple(r[0] for r in rows if r[2] > 45), sql=f"SELECT [State] FROM {t} WHERE [Who Were Speeding] > 45"),
        Q(text="the 3 states with the fewest drivers in fatal collisions per billion miles, lowest first", kind="top", gold=tuple(r[0] for r in fewest), sql=f"SELECT [State], [per billion miles] FROM {t} ORDER BY 2 LIMIT 3"),
        Q(text="texas car insurance premium?", kind="lookup", gold=(1004.75,), sql=f"SELECT {premium} FROM {t} WHERE [State] = 'Texas'"),
        Q(text="what percentage of drivers in fatal crashes in Montana had been drinking (alcohol-impaired)", kind="lookup", gold=(44,), sql=f"SELECT [Alcohol-Impaired] FROM {t} WHERE [State] = 'Montana'"),
        Q(text="Car insurance premium in Ontario", kind="none", gold=()),
    ]  # fmt: skip


def _checks() -> list[Q]:
    # Read from the page when this was written.
    t = "<gun checks.pdf>"
    return [
        Q(text="handgun checks in Texas in the NICS table", kind="lookup", gold=(56941,), sql=f"SELECT [Handgun] FROM {t} WHERE [State] = 'Texas'"),
        Q(text="NICS total for Kentucky", kind="lookup", gold=(295891,), sql=f"SELECT [Totals] FROM {t} WHERE [State] = 'Kentucky'"),
        Q(text="Which state did the most permit checks?", kind="extreme", gold=("Kentucky",), sql=f"SELECT [State], [Permit] FROM {t} ORDER BY 2 DESC LIMIT 1"),
        Q(text="how many states had a total of more than 100,000 background checks", kind="filter", gold=(7,), sql=f"SELECT COUNT(*) FROM {t} WHERE [Totals] > 100000"),
        Q(text="background checks in Alberta, november 2015", kind="none", gold=()),
    ]  # fmt: skip


def _notices() -> list[Q]:
    # Counted over the 16 pages when this was written.
    t = "<layoff notices.pdf>"
    return [
        Q(text="how many employees are affected in Torrance according to the layoff notices", kind="sum", gold=(3503,), sql=f"SELECT SUM([No. Of]) FROM {t} WHERE [City] = 'Torrance'"),
        Q(text="notices from Qualcomm Incorporated, how many", kind="count", gold=(23,), sql=f"SELECT COUNT(*) FROM {t} WHERE [Company] = 'Qualcomm Incorporated'"),
        Q(text="Maxim Integrated Product - which city?", kind="lookup", gold=("San Jose",), sql=f"SELECT [City] FROM {t} WHERE [Company] = 'Maxim Integrated Product'"),
        Q(text="who signed the notice for Leidos", kind="none", gold=()),
    ]  # fmt: skip
