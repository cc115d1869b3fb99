# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import made, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion


def pupils() -> list[Row]:
    """Pupil, maths, German, English, sports, days missed, group, born."""
    return [
        ("Lea Brandt", 2.3, 1.7, 2.0, 1.0, 3, "Chor", date(2011, 4, 18)),
        ("Mehmet Aydin", 1.3, 2.7, 2.3, 2.0, 0, "Schach", date(2011, 9, 2)),
        ("Finn Okafor", 3.7, 3.0, 3.3, 1.3, 7, "Fußball", date(2010, 12, 27)),
        ("Clara Wegner", 1.0, 1.3, 1.7, 2.7, 1, "Chor", date(2011, 6, 5)),
        ("Jonathan Pohl", 4.3, 3.7, 4.0, 2.3, 12, "Fußball", date(2010, 11, 13)),
        ("Amira Haddou", 2.0, 2.0, 1.3, 1.7, 2, "Theater", date(2011, 2, 21)),
        ("Niklas Stamm", 5.0, 4.0, 3.7, 1.0, 9, "Fußball", date(2010, 8, 30)),
        ("Sophie Lorenz", 2.7, 2.3, 3.0, 3.0, 5, "Theater", date(2011, 7, 16)),
        ("Tim Vollmer", 3.3, 4.3, 4.7, 2.0, 4, "Schach", date(2011, 1, 9)),
        ("Elif Sahin", 1.7, 1.0, 1.0, 2.3, 0, "Chor", date(2011, 10, 24)),
    ]


