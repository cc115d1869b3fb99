# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

Q = ComputedQuestion


def store() -> list[Row]:
    """Number, name, group, pieces, least pieces, price, place, last counted."""
    return [
        ("W-1001", "Sechskantschraube M8", "Schrauben", 1240, 500, 0.12, "Regal A1", date(2025, 3, 14)),
        ("W-1002", "Holzschraube 5x60", "Schrauben", 310, 400, 0.09, "Regal A1", date(2025, 6, 2)),
        ("W-1003", "Unterlegscheibe M8", "Schrauben", 2050, 800, 0.03, "Regal A2", date(2025, 3, 14)),
        ("W-1004", "Akkuschrauber 18 V", "Werkzeug", 6, 4, 149.9, "Schrank 2", date(2025, 1, 20)),
        ("W-1005", "Winkelschleifer", "Werkzeug", 3, 3, 89.5, "Schrank 2", date(2025, 1, 20)),
        ("W-1006", "Gehörschutz", "Arbeitsschutz", 14, 20, 17.95, "Schrank 1", date(2025, 7, 28)),
        ("W-1007", "Schutzbrille", "Arbeitsschutz", 22, 15, 8.4, "Schrank 1", date(2025, 7, 28)),
        ("W-1008", "Handschuhe Gr. 9", "Arbeitsschutz", 48, 60, 3.25, "Schrank 1", date(2025, 5, 5)),
        ("W-1009", "Sägeblatt 190 mm", "Verbrauch", 17, 10, 24.8, "Regal B3", date(2025, 6, 2)),
        ("W-1010", "Schleifpapier K120", "Verbrauch", 135, 100, 0.75, "Regal B3", date(2025, 4, 11)),
        ("W-1011", "Montagekleber 310 ml", "Verbrauch", 9, 24, 6.6, "Regal B1", date(2025, 4, 11)),
        ("W-1012", "Bohrerset HSS", "Werkzeug", 5, 2, 42.0, "Schrank 2", date(2025, 6, 2)),
    ]


def members() -> list[Row]:
    """Number, name, section, town, joined, yearly fee, federated."""
    return [
        (1204, "Irene Camacho", "Natación", "Getafe", date(2016, 9, 19), 310.5, "sí"),
        (1211, "Raúl Espinosa", "Tenis", "Leganés", date(2018, 2, 26), 425.0, "no"),
        (1215, "Begoña Arias", "Natación", "Getafe", date(2019, 10, 14), 310.5, "sí"),
        (1222, "Julián Robles", "Atletismo", "Madrid", date(2020, 1, 30), 180.0, "sí"),
        (1230, "Noelia Prado", "Tenis", "Getafe", date(2021, 5, 17), 425.0, "sí"),
        (1238, "Fermín Lozano", "Ajedrez", "Leganés", date(2021, 11, 22), 95.25, "no"),
        (1241, "Aitana Crespo", "Atletismo", "Getafe", date(2022, 3, 28), 180.0, "no"),
        (1249, "Gonzalo Mira", "Natación", "Madrid", date(2023, 6, 13), 290.0, "no"),
        (1256, "Estela Vives", "Tenis", "Leganés", date(2023, 9, 25), 450.0, "no"),
        (1263, "Omar Benali", "Atletismo", "Leganés", date(2024, 1, 16), 180.0, "sí"),
        (1270, "Celia Pastor", "Natación", "Leganés", date(2024, 4, 29), 290.0, "no"),
    ]


def tests() -> list[Row]:
    """Sample, material, day, strength, thickness, operator, passed."""
    source = random.Random(1505)
    rows: list[Row] = []
    for n in range(18):
        strength = source.randrange(2_100, 6_400) / 10
        rows.append(
            (
                f"YP-{301 + n}",
                source.choice(("铝合金", "不锈钢", "碳纤维")),
                date(2025, 5, 6) + timedelta(days=4 * n),
                strength,
                source.choice((1.2, 1.5, 2.0, 2.5)),
                source.choice(("何静", "罗伟", "邓丽")),
                "是" if strength >= 300 else "否",
            )
        )
    return rows


MAKERS = {
    "werkstattlager.xlsx": made(
        ("Artikelnr.", "Bezeichnung", "Warengruppe", "Bestand", "Mindestbestand", "Stückpreis (€)", "Lagerort", "Letzte Inventur"),
        store(),
        sheet="Lager",
        formats={6: "#,##0.00", 8: "dd.mm.yyyy"},
    ),
    "socios del club.csv": made(
        ("Nº socio", "Nombre", "Sección", "Localidad", "Fecha de alta", "Cuota anual (€)", "Federado"),
        [(*r[:4], f"{r[4]:%d/%m/%Y}", german(r[5]), r[6]) for r in members()],
        delimiter=";",
    ),
    "材料测试.xlsx": made(("样品编号", "材料", "测试日期", "抗拉强度(MPa)", "厚度(mm)", "操作员", "合格"), tests(), sheet="测试"),
}  # fmt: skip


def questions() -> list[Q]:
    return [*_german(), *_spanish(), *_chinese()]


