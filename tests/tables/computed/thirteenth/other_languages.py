# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, cast

import openpyxl

from tests.tables.computed.made_files import german, made, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion


def consumption() -> list[Row]:
    """Site, kind of energy, four quarters in kWh."""
    return [
        ("Werk Nord", "Strom", 18_420, 16_905, 17_310, 19_260),
        ("Werk Süd", "Strom", 22_150, 21_480, 20_975, 23_610),
        ("Lager", "Strom", 6_340, 5_210, 4_985, 6_720),
        ("Verwaltung", "Strom", 3_875, 3_420, 3_190, 4_015),
        ("Werk Nord", "Gas", 31_200, 14_850, 6_420, 28_730),
        ("Werk Süd", "Gas", 27_640, 12_380, 5_910, 25_115),
        ("Lager", "Gas", 11_905, 4_275, 1_130, 10_640),
        ("Verwaltung", "Gas", 8_760, 3_615, 940, 8_205),
    ]


def meters() -> list[Row]:
    """Meter, place, day of reading, cubic metres, radio."""
    return [
        ("WZ-3101", "Werk Nord", date(2025, 1, 14), 4812, "ja"),
        ("WZ-3102", "Werk Nord", date(2025, 2, 3), 1290, "nein"),
        ("WZ-3103", "Werk Süd", date(2025, 1, 14), 7745, "ja"),
        ("WZ-3104", "Werk Süd", date(2025, 2, 11), 933, "ja"),
        ("WZ-3105", "Werk Süd", date(2025, 1, 28), 2416, "nein"),
        ("WZ-3106", "Lager", date(2025, 2, 4), 588, "nein"),
        ("WZ-3107", "Verwaltung", date(2025, 1, 30), 1671, "ja"),
    ]


def articles() -> list[Row]:
    """Code, article, family, stock, minimum, price, last order."""
    return [
        ("A-101", "Tornillo M6", "Tornillería", 1450, 500, 0.12, date(2025, 3, 18)),
        ("A-104", "Tuerca M6", "Tornillería", 980, 1000, 0.08, date(2024, 11, 5)),
        ("A-107", "Arandela plana", "Tornillería", 2310, 800, 0.05, date(2025, 1, 22)),
        ("B-210", "Taladro percutor", "Herramienta", 6, 4, 89.9, date(2024, 6, 14)),
        ("B-215", "Llave inglesa", "Herramienta", 11, 5, 18.75, date(2024, 9, 30)),
        ("B-220", "Amoladora", "Herramienta", 3, 4, 74.5, date(2025, 2, 27)),
        ("B-226", "Nivel láser", "Herramienta", 2, 2, 129.0, date(2023, 12, 11)),
        ("C-301", "Pintura blanca", "Pintura", 42, 30, 24.6, date(2025, 4, 9)),
        ("C-304", "Esmalte negro", "Pintura", 17, 20, 31.2, date(2025, 4, 9)),
        ("C-309", "Disolvente universal", "Pintura", 28, 12, 6.35, date(2024, 10, 17)),
        ("D-402", "Guantes de nitrilo", "Protección", 260, 300, 0.45, date(2025, 5, 6)),
        ("D-405", "Casco de obra", "Protección", 19, 15, 14.9, date(2024, 3, 8)),
    ]


def budget() -> list[Row]:
    """Branch, person, planned, spent, share used, closed."""
    people = (
        ("Sport", "Mme Girard", 12500, 9875, "oui"),
        ("Culture", "M. Lefort", 8400, 8946, "non"),
        ("Jeunesse", "Mme Girard", 6200, 2418, "non"),
        ("Communication", "M. Benali", 3500, 1610, "oui"),
        ("Solidarité", "Mme Tran", 9600, 10272, "non"),
        ("Bâtiments", "M. Lefort", 15800, 11218, "oui"),
        ("Fêtes", "Mme Tran", 4100, 1845, "non"),
    )
    return [(*row[:4], f"{100 * row[3] // row[2]} %", row[4]) for row in people]