def bookings() -> list[Row]:
    """Day, room, start, hours, department, people, coffee, cost."""
    source = random.Random(1603)
    rows: list[Row] = []
    for n in range(26):
        hours = source.choice((1, 1.5, 2, 3, 4))
        room = source.choice(("Ebro", "Duero", "Tajo"))
        rows.append(
            (
                date(2025, 3, 3) + timedelta(days=3 * n // 2),
                room,
                source.choice(("09:00", "10:30", "12:00", "15:30", "17:00")),
                hours,
                source.choice(("Ventas", "Compras", "Formación", "Dirección")),
                source.randrange(3, 24),
                source.choice(("sí", "no", "no")),
                round(hours * {"Ebro": 22, "Duero": 35.5, "Tajo": 18}[room], 2),
            )
        )
    return rows


def movements() -> list[Row]:
    """Number, day, goods, in or out, pieces, warehouse, by whom."""
    source = random.Random(1604)
    return [
        (
            f"CK{2025060 + n}",
            date(2025, 7, 1) + timedelta(days=n * 5 // 3),
            source.choice(("电缆", "开关", "灯管", "插座")),
            source.choice(("入库", "入库", "出库")),
            source.randrange(4, 60) * 5,
            source.choice(("东库", "西库")),
            source.choice(("马军", "林雪", "高峰")),
        )
        for n in range(30)
    ]


def _marks(path: Path) -> None:
    rows = pupils()
    average = [round(mean(r[i] for r in rows), 2) for i in range(1, 5)]
    lines: list[Row] = [
        ("Klasse 8b – Halbjahresnoten",),
        (),
        ("Schüler/in", "Mathe", "Deutsch", "Englisch", "Sport", "Fehltage", "AG", "Geburtsdatum"),
        *rows,
        ("Durchschnitt", *average, "", "", ""),
    ]
    write_sheets(path, {"8b": lines}, {2: "0.0", 3: "0.0", 4: "0.0", 5: "0.0", 8: "dd.mm.yyyy"})


MAKERS = {
    "noten 8b.xlsx": _marks,
    "reservas de salas.xlsx": made(
        ("Fecha", "Sala", "Inicio", "Horas", "Departamento", "Asistentes", "Café", "Coste (€)"), bookings(), sheet="Reservas", formats={1: "dd/mm/yyyy", 8: "#,##0.00"}
    ),
    "出入库记录.csv": made(("单号", "日期", "品名", "类型", "数量", "仓库", "经手人"), movements()),
}  # fmt: skip


def questions() -> list[Q]:
    return [*_german(), *_spanish(), *_chinese()]


def _german() -> list[Q]:
    rows, t, q = pupils(), "<noten 8b.xlsx>", asker("de")
    who = "[Schüler/in] <> 'Durchschnitt'"
    groups = {g: sum(r[6] == g for r in rows) for g in sorted({r[6] for r in rows})}
    return [
        q("Wer hat die beste Note in Englisch?", "extreme", ("Elif Sahin",), f"SELECT [Schüler/in], [Englisch] FROM {t} WHERE {who} ORDER BY [Englisch] LIMIT 1"),
        q("wie viele schüler haben in mathe schlechter als 3,0", "filter", (sum(r[1] > 3 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE {who} AND [Mathe] > 3"),
        q("Fehltage der ganzen Klasse zusammen?", "sum", (sum(r[5] for r in rows),), f"SELECT SUM([Fehltage]) FROM {t} WHERE {who}"),
        q("Mathedurchschnitt von den Kindern in der Fußball-AG", "average", (mean(r[1] for r in rows if r[6] == "Fußball"),), f"SELECT AVG([Mathe]) FROM {t} WHERE [AG] = 'Fußball'"),
        q("Teilnehmerzahl pro AG", "group", tuple(groups.values()), f"SELECT [AG], COUNT(*) FROM {t} WHERE {who} GROUP BY [AG]"),
        q("wer ist 2010 geboren", "dates", tuple(r[0] for r in rows if r[7].year == 2010), f"SELECT [Schüler/in] FROM {t} WHERE [Geburtsdatum] BETWEEN '2010-01-01' AND '2010-12-31'"),
        q("Welche Note hat Tim Vollmer in Deutsch bekommen?", "lookup", (4.3,), f"SELECT [Deutsch] FROM {t} WHERE [Schüler/in] = 'Tim Vollmer'"),
        q("geburtstag von amira", "lookup", ("2011-02-21",), f"SELECT [Geburtsdatum] FROM {t} WHERE [Schüler/in] = 'Amira Haddou'"),
        q("Note von Clara Wegner in Physik", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t, q = bookings(), "<reservas de salas.xlsx>", asker("es")
    hours = {s: sum(r[3] for r in rows if r[1] == s) for s in ("Ebro", "Duero", "Tajo")}
    cost = {
        d: round(sum(r[7] for r in rows if r[4] == d), 2)
        for d in ("Ventas", "Compras", "Formación", "Dirección")
    }
    return [
        q("¿cuántas horas se ha reservado cada sala?", "group", tuple(hours.values()), f"SELECT [Sala], SUM([Horas]) FROM {t} GROUP BY [Sala]"),
        q("qué departamento ha gastado más en salas", "extreme", (max(cost, key=lambda d: cost[d]),), f"SELECT [Departamento], SUM([Coste]) FROM {t} GROUP BY [Departamento] ORDER BY 2 DESC LIMIT 1"),
        q("Reservas con más de 15 personas, ¿cuántas hay?", "filter", (sum(r[5] > 15 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Asistentes] > 15"),
        q("coste total de las reservas de abril de 2025", "dates", (round(sum(r[7] for r in rows if r[0].month == 4), 2),), f"SELECT SUM([Coste]) FROM {t} WHERE [Fecha] BETWEEN '2025-04-01' AND '2025-04-30'"),
        q("media de asistentes en la sala Duero", "average", (mean(r[5] for r in rows if r[1] == "Duero"),), f"SELECT AVG([Asistentes]) FROM {t} WHERE [Sala] = 'Duero'"),
        q("veces que Ventas pidió café", "count", (sum(r[4] == "Ventas" and r[6] == "sí" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Departamento] = 'Ventas' AND [Café] = 1"),
        q("¿Cuánto costó la sala Guadiana?", "none", ()),
        q("¿quién firmó las reservas de Compras? nombre de la persona", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t, q = movements(), "<出入库记录.csv>", asker("zh")
    goods = {
        g: sum(r[4] for r in rows if r[2] == g and r[3] == "出库") for g in ("电缆", "开关", "灯管", "插座")
    }
    into = {p: sum(r[6] == p for r in rows) for p in ("马军", "林雪", "高峰")}
    return [
        q("一共入库了多少件？", "sum", (sum(r[4] for r in rows if r[3] == "入库"),), f"SELECT SUM([数量]) FROM {t} WHERE [类型] = '入库'"),
        q("哪种货出库最多", "extreme", (max(goods, key=lambda g: goods[g]),), f"SELECT [品名], SUM([数量]) FROM {t} WHERE [类型] = '出库' GROUP BY [品名] ORDER BY 2 DESC LIMIT 1"),
        q("西库的记录有几条？", "count", (sum(r[5] == "西库" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [仓库] = '西库'"),
        q("每个经手人办了多少单", "group", tuple(into.values()), f"SELECT [经手人], COUNT(*) FROM {t} GROUP BY [经手人]"),
        q("麻烦查一下8月上半月（1日到15日）有多少条出库记录", "dates", (sum(r[3] == "出库" and r[1].month == 8 and r[1].day <= 15 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [类型] = '出库' AND [日期] BETWEEN '2025-08-01' AND '2025-08-15'"),
        q("CK2025071是什么货", "lookup", (rows[11][2],), f"SELECT [品名] FROM {t} WHERE [单号] = 'CK2025071'"),
        q("单号CK2025083的数量是多少？", "lookup", (rows[23][4],), f"SELECT [数量] FROM {t} WHERE [单号] = 'CK2025083'"),
        q("电缆的供应商是谁", "none", ()),
    ]  # fmt: skip
