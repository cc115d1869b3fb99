# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from tests.tables.computed.question_set import (
    ComputedQuestion,
    mean,
    real_rows,
    real_sheet,
)

Q = ComputedQuestion


def _cups() -> list[Q]:
    if not (cups := real_rows("real/unst-stanley-cups.csv")[2:]):
        return []
    t = "<stanley cups.csv>"
    return [
        Q(
            text="How many Stanley Cups did all teams win together?",
            kind="sum",
            gold=(sum(int(r[2]) for r in cups),),
            sql=f"SELECT SUM([Stanley Cups]) FROM {t}",
        ),
        Q(
            text="How many Stanley Cups did the Maple Leafs win?",
            kind="lookup",
            gold=(13,),
            sql=f"SELECT [Stanley Cups] FROM {t} WHERE [Team] = 'Maple Leafs'",
        ),
        Q(text="How many Stanley Cups did the Penguins win?", kind="none", gold=()),
    ]


def _people() -> list[Q]:
    if not (people := real_rows("made/csv-30k-rows.csv")[1:]):
        return []
    t = "<people amounts.csv>"
    return [
        Q(
            text="How many people with an amount live in the city Lyon?",
            kind="count",
            gold=(sum(r[2] == "Lyon" for r in people),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [city] = 'Lyon'",
        ),
        Q(
            text="Sum of amount by city",
            kind="group",
            gold=tuple(
                round(sum(float(r[3]) for r in people if r[2] == c), 2)
                for c in sorted({r[2] for r in people})
            ),
            sql=f"SELECT [city], ROUND(SUM([amount]), 2) FROM {t} GROUP BY [city]",
        ),
        Q(
            text="What is the amount of person 20417?",
            kind="lookup",
            gold=(float(people[20417][3]),),
            sql=f"SELECT [amount] FROM {t} WHERE [name] = 'person 20417'",
        ),
    ]


def _cities() -> list[Q]:
    if not (cities := real_sheet("real/poi-DataTableCities.xlsx", "Table")):
        return []
    big, small, t = (
        [r[2:6] for r in cities[2:14]],
        [r[8:12] for r in cities[2:14]],
        "<big and small cities.xlsx#Table C3>",
    )
    return [
        Q(
            text="What is the population of Lagos, Nigeria?",
            kind="lookup",
            gold=(next(r[3] for r in big if "Lagos" in str(r[0])),),
            sql=f"SELECT [Population] FROM {t} WHERE [City] = 'Lagos, Nigeria'",
        ),
        Q(
            text="Sum of the population of the big cities",
            kind="sum",
            gold=(sum(int(r[3]) for r in big),),
            sql="SELECT SUM([Population]) FROM <big and small cities.xlsx#Table C3>",
        ),
        Q(
            text="How many of the small cities have a population under 500,000?",
            kind="filter",
            gold=(sum(int(r[3]) < 500_000 for r in small),),
            sql="SELECT COUNT(*) FROM <big and small cities.xlsx#Table I3> WHERE [Population] < 500000",
        ),
    ]


def _greek() -> list[Q]:
    if not (greek := real_sheet("real/markit-test.xlsx", "Sheet1")[1:]):
        return []
    t, delta = "<alpha beta.xlsx#Sheet1>", [r[3] for r in greek if isinstance(r[3], int | float)]
    return [
        Q(
            text="What is the average of Delta?",
            kind="average",
            gold=(mean(delta),),
            sql=f"SELECT AVG([Delta]) FROM {t}",
        ),
        Q(
            text="Sum of Gamma",
            kind="sum",
            gold=(sum(r[2] for r in greek if isinstance(r[2], int)),),
            sql=f"SELECT SUM([Gamma]) FROM {t}",
        ),
    ]


def _japanese() -> list[Q]:
    if not real_rows("real/markit-test_mskanji.csv", encoding="cp932")[1:]:
        return []
    return [
        Q(
            language="zh",
            text="名前是佐藤太郎的年齢是多少?",
            kind="lookup",
            gold=(30,),
            sql="SELECT [年齢] FROM <meibo.csv> WHERE [名前] = '佐藤太郎'",
        )
    ]


def questions() -> list[Q]:
    return [
        *_cups(),
        *_people(),
        *_cities(),
        *_greek(),
        *_japanese(),
    ]
