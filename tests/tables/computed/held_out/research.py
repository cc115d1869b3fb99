# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from typing import TYPE_CHECKING

import openpyxl

from tests.tables.computed.made_files import write_csv, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path


Q = ComputedQuestion
INSTITUTES = ("Harbour Institute", "Northlight Centre", "Salt Lab", "Willow College")
NATIONS = ("Iceland", "Kenya", "Chile", "Iceland")


def grants() -> list[Row]:
    """Code, institute, year, awarded."""
    source = random.Random(2602)
    return [
        (
            f"GR{n}",
            source.choice(INSTITUTES),
            source.choice((2022, 2023, 2024, 2025)),
            source.randrange(15, 900) * 1000,
        )
        for n in range(70, 130)
    ]


def _grants(path: Path) -> None:
    write_csv(
        path, [("Grant", "Institute", "Year", "Awarded"), *((c, i, y, f"${a:,}") for c, i, y, a in grants())]
    )


def _institutes(path: Path) -> None:
    directors = ("O. Falk", "M. Adeyemi", "P. Rojas", "S. Jónsdóttir")
    write_csv(path, [("Institute", "Nation", "Director"), *zip(INSTITUTES, NATIONS, directors, strict=True)])


def _grant_questions() -> list[Q]:
    rows, t = grants(), "<grants.csv>"
    top = sorted(rows, key=lambda r: -r[3])
    return [
        Q(
            text="How much was awarded in 2023?",
            kind="sum",
            gold=(sum(r[3] for r in rows if r[2] == 2023),),
            sql=f"SELECT SUM([Awarded]) FROM {t} WHERE [Year] = 2023",
        ),
        Q(
            text="How many grants went to the Salt Lab?",
            kind="count",
            gold=(sum(r[1] == "Salt Lab" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Institute] = 'Salt Lab'",
        ),
        Q(
            text="Average award per institute",
            kind="group",
            gold=tuple(mean(r[3] for r in rows if r[1] == i) for i in INSTITUTES),
            sql=f"SELECT [Institute], AVG([Awarded]) FROM {t} GROUP BY [Institute]",
        ),
        Q(
            text="List the four grants with the largest amount awarded",
            kind="top",
            gold=tuple(r[0] for r in top[:4]),
            sql=f"SELECT [Grant], [Awarded] FROM {t} ORDER BY [Awarded] DESC LIMIT 4",
        ),
        Q(
            text="How many grants of more than $500,000 were awarded since 2024?",
            kind="filter",
            gold=(sum(r[3] > 500_000 and r[2] >= 2024 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Awarded] > 500000 AND [Year] >= 2024",
        ),
        Q(
            text="What was awarded with grant GR101?",
            kind="lookup",
            gold=(rows[31][3],),
            sql=f"SELECT [Awarded] FROM {t} WHERE [Grant] = 'GR101'",
        ),
        Q(text="How much was awarded in 2017?", kind="none", gold=()),
    ]


def _institute_questions() -> list[Q]:
    rows, t = grants(), "<grants.csv>"
    nation = dict(zip(INSTITUTES, NATIONS, strict=True))
    return [
        Q(
            text="How much was awarded to institutes in Iceland, by the list of institutes?",
            kind="join",
            gold=(sum(r[3] for r in rows if nation[r[1]] == "Iceland"),),
            sql=f"SELECT SUM(g.[Awarded]) FROM {t} AS g JOIN <institutes.csv> AS i ON g.[Institute] = i.[Institute] WHERE i.[Nation] = 'Iceland'",
        ),
        Q(
            text="Number of grants per nation, from the grants and the institutes file",
            kind="join",
            gold=tuple(sum(nation[r[1]] == n for r in rows) for n in ("Chile", "Iceland", "Kenya")),
            sql=f"SELECT i.[Nation], COUNT(*) FROM {t} AS g JOIN <institutes.csv> AS i ON g.[Institute] = i.[Institute] GROUP BY i.[Nation]",
        ),
        Q(
            text="Who is the director of the Salt Lab?",
            kind="lookup",
            gold=("P. Rojas",),
            sql="SELECT [Director] FROM <institutes.csv> WHERE [Institute] = 'Salt Lab'",
        ),
    ]


def exams() -> list[Row]:
    """Student, class, subject, points."""
    source = random.Random(2604)
    names = [f"{f} {s}" for f in ("Amy", "Bo", "Cat", "Dov", "Elle") for s in ("Ash", "Birch", "Elm")]
    return [
        (n, source.choice(("7a", "7b")), s, source.randrange(12, 100) if source.random() > 0.08 else None)
        for n in names
        for s in ("Maths", "History", "Biology")
    ]


def _exams(path: Path) -> None:
    write_csv(
        path,
        [
            ("Student", "Class", "Subject", "Points"),
            *((n, c, s, "" if p is None else p) for n, c, s, p in exams()),
        ],
    )


def _exam_questions() -> list[Q]:
    rows, t = exams(), "<exam results.csv>"
    scored = [r for r in rows if r[3] is not None]
    return [
        Q(
            text="What is the average number of points in Biology?",
            kind="average",
            gold=(mean(r[3] for r in scored if r[2] == "Biology"),),
            sql=f"SELECT AVG([Points]) FROM {t} WHERE [Subject] = 'Biology'",
        ),
        Q(
            text="What is the lowest number of points in Maths?",
            kind="extreme",
            gold=(min(r[3] for r in scored if r[2] == "Maths"),),
            sql=f"SELECT MIN([Points]) FROM {t} WHERE [Subject] = 'Maths'",
        ),
        Q(
            text="How many exam results are at least 50 points?",
            kind="filter",
            gold=(sum(r[3] >= 50 for r in scored),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Points] >= 50",
        ),
        Q(
            text="How many points did Cat Elm get in History?",
            kind="lookup",
            gold=(next(r[3] for r in rows if r[0] == "Cat Elm" and r[2] == "History"),),
            sql=f"SELECT [Points] FROM {t} WHERE [Student] = 'Cat Elm' AND [Subject] = 'History'",
        ),
        Q(
            text="Average points by subject",
            kind="group",
            gold=tuple(mean(r[3] for r in scored if r[2] == s) for s in ("Biology", "History", "Maths")),
            sql=f"SELECT [Subject], AVG([Points]) FROM {t} GROUP BY [Subject]",
        ),
        Q(text="How many points did Cat Elm get in Chemistry?", kind="none", gold=()),
        Q(text="Is it fair that pupils have exams on Mondays?", kind="none", gold=()),
    ]


def rainfall() -> list[Row]:
    """Station, then spring and summer of 2023 and of 2024."""
    source = random.Random(2609)
    return [
        (s, *(source.randrange(40, 400) for _ in range(4)))
        for s in ("Alder Hill", "Brook End", "Crow Point", "Dun Moor", "Esk Foot")
    ]


def _rainfall(path: Path) -> None:
    lines: list[Row] = [
        ("Station", "2023 (mm)", None, "2024 (mm)", None),
        (None, "Spring", "Summer", "Spring", "Summer"),
        *rainfall(),
    ]
    write_sheets(path, {"Rain": lines})
    workbook = openpyxl.load_workbook(path)
    for place in ("A1:A2", "B1:C1", "D1:E1"):
        workbook["Rain"].merge_cells(place)
    workbook.save(path)


def _rainfall_questions() -> list[Q]:
    rows, t = rainfall(), "<rainfall.xlsx>"
    return [
        Q(
            text="How much rain fell at Crow Point in summer 2024?",
            kind="lookup",
            gold=(rows[2][4],),
            sql=f"SELECT [2024 (mm) Summer] FROM {t} WHERE [Station] = 'Crow Point'",
        ),
        Q(
            text="What is the average rainfall of all stations in spring 2023?",
            kind="average",
            gold=(mean(r[1] for r in rows),),
            sql=f"SELECT AVG([2023 (mm) Spring]) FROM {t}",
        ),
        Q(
            text="Which station had the most rain in summer 2023?",
            kind="extreme",
            gold=(max(rows, key=lambda r: r[2])[0],),
            sql=f"SELECT [Station], [2023 (mm) Summer] FROM {t} ORDER BY [2023 (mm) Summer] DESC LIMIT 1",
        ),
        Q(text="How much rain fell at Crow Point in winter 2024?", kind="none", gold=()),
    ]


def returns() -> list[Row]:
    """Fund, year, return in percent, fee in percent."""
    source = random.Random(2610)
    return [
        (f, y, source.randrange(-120, 240) / 10, source.randrange(2, 20) / 10)
        for f in ("Acorn", "Beacon", "Comet")
        for y in range(2016, 2026)
    ]


def _returns(path: Path) -> None:
    write_csv(
        path, [("Fund", "Year", "Return", "Fee"), *((f, y, f"{r}%", f"{e}%") for f, y, r, e in returns())]
    )


def _return_questions() -> list[Q]:
    rows, t = returns(), "<fund returns.csv>"
    best = max(rows, key=lambda r: r[2])
    return [
        Q(
            text="What was the average return of the Beacon fund?",
            kind="average",
            gold=(mean(r[2] for r in rows if r[0] == "Beacon"),),
            sql=f"SELECT AVG([Return]) FROM {t} WHERE [Fund] = 'Beacon'",
        ),
        Q(
            text="What is the highest return of any fund in any year?",
            kind="extreme",
            gold=(best[2],),
            sql=f"SELECT MAX([Return]) FROM {t}",
        ),
        Q(
            text="In how many years did the Comet fund have a negative return?",
            kind="filter",
            gold=(sum(r[0] == "Comet" and r[2] < 0 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Fund] = 'Comet' AND [Return] < 0",
        ),
        Q(
            text="What was the fee of the Acorn fund in 2021?",
            kind="lookup",
            gold=(next(r[3] for r in rows if r[:2] == ("Acorn", 2021)),),
            sql=f"SELECT [Fee] FROM {t} WHERE [Fund] = 'Acorn' AND [Year] = 2021",
        ),
        Q(text="What was the return of the Acorn fund in 2009?", kind="none", gold=()),
    ]


MAKERS = {
    "grants.csv": _grants,
    "institutes.csv": _institutes,
    "exam results.csv": _exams,
    "rainfall.xlsx": _rainfall,
    "fund returns.csv": _returns,
}


def questions() -> list[Q]:
    return [
        *_grant_questions(),
        *_institute_questions(),
        *_exam_questions(),
        *_rainfall_questions(),
        *_return_questions(),
    ]
