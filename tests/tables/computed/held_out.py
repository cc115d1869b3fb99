# ruff: noqa: S608 - SQL of our own
"""The half that whoever writes the rules does not read."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

import openpyxl

from tests.tables.computed.question_set import (
    ComputedQuestion,
    QuestionSet,
    Row,
    german,
    mean,
    real_rows,
    real_sheet,
    write_csv,
    write_sheets,
)

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion
INSTITUTES = ("Harbour Institute", "Northlight Centre", "Salt Lab", "Willow College")
NATIONS = ("Iceland", "Kenya", "Chile", "Iceland")
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
    nation = dict(zip(INSTITUTES, NATIONS, strict=True))
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
        Q(
            text="What was awarded with grant GR101?",
            kind="lookup",
            gold=(rows[31][3],),
            sql=f"SELECT [Awarded] FROM {t} WHERE [Grant] = 'GR101'",
        ),
        Q(text="How much was awarded in 2017?", kind="none", gold=()),
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


def german_stock() -> list[Row]:
    """Article, group, stock, price."""
    source = random.Random(2605)
    return [
        (
            f"Artikel {1000 + n}",
            source.choice(("Werkzeug", "Farbe", "Holz")),
            source.randrange(0, 3000),
            source.randrange(100, 250_000) / 100,
        )
        for n in range(45)
    ]


def _german_stock(path: Path) -> None:
    lines = [(a, g, german(n, 0), german(p)) for a, g, n, p in german_stock()]
    write_sheets(path, {"Lager": [("Artikel", "Warengruppe", "Bestand", "Preis (€)"), *lines]})


def _german_stock_questions() -> list[Q]:
    rows, t = german_stock(), "<lagerbestand.xlsx>"
    return [
        Q(
            language="de",
            text="Wie hoch ist der gesamte Bestand der Warengruppe Holz?",
            kind="sum",
            gold=(sum(r[2] for r in rows if r[1] == "Holz"),),
            sql=f"SELECT SUM([Bestand]) FROM {t} WHERE [Warengruppe] = 'Holz'",
        ),
        Q(
            language="de",
            text="Wie viele Artikel kosten mehr als 1.500 €?",
            kind="filter",
            gold=(sum(r[3] > 1500 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Preis] > 1500",
        ),
        Q(
            language="de",
            text="Welcher Artikel hat den niedrigsten Preis?",
            kind="extreme",
            gold=(min(rows, key=lambda r: r[3])[0],),
            sql=f"SELECT [Artikel], [Preis] FROM {t} ORDER BY [Preis] LIMIT 1",
        ),
        Q(
            language="de",
            text="Was ist der Preis von Artikel 1017?",
            kind="lookup",
            gold=(rows[17][3],),
            sql=f"SELECT [Preis] FROM {t} WHERE [Artikel] = 'Artikel 1017'",
        ),
        Q(language="de", text="Wie hoch ist der Bestand der Warengruppe Glas?", kind="none", gold=()),
    ]


def hours() -> list[Row]:
    """Person, day, hours, project."""
    source = random.Random(2606)
    return [
        (
            source.choice(("Anna Groß", "Jörg Maier", "Lea Süß")),
            date(2025, 4, 1) + timedelta(days=source.randrange(90)),
            source.randrange(2, 19) / 2,
            source.choice(("Umzug", "Webseite", "Schulung")),
        )
        for _ in range(75)
    ]


def _hours(path: Path) -> None:
    lines = [(p, f"{d:%d.%m.%Y}", german(h, 1), x) for p, d, h, x in hours()]
    write_csv(path, [("Mitarbeiter", "Tag", "Stunden", "Projekt"), *lines], delimiter=";", encoding="cp1252")


def _hours_questions() -> list[Q]:
    rows, t = hours(), "<arbeitszeiten.csv>"
    return [
        Q(
            language="de",
            text="Wie viele Stunden hat Jörg Maier gearbeitet?",
            kind="sum",
            gold=(sum(r[2] for r in rows if r[0] == "Jörg Maier"),),
            sql=f"SELECT SUM([Stunden]) FROM {t} WHERE [Mitarbeiter] = 'Jörg Maier'",
        ),
        Q(
            language="de",
            text="Stunden pro Projekt",
            kind="group",
            gold=tuple(sum(r[2] for r in rows if r[3] == p) for p in ("Schulung", "Umzug", "Webseite")),
            sql=f"SELECT [Projekt], SUM([Stunden]) FROM {t} GROUP BY [Projekt]",
        ),
        Q(
            language="de",
            text="Summe der Stunden im Mai 2025",
            kind="dates",
            gold=(sum(r[2] for r in rows if r[1].month == 5),),
            sql=f"SELECT SUM([Stunden]) FROM {t} WHERE [Tag] LIKE '2025-05-%'",
        ),
        Q(
            language="de",
            text="Durchschnittliche Stunden für das Projekt Umzug",
            kind="average",
            gold=(mean(r[2] for r in rows if r[3] == "Umzug"),),
            sql=f"SELECT AVG([Stunden]) FROM {t} WHERE [Projekt] = 'Umzug'",
        ),
        Q(language="de", text="Summe der Stunden im Mai 2021", kind="none", gold=()),
    ]


def bookings() -> list[Row]:
    """Guest, arrival, nights, total, city."""
    source = random.Random(2607)
    return [
        (
            f"Huésped {n}",
            date(2025, 5, 1) + timedelta(days=source.randrange(120)),
            source.randrange(1, 15),
            source.randrange(9000, 400_000) / 100,
            source.choice(("Cádiz", "León", "Vigo")),
        )
        for n in range(1, 66)
    ]


def _bookings(path: Path) -> None:
    lines = [(g, f"{d:%d/%m/%Y}", n, f"{german(t)} €", c) for g, d, n, t, c in bookings()]
    write_csv(path, [("Huésped", "Entrada", "Noches", "Total", "Ciudad"), *lines], delimiter=";")


def _booking_questions() -> list[Q]:
    rows, t = bookings(), "<reservas.csv>"
    return [
        Q(
            language="es",
            text="¿Cuántas reservas hay en Cádiz?",
            kind="count",
            gold=(sum(r[4] == "Cádiz" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Ciudad] = 'Cádiz'",
        ),
        Q(
            language="es",
            text="¿Cuál es el promedio de noches en León?",
            kind="average",
            gold=(mean(r[2] for r in rows if r[4] == "León"),),
            sql=f"SELECT AVG([Noches]) FROM {t} WHERE [Ciudad] = 'León'",
        ),
        Q(
            language="es",
            text="Suma de noches por ciudad",
            kind="group",
            gold=tuple(sum(r[2] for r in rows if r[4] == c) for c in ("Cádiz", "León", "Vigo")),
            sql=f"SELECT [Ciudad], SUM([Noches]) FROM {t} GROUP BY [Ciudad]",
        ),
        Q(
            language="es",
            text="¿Cuál es el total de Huésped 23?",
            kind="lookup",
            gold=(rows[22][3],),
            sql=f"SELECT [Total] FROM {t} WHERE [Huésped] = 'Huésped 23'",
        ),
        Q(language="es", text="¿Cuántas reservas hay en Toledo?", kind="none", gold=()),
    ]


def chinese_staff() -> list[Row]:
    """Name, department, start, monthly pay."""
    source = random.Random(2608)
    names = [f"{a}{b}" for a in "王李张刘陈" for b in ("伟", "芳", "敏", "静")]
    return [
        (
            n,
            source.choice(("市场部", "技术部", "财务部")),
            date(2018, 1, 1) + timedelta(days=source.randrange(2500)),
            source.randrange(60, 300) * 100,
        )
        for n in names
    ]


def _chinese_staff(path: Path) -> None:
    write_sheets(path, {"员工": [("姓名", "部门", "入职日期", "月薪(元)"), *chinese_staff()]})


def _chinese_staff_questions() -> list[Q]:
    rows, t = chinese_staff(), "<员工名单.xlsx>"
    return [
        Q(
            language="zh",
            text="技术部有多少名员工?",
            kind="count",
            gold=(sum(r[1] == "技术部" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [部门] = '技术部'",
        ),
        Q(
            language="zh",
            text="市场部的平均月薪是多少?",
            kind="average",
            gold=(mean(r[3] for r in rows if r[1] == "市场部"),),
            sql=f"SELECT AVG([月薪]) FROM {t} WHERE [部门] = '市场部'",
        ),
        Q(
            language="zh",
            text="谁的月薪最高?",
            kind="extreme",
            gold=(max(rows, key=lambda r: r[3])[0],),
            sql=f"SELECT [姓名], [月薪] FROM {t} ORDER BY [月薪] DESC LIMIT 1",
        ),
        Q(
            language="zh",
            text="张敏的月薪是多少?",
            kind="lookup",
            gold=(next(r[3] for r in rows if r[0] == "张敏"),),
            sql=f"SELECT [月薪] FROM {t} WHERE [姓名] = '张敏'",
        ),
        Q(language="zh", text="法务部的月薪总和是多少?", kind="none", gold=()),
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


def _real_questions() -> list[Q]:
    asked: list[Q] = []
    if since := real_sheet("real/unst-stanley-cups.xlsx", "Stanley Cups Since 67")[2:]:
        t, u = "<stanley cups by era.xlsx#Since 67>", "<stanley cups by era.xlsx#Stanley Cups!>"
        asked += [
            Q(
                text="How many Stanley Cups did all teams win since 67?",
                kind="sum",
                gold=(sum(int(r[2]) for r in since),),
                sql=f"SELECT SUM([Stanley Cups]) FROM {t}",
            ),
            Q(
                text="How many Stanley Cups did the Maple Leafs win since 67?",
                kind="lookup",
                gold=(0,),
                sql=f"SELECT [Stanley Cups] FROM {t} WHERE [Team] = 'Maple Leafs'",
            ),
            Q(
                text="Which team won the most Stanley Cups ever?",
                kind="extreme",
                gold=("Maple Leafs",),
                sql=f"SELECT [Team], [Stanley Cups] FROM {u} ORDER BY [Stanley Cups] DESC LIMIT 1",
            ),
        ]
    if stock := real_sheet_of_made_stock():
        asked.append(
            Q(
                text="What is the quantity of SKU-1c07d47b?",
                kind="lookup",
                gold=(stock,),
                sql="SELECT [Qty] FROM <sku stock.xlsx#Stock> WHERE [SKU] = 'SKU-1c07d47b'",
            )
        )
    if chinese := real_rows("made/enc-gbk.csv", encoding="gbk")[1:]:
        t = "<编号数量.csv>"
        asked += [
            Q(
                language="zh",
                text="轴承的数量是多少?",
                kind="lookup",
                gold=(int(chinese[1][2]),),
                sql=f"SELECT [数量] FROM {t} WHERE [名称] = '轴承'",
            ),
            Q(
                language="zh",
                text="编号数量表中数量的总和是多少?",
                kind="sum",
                gold=(sum(int(r[2]) for r in chinese),),
                sql=f"SELECT SUM([数量]) FROM {t}",
            ),
        ]
    if days := real_sheet("real/tika-testEXCEL_dateFormats.xlsx", "Munka1")[1:]:
        latest = max(r[0] for r in days if r[0] is not None and hasattr(r[0], "year"))
        asked.append(
            Q(
                text="What is the latest date in the date formats file?",
                kind="extreme",
                gold=(f"{latest:%Y-%m-%d}",),
                sql="SELECT MAX([date]) FROM <date formats.xlsx>",
            )
        )
    return asked


def real_sheet_of_made_stock() -> int:
    """Of a workbook whose last sheet is too large for a plain read; its quantity is in its manifest's cell B2."""
    import zipfile

    from tests.tables.computed.question_set import SHARED

    path = SHARED / "made/sheets.xlsx"
    if not path.is_file():
        return 0
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    return int(sheet.partition('r="B2"')[2].partition("<v>")[2].partition("</v>")[0])