def shops() -> list[Row]:
    """Region, shop, manager, opened, sales of January, February and March."""
    return [
        ("华东", "徐汇店", "周敏", date(2016, 5, 20), 86.4, 72.1, 91.5),
        ("华东", "南京店", "陈立", date(2018, 9, 8), 64.2, 58.9, 61.3),
        ("华东", "杭州店", "许丹", date(2021, 3, 12), 71.8, 49.6, 75.0),
        ("华南", "天河店", "黄伟", date(2015, 11, 1), 93.7, 80.4, 97.2),
        ("华南", "南山店", "林静", date(2022, 6, 18), 58.3, 44.7, 60.9),
        ("华北", "朝阳店", "王磊", date(2014, 4, 26), 102.5, 88.8, 99.1),
        ("华北", "天津店", "赵欣", date(2020, 10, 10), 47.9, 41.2, 52.6),
        ("华北", "石家庄店", "孙浩", date(2023, 1, 15), 35.6, 30.8, 38.4),
    ]


def _energy(path: Path) -> None:
    def total(name: str) -> Row:
        return ("Summe " + name, "", *(sum(r[n] for r in consumption() if r[1] == name) for n in range(2, 6)))

    quarters = tuple(f"{n}. Quartal (kWh)" for n in range(1, 5))
    rows: list[Row] = [
        ("Energieverbrauch der Standorte 2024",),
        (),
        ("Standort", "Energie", *quarters),
        *consumption()[:4],
        total("Strom"),
        *consumption()[4:],
        total("Gas"),
        (),
        (),
        ("Liste der Wasserzähler",),
        ("Zählernummer", "Einbauort", "Abgelesen am", "Zählerstand (m³)", "Funkzähler"),
        *meters(),
    ]
    write_sheets(path, {"Verbrauch": rows}, dict.fromkeys((4, 5, 6), "#,##0"))


def _budget(path: Path) -> None:
    header = ("Pôle", "Responsable", "Prévu (€)", "Dépensé (€)", "Consommé", "Clos")
    total = ("Total", "", sum(r[2] for r in budget()), sum(r[3] for r in budget()), "", "")
    lines = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in (*budget(), total)]
    head = "".join(f"<th>{cell}</th>" for cell in header)
    path.write_text(
        "<!doctype html><html lang='fr'><head><meta charset='utf-8'><title>Budget</title></head><body>"
        "<h1>Budget 2025 de l'association</h1><p>Situation au 30 juin.</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></body></html>",
        encoding="utf-8",
    )