def _german() -> list[Q]:
    rows, t, q = store(), "<werkstattlager.xlsx>", asker("de")
    groups = {g: sum(r[3] for r in rows if r[2] == g) for g in sorted({r[2] for r in rows})}
    short = [r for r in rows if r[3] < r[4]]
    return [
        q("Welche Artikel liegen unter dem Mindestbestand?", "filter", tuple(r[1] for r in short), f"SELECT [Bezeichnung] FROM {t} WHERE [Bestand] < [Mindestbestand]"),
        q("was ist der gesamte lagerwert (bestand mal stückpreis) vom werkzeug", "sum", (round(sum(r[3] * r[5] for r in rows if r[2] == "Werkzeug"), 2),), f"SELECT SUM([Bestand] * [Stückpreis]) FROM {t} WHERE [Warengruppe] = 'Werkzeug'"),
        q("teuerster artikel im lager?", "extreme", (max(rows, key=lambda r: r[5])[1],), f"SELECT [Bezeichnung], [Stückpreis] FROM {t} ORDER BY [Stückpreis] DESC LIMIT 1"),
        q("Gesamtbestand je Warengruppe bitte", "group", tuple(groups.values()), f"SELECT [Warengruppe], SUM([Bestand]) FROM {t} GROUP BY [Warengruppe]"),
        q("wie viele artikel wurden seit dem 1. juni 2025 gezählt", "dates", (sum(r[7] >= date(2025, 6, 1) for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Letzte Inventur] >= '2025-06-01'"),
        q("Wo finde ich die Schutzbrillen?", "lookup", ("Schrank 1",), f"SELECT [Lagerort] FROM {t} WHERE [Bezeichnung] = 'Schutzbrille'"),
        q("was kostet ein winkelschleifer", "lookup", (89.5,), f"SELECT [Stückpreis] FROM {t} WHERE [Bezeichnung] = 'Winkelschleifer'"),
        q("Bei welchem Lieferanten bestellen wir den Montagekleber?", "none", ()),
        q("Bestand von W-1021", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t, q = members(), "<socios del club.csv>", asker("es")
    sections = {s: round(sum(r[5] for r in rows if r[2] == s), 2) for s in sorted({r[2] for r in rows})}
    return [
        q("¿Cuánto ingresamos al año por las cuotas de los socios?", "sum", (round(sum(r[5] for r in rows), 2),), f"SELECT SUM([Cuota anual]) FROM {t}"),
        q("socios de Leganés que no están federados", "filter", tuple(r[1] for r in rows if r[3] == "Leganés" and r[6] == "no"), f"SELECT [Nombre] FROM {t} WHERE [Localidad] = 'Leganés' AND [Federado] = 0"),
        q("cuántos se apuntaron después del 1 de enero de 2022", "dates", (sum(r[4] > date(2022, 1, 1) for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Fecha de alta] > '2022-01-01'"),
        q("quién es el socio más antiguo", "extreme", (min(rows, key=lambda r: r[4])[1],), f"SELECT [Nombre], [Fecha de alta] FROM {t} ORDER BY [Fecha de alta] LIMIT 1"),
        q("Dime la suma de cuotas de cada sección, por favor", "group", tuple(sections.values()), f"SELECT [Sección], SUM([Cuota anual]) FROM {t} GROUP BY [Sección]"),
        q("¿de dónde es Noelia Prado?", "lookup", ("Getafe",), f"SELECT [Localidad] FROM {t} WHERE [Nombre] = 'Noelia Prado'"),
        q("número de socio de Celia Pastor", "lookup", (1270,), f"SELECT [Nº socio] FROM {t} WHERE [Nombre] = 'Celia Pastor'"),
        q("teléfono de Omar Benali", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t, q = tests(), "<材料测试.xlsx>", asker("zh")
    strongest = sorted(rows, key=lambda r: r[3], reverse=True)[:3]
    people = {p: sum(r[5] == p for r in rows) for p in ("何静", "罗伟", "邓丽")}
    return [
        q("不锈钢样品的平均抗拉强度是多少？", "average", (mean(r[3] for r in rows if r[1] == "不锈钢"),), f"SELECT AVG([抗拉强度(MPa)]) FROM {t} WHERE [材料] = '不锈钢'"),
        q("有几个样品不合格", "count", (sum(r[6] == "否" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [合格] = 0"),
        q("强度最高的三个样品是哪些？", "top", tuple(r[0] for r in strongest), f"SELECT [样品编号], [抗拉强度(MPa)] FROM {t} ORDER BY [抗拉强度(MPa)] DESC LIMIT 3"),
        q("每个操作员各测了多少个样品", "group", tuple(people.values()), f"SELECT [操作员], COUNT(*) FROM {t} GROUP BY [操作员]"),
        q("2025年6月一共做了多少次测试？", "dates", (sum(r[2].month == 6 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [测试日期] BETWEEN '2025-06-01' AND '2025-06-30'"),
        q("YP-309是谁测的", "lookup", (rows[8][5],), f"SELECT [操作员] FROM {t} WHERE [样品编号] = 'YP-309'"),
        q("请问YP-314的厚度", "lookup", (rows[13][4],), f"SELECT [厚度(mm)] FROM {t} WHERE [样品编号] = 'YP-314'"),
        q("钛合金样品的强度是多少", "none", ()),
    ]  # fmt: skip