def questions() -> list[Q]:
    """All of this half, the same on every run."""
    return [
        *_fleet_questions(),
        *_grant_questions(),
        *_event_questions(),
        *_exam_questions(),
        *_german_stock_questions(),
        *_hours_questions(),
        *_booking_questions(),
        *_chinese_staff_questions(),
        *_rainfall_questions(),
        *_return_questions(),
        *_subscription_questions(),
        *_shipment_questions(),
        *_real_questions(),
    ]


HELD_OUT = QuestionSet(
    makers={
        "vehicle fleet.xlsx": _fleet,
        "grants.csv": _grants,
        "institutes.csv": _institutes,
        "event budget.xlsx": _events,
        "exam results.csv": _exams,
        "lagerbestand.xlsx": _german_stock,
        "arbeitszeiten.csv": _hours,
        "reservas.csv": _bookings,
        "员工名单.xlsx": _chinese_staff,
        "rainfall.xlsx": _rainfall,
        "fund returns.csv": _returns,
        "subscriptions.csv": _subscriptions,
        "shipments.xlsx": _shipments,
    },
    real={
        "stanley cups by era.xlsx": "real/unst-stanley-cups.xlsx",
        "sku stock.xlsx": "made/sheets.xlsx",
        "编号数量.csv": "made/enc-gbk.csv",
        "date formats.xlsx": "real/tika-testEXCEL_dateFormats.xlsx",
        "old sheets.xls": "real/markit-test.xls",
        "no strings.xlsx": "real/poi-noSharedStringTable.xlsx",
        "emoji cups.tsv": "real/unst-stanley-cups-with-emoji.tsv",
        "wide.csv": "made/csv-wide.csv",
    },
    questions=questions,
)
