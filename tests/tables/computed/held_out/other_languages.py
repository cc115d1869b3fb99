# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import german, write_csv, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path


Q = ComputedQuestion


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


MAKERS = {
    "lagerbestand.xlsx": _german_stock,
    "arbeitszeiten.csv": _hours,
    "reservas.csv": _bookings,
    "员工名单.xlsx": _chinese_staff,
}


def questions() -> list[Q]:
    return [
        *_german_stock_questions(),
        *_hours_questions(),
        *_booking_questions(),
        *_chinese_staff_questions(),
    ]