def _shops(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = cast("Any", book.active)
    sheet.title = "一季度"
    sheet.append(("2025年第一季度门店销售额(万元)",))
    sheet.merge_cells("A1:G1")
    sheet.append(("大区", "门店", "店长", "开业日期", "一月", "二月", "三月"))
    regions = list(dict.fromkeys(row[0] for row in shops()))
    for region in regions:
        own = [row for row in shops() if row[0] == region]
        first = sheet.max_row + 1
        for row in own:
            sheet.append((region if row is own[0] else None, *row[1:]))
        sheet.merge_cells(f"A{first}:A{first + len(own) - 1}")
        sheet.append((f"{region}小计", None, None, None, *_months(own)))
    sheet.append(("合计", None, None, None, *_months(shops())))
    for cell in sheet["D"]:
        cell.number_format = "yyyy/m/d"
    book.save(path)


def _months(rows: list[Row]) -> list[float]:
    return [round(sum(row[n] for row in rows), 1) for n in (4, 5, 6)]


MAKERS = {
    "Energie 2024.xlsx": _energy,
    "inventario taller.csv": made(
        ("Código", "Artículo", "Familia", "Existencias", "Mínimo", "Precio", "Último pedido"),
        [(*r[:5], f"{german(r[5])} €", f"{r[6]:%d/%m/%Y}") for r in articles()],
        delimiter=";",
    ),
    "budget association.html": _budget,
    "门店销售.xlsx": _shops,
}


def questions() -> list[Q]:
    return [*_german(), *_spanish(), *_french(), *_chinese()]


def _german() -> list[Q]:
    rows, dials, q = consumption(), meters(), asker("de")
    # Both tables are on one sheet: the columns tell them apart.
    t = m = "<Energie 2024.xlsx#Verbrauch>"
    power = [r for r in rows if r[1] == "Strom"]
    places = {p: sum(r[1] == p for r in dials) for p in sorted({r[1] for r in dials})}
    first = "1. Quartal (kWh)"
    return [
        q("Wie viel Strom hat das Werk Süd 2024 insgesamt verbraucht?", "sum", (sum(power[1][2:]),), f"SELECT [1. Quartal] + [2. Quartal] + [3. Quartal] + [4. Quartal] FROM {t} WHERE [Standort] = 'Werk Süd' AND [Energie] = 'Strom'"),
        q("Stromverbrauch aller Standorte im 3. Quartal", "sum", (sum(r[4] for r in power),), f"SELECT SUM([3. Quartal]) FROM {t} WHERE [Energie] = 'Strom'"),
        q("Welcher Standort hatte im 1. Quartal den höchsten Gasverbrauch?", "extreme", ("Werk Nord",), f"SELECT [Standort], [{first}] FROM {t} WHERE [Energie] = 'Gas' ORDER BY [{first}] DESC LIMIT 1"),
        q("wieviele Funkzähler haben wir", "count", (sum(r[4] == "ja" for r in dials),), f"SELECT COUNT(*) FROM {m} WHERE [Funkzähler] = 1"),
        q("Welche Wasserzähler wurden vor dem 1. Februar 2025 abgelesen?", "dates", tuple(r[0] for r in dials if r[2] < date(2025, 2, 1)), f"SELECT [Zählernummer] FROM {m} WHERE [Abgelesen am] < '2025-02-01'"),
        q("Anzahl der Zähler je Einbauort", "group", tuple(places.values()), f"SELECT [Einbauort], COUNT(*) FROM {m} GROUP BY [Einbauort]"),
        q("Wie viel Prozent des Stroms im ersten Quartal entfielen auf das Lager?", "sum", (100 * power[2][2] / sum(r[2] for r in power),), f"SELECT 100.0 * SUM(CASE WHEN [Standort] = 'Lager' THEN [{first}] ELSE 0 END) / SUM([{first}]) FROM {t} WHERE [Energie] = 'Strom'"),
        q("Zählerstand von WZ-3107?", "lookup", (1671,), f"SELECT [Zählerstand] FROM {m} WHERE [Zählernummer] = 'WZ-3107'"),
        q("Wann wurde WZ-3104 abgelesen", "lookup", ("2025-02-11",), f"SELECT [Abgelesen am] FROM {m} WHERE [Zählernummer] = 'WZ-3104'"),
        q("Strom Verwaltung 2. Quartal", "lookup", (3420,), f"SELECT [2. Quartal] FROM {t} WHERE [Standort] = 'Verwaltung' AND [Energie] = 'Strom'"),
        q("Wie hoch war der Heizölverbrauch im Werk Nord?", "none", ()),
        q("Stromverbrauch der Filiale Ost im 1. Quartal", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t, q = articles(), "<inventario taller.csv>", asker("es")
    families = {f: sum(r[2] == f for r in rows) for f in sorted({r[2] for r in rows})}
    return [
        q("¿Cuántas unidades de tornillería hay en total?", "sum", (sum(r[3] for r in rows if r[2] == "Tornillería"),), f"SELECT SUM([Existencias]) FROM {t} WHERE [Familia] = 'Tornillería'"),
        q("artículos con existencias por debajo del mínimo", "filter", tuple(r[1] for r in rows if r[3] < r[4]), f"SELECT [Artículo] FROM {t} WHERE [Existencias] < [Mínimo]"),
        q("¿qué artículo es el más caro?", "extreme", ("Nivel láser",), f"SELECT [Artículo], [Precio] FROM {t} ORDER BY [Precio] DESC LIMIT 1"),
        q("precio medio de la familia Pintura", "average", (mean(r[5] for r in rows if r[2] == "Pintura"),), f"SELECT AVG([Precio]) FROM {t} WHERE [Familia] = 'Pintura'"),
        q("Dime cuántos artículos tenemos por familia, por favor.", "group", tuple(families.values()), f"SELECT [Familia], COUNT(*) FROM {t} GROUP BY [Familia]"),
        q("¿Cuántos artículos tienen el último pedido en 2024?", "dates", (sum(r[6].year == 2024 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Último pedido] BETWEEN '2024-01-01' AND '2024-12-31'"),
        q("los 3 artículos con más existencias", "top", tuple(r[1] for r in sorted(rows, key=lambda r: -r[3])[:3]), f"SELECT [Artículo], [Existencias] FROM {t} ORDER BY [Existencias] DESC LIMIT 3"),
        q("existencias de A-104", "lookup", (980,), f"SELECT [Existencias] FROM {t} WHERE [Código] = 'A-104'"),
        q("¿Cuánto cuesta el disolvente universal?", "lookup", (6.35,), f"SELECT [Precio] FROM {t} WHERE [Artículo] = 'Disolvente universal'"),
        q("¿Cuál es el peso del artículo A-104?", "none", ()),
        q("existencias de A-140", "none", ()),
        q("cuántas unidades hay de la familia Jardinería", "none", ()),
    ]  # fmt: skip


def _french() -> list[Q]:
    rows, t, q = budget(), "<budget association.html>", asker("fr")
    spent = sum(r[3] for r in rows)
    return [
        q("Combien a-t-on dépensé en tout, tous pôles confondus ?", "sum", (spent,), f"SELECT SUM([Dépensé]) FROM {t} WHERE [Responsable] IS NOT NULL"),
        q("quels pôles ont dépensé plus que prévu", "filter", tuple(r[0] for r in rows if r[3] > r[2]), f"SELECT [Pôle] FROM {t} WHERE [Dépensé] > [Prévu] AND [Responsable] IS NOT NULL"),
        q("nombre de pôles qui ont consommé moins de 50 %", "filter", (sum(100 * r[3] // r[2] < 50 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Consommé] < 50"),
        q("Quel est le budget prévu total des pôles de Mme Girard ?", "sum", (18700,), f"SELECT SUM([Prévu]) FROM {t} WHERE [Responsable] = 'Mme Girard'"),
        q("dépense moyenne par pôle", "average", (spent / len(rows),), f"SELECT AVG([Dépensé]) FROM {t} WHERE [Responsable] IS NOT NULL"),
        q("les deux plus gros budgets prévus, svp", "top", tuple(r[0] for r in sorted(rows, key=lambda r: -r[2])[:2]), f"SELECT [Pôle], [Prévu] FROM {t} WHERE [Responsable] IS NOT NULL ORDER BY [Prévu] DESC LIMIT 2"),
        q("combien de budgets sont déjà clos ?", "count", (sum(r[5] == "oui" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Clos] = 1"),
        q("qui est responsable du pôle Solidarité ?", "lookup", ("Mme Tran",), f"SELECT [Responsable] FROM {t} WHERE [Pôle] = 'Solidarité'"),
        q("montant prévu pour la Culture", "lookup", (8400,), f"SELECT [Prévu] FROM {t} WHERE [Pôle] = 'Culture'"),
        q("Combien d'adhérents compte le pôle Sport ?", "none", ()),
        q("dépenses du pôle Environnement", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t, q = shops(), "<门店销售.xlsx#一季度>", asker("zh")
    regions = {r: sum(row[0] == r for row in rows) for r in sorted({row[0] for row in rows})}
    return [
        q("华东大区一月销售额合计是多少？", "sum", (round(sum(r[4] for r in rows if r[0] == "华东"), 1),), f"SELECT SUM([一月]) FROM {t} WHERE [大区] = '华东'"),
        q("三月销售额最高的门店是哪家", "extreme", ("朝阳店",), f"SELECT [门店], [三月] FROM {t} WHERE [门店] IS NOT NULL ORDER BY [三月] DESC LIMIT 1"),
        q("各大区分别有几家门店？", "group", tuple(regions.values()), f"SELECT [大区], COUNT(*) FROM {t} WHERE [门店] IS NOT NULL GROUP BY [大区]"),
        q("二月销售额低于50的门店数量", "filter", (sum(r[5] < 50 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [门店] IS NOT NULL AND [二月] < 50"),
        q("2020年1月1日之后开业的门店有哪些？", "dates", tuple(r[1] for r in rows if r[3] > date(2020, 1, 1)), f"SELECT [门店] FROM {t} WHERE [开业日期] > '2020-01-01'"),
        q("三月销售额比一月高的门店有几家？", "filter", (sum(r[6] > r[4] for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [门店] IS NOT NULL AND [三月] > [一月]"),
        q("南京店的店长是谁", "lookup", ("陈立",), f"SELECT [店长] FROM {t} WHERE [门店] = '南京店'"),
        q("天河店二月卖了多少？", "lookup", (80.4,), f"SELECT [二月] FROM {t} WHERE [门店] = '天河店'"),
        q("武汉店三月的销售额", "none", ()),
        q("杭州店的营业面积是多少平方米？", "none", ()),
    ]  # fmt: skip
