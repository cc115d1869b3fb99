# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

import openpyxl

from tests.tables.computed.made_files import german, write_csv, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path


Q = ComputedQuestion


def expenses() -> list[Row]:
    """Date, cost centre, category, amount."""
    source = random.Random(1505)
    return [
        (
            date(2025, 1, 1) + timedelta(days=source.randrange(365)),
            source.choice(("Vertrieb", "Einkauf", "Verwaltung")),
            source.choice(("Reisen", "Bürobedarf", "Bewirtung", "Fortbildung")),
            source.randrange(900, 450_000) / 100,
        )
        for _ in range(120)
    ]


def _expenses(path: Path) -> None:
    lines = [
        (f"{day:%d.%m.%Y}", centre, kind, f"{german(amount)} €") for day, centre, kind, amount in expenses()
    ]
    write_csv(path, [("Datum", "Kostenstelle", "Kategorie", "Betrag"), *lines], delimiter=";")


def _expense_questions() -> list[Q]:
    rows, t = expenses(), "<ausgaben.csv>"
    return [
        Q(
            language="de",
            text="Wie hoch ist die Summe aller Beträge für Reisen?",
            kind="sum",
            gold=(round(sum(r[3] for r in rows if r[2] == "Reisen"), 2),),
            sql=f"SELECT ROUND(SUM([Betrag]), 2) FROM {t} WHERE [Kategorie] = 'Reisen'",
        ),
        Q(
            language="de",
            text="Wie viele Ausgaben hat die Kostenstelle Vertrieb?",
            kind="count",
            gold=(sum(r[1] == "Vertrieb" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Kostenstelle] = 'Vertrieb'",
        ),
        Q(
            language="de",
            text="Durchschnittlicher Betrag für Bewirtung",
            kind="average",
            gold=(mean(r[3] for r in rows if r[2] == "Bewirtung"),),
            sql=f"SELECT AVG([Betrag]) FROM {t} WHERE [Kategorie] = 'Bewirtung'",
        ),
        Q(
            language="de",
            text="Summe der Beträge im März 2025",
            kind="dates",
            gold=(round(sum(r[3] for r in rows if r[0].month == 3), 2),),
            sql=f"SELECT ROUND(SUM([Betrag]), 2) FROM {t} WHERE [Datum] LIKE '2025-03-%'",
        ),
        Q(
            language="de",
            text="Summe der Beträge je Kategorie",
            kind="group",
            gold=tuple(
                round(sum(r[3] for r in rows if r[2] == k), 2)
                for k in ("Bewirtung", "Bürobedarf", "Fortbildung", "Reisen")
            ),
            sql=f"SELECT [Kategorie], ROUND(SUM([Betrag]), 2) FROM {t} GROUP BY [Kategorie]",
        ),
        Q(
            language="de",
            text="Was ist der höchste Betrag in den Ausgaben?",
            kind="extreme",
            gold=(max(r[3] for r in rows),),
            sql=f"SELECT MAX([Betrag]) FROM {t}",
        ),
        Q(
            language="de",
            text="Wie hoch ist die Summe der Beträge der Kostenstelle Produktion?",
            kind="none",
            gold=(),
        ),
    ]


def turnover() -> list[Row]:
    """Branch, then four quarters of 2024 and of 2025."""
    source = random.Random(1506)
    return [
        (name, *(source.randrange(100, 999) for _ in range(8)))
        for name in ("Kiel", "Jena", "Ulm", "Trier", "Passau", "Celle")
    ]


def _turnover(path: Path) -> None:
    header = [
        ("Filiale", "2024", None, None, None, "2025", None, None, None),
        (None, *("Q1", "Q2", "Q3", "Q4") * 2),
    ]

    write_sheets(path, {"Umsatz (T€)": [*header, *turnover()]})
    workbook = openpyxl.load_workbook(path)
    for place in ("A1:A2", "B1:E1", "F1:I1"):
        workbook["Umsatz (T€)"].merge_cells(place)
    workbook.save(path)


def _turnover_questions() -> list[Q]:
    rows, t = turnover(), "<filialumsatz.xlsx>"
    return [
        Q(
            language="de",
            text="Wie hoch war der Umsatz der Filiale Ulm in Q3 2025?",
            kind="lookup",
            gold=(rows[2][7],),
            sql=f"SELECT [2025 Q3] FROM {t} WHERE [Filiale] = 'Ulm'",
        ),
        Q(
            language="de",
            text="Summe des Umsatzes aller Filialen in Q1 2024",
            kind="sum",
            gold=(sum(r[1] for r in rows),),
            sql=f"SELECT SUM([2024 Q1]) FROM {t}",
        ),
        Q(
            language="de",
            text="Welche Filiale hatte in Q4 2025 den höchsten Umsatz?",
            kind="extreme",
            gold=(max(rows, key=lambda r: r[8])[0],),
            sql=f"SELECT [Filiale], [2025 Q4] FROM {t} ORDER BY [2025 Q4] DESC LIMIT 1",
        ),
        Q(language="de", text="Umsatz der Filiale Ulm in Q3 2022?", kind="none", gold=()),
    ]


def chinese_sales() -> list[Row]:
    """Date, region, product, pieces, amount."""
    source = random.Random(1507)
    return [
        (
            date(2025, 1, 1) + timedelta(days=source.randrange(180)),
            source.choice(("华东", "华南", "华北")),
            source.choice(("茶叶", "咖啡", "果汁")),
            source.randrange(5, 200),
            source.randrange(1000, 90000) / 10,
        )
        for _ in range(60)
    ]


def _chinese_sales(path: Path) -> None:
    write_csv(path, [("日期", "地区", "产品", "数量", "金额(元)"), *chinese_sales()])


def _chinese_questions() -> list[Q]:
    rows, t = chinese_sales(), "<销售记录.csv>"
    return [
        Q(
            language="zh",
            text="华东地区的金额总和是多少?",
            kind="sum",
            gold=(round(sum(r[4] for r in rows if r[1] == "华东"), 2),),
            sql=f"SELECT ROUND(SUM([金额]), 2) FROM {t} WHERE [地区] = '华东'",
        ),
        Q(
            language="zh",
            text="产品为咖啡的销售记录有多少条?",
            kind="count",
            gold=(sum(r[2] == "咖啡" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [产品] = '咖啡'",
        ),
        Q(
            language="zh",
            text="茶叶的平均数量是多少?",
            kind="average",
            gold=(mean(r[3] for r in rows if r[2] == "茶叶"),),
            sql=f"SELECT AVG([数量]) FROM {t} WHERE [产品] = '茶叶'",
        ),
        Q(
            language="zh",
            text="每个地区的数量总和",
            kind="group",
            gold=tuple(sum(r[3] for r in rows if r[1] == g) for g in ("华东", "华北", "华南")),
            sql=f"SELECT [地区], SUM([数量]) FROM {t} GROUP BY [地区]",
        ),
        Q(language="zh", text="西北地区的金额总和是多少?", kind="none", gold=()),
    ]


def spanish_sales() -> list[Row]:
    """Date, shop, seller, units, amount."""
    source = random.Random(1508)
    return [
        (
            date(2025, 1, 1) + timedelta(days=source.randrange(365)),
            source.choice(("Sevilla", "Bilbao", "Murcia")),
            source.choice(("Lucía", "Íñigo", "Carmen", "Raúl")),
            source.randrange(1, 90),
            source.randrange(500, 99_000) / 100,
        )
        for _ in range(80)
    ]


def _spanish_sales(path: Path) -> None:
    header = ("Fecha", "Tienda", "Vendedor", "Unidades", "Importe (€)")
    write_sheets(path, {"Ventas": [header, *spanish_sales()]}, {1: "dd/mm/yyyy", 5: "#,##0.00"})


def _spanish_questions() -> list[Q]:
    rows, t = spanish_sales(), "<ventas.xlsx>"
    return [
        Q(
            language="es",
            text="¿Cuál es la suma del importe de la tienda Sevilla?",
            kind="sum",
            gold=(round(sum(r[4] for r in rows if r[1] == "Sevilla"), 2),),
            sql=f"SELECT ROUND(SUM([Importe]), 2) FROM {t} WHERE [Tienda] = 'Sevilla'",
        ),
        Q(
            language="es",
            text="¿Cuántas ventas hizo Íñigo?",
            kind="count",
            gold=(sum(r[2] == "Íñigo" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Vendedor] = 'Íñigo'",
        ),
        Q(
            language="es",
            text="Promedio de unidades por tienda",
            kind="group",
            gold=tuple(mean(r[3] for r in rows if r[1] == s) for s in ("Bilbao", "Murcia", "Sevilla")),
            sql=f"SELECT [Tienda], AVG([Unidades]) FROM {t} GROUP BY [Tienda]",
        ),
        Q(
            language="es",
            text="¿Qué vendedor tiene el mayor importe total?",
            kind="top",
            gold=(
                max(("Lucía", "Íñigo", "Carmen", "Raúl"), key=lambda n: sum(r[4] for r in rows if r[2] == n)),
            ),
            sql=f"SELECT [Vendedor], SUM([Importe]) AS s FROM {t} GROUP BY [Vendedor] ORDER BY s DESC LIMIT 1",
        ),
        Q(language="es", text="¿Cuál es la suma del importe de la tienda Granada?", kind="none", gold=()),
    ]


MAKERS = {
    "ausgaben.csv": _expenses,
    "filialumsatz.xlsx": _turnover,
    "销售记录.csv": _chinese_sales,
    "ventas.xlsx": _spanish_sales,
}


def questions() -> list[Q]:
    return [
        *_expense_questions(),
        *_turnover_questions(),
        *_chinese_questions(),
        *_spanish_questions(),
    ]
