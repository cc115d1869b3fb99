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
TRAVELLERS = ("Sabine Krüger", "Uwe Lang", "Petra Vogel", "Dirk Sommer", "Heike Busch")


def trips() -> list[Row]:
    """Day, traveller, destination, means, cost."""
    source = random.Random(3105)
    return [
        (
            date(2025, 1, 10) + timedelta(days=6 * n),
            source.choice(TRAVELLERS),
            source.choice(("Hamburg", "Wien", "Zürich", "Leipzig")),
            source.choice(("Bahn", "Flug", "Auto")),
            source.randrange(4_000, 120_000) / 100,
        )
        for n in range(40)
    ]


def _trips(path: Path) -> None:
    lines = [(d.strftime("%d.%m.%Y"), a, b, c, german(k)) for d, a, b, c, k in trips()]
    header = ("Datum", "Mitarbeiter", "Reiseziel", "Verkehrsmittel", "Kosten (EUR)")
    write_csv(path, [header, *lines], delimiter=";")


def _trip_questions() -> list[Q]:
    rows, t = trips(), "<reisekosten.csv>"
    costs = {name: round(sum(r[4] for r in rows if r[1] == name), 2) for name in TRAVELLERS}
    means = sorted({r[3] for r in rows})
    return [
        Q(language="de", text="Wie hoch waren die gesamten Reisekosten für Hamburg?", kind="sum",
          gold=(round(sum(r[4] for r in rows if r[2] == "Hamburg"), 2),),
          sql=f"SELECT SUM([Kosten]) FROM {t} WHERE [Reiseziel] = 'Hamburg'"),
        Q(language="de", text="Wie viele Reisen mit der Bahn gab es?", kind="count",
          gold=(sum(r[3] == "Bahn" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Verkehrsmittel] = 'Bahn'"),
        Q(language="de", text="Welcher Mitarbeiter hatte die höchsten Reisekosten insgesamt?", kind="extreme",
          gold=(max(costs, key=costs.__getitem__),),
          sql=f"SELECT [Mitarbeiter], SUM([Kosten]) AS s FROM {t} GROUP BY [Mitarbeiter] ORDER BY s DESC LIMIT 1"),
        Q(language="de", text="Durchschnittliche Kosten je Verkehrsmittel", kind="group",
          gold=tuple(mean(r[4] for r in rows if r[3] == m) for m in means),
          sql=f"SELECT [Verkehrsmittel], AVG([Kosten]) FROM {t} GROUP BY [Verkehrsmittel]"),
        Q(language="de", text="Wie viel hat Petra Vogel im April 2025 für Reisen ausgegeben?", kind="dates",
          gold=(round(sum(r[4] for r in rows if r[1] == "Petra Vogel" and r[0].month == 4), 2),),
          sql=f"SELECT SUM([Kosten]) FROM {t} WHERE [Mitarbeiter] = 'Petra Vogel' AND [Datum] BETWEEN '2025-04-01' AND '2025-04-30'"),
        Q(language="de", text="Wie hoch waren die Reisekosten für Paris?", kind="none", gold=()),
    ]  # fmt: skip


MACHINES = ("Fräse", "Drehbank", "Presse", "Säge", "Bohrwerk", "Schleifer", "Stanze", "Lackierer")


def machines() -> list[Row]:
    """Machine, hall, year, power in kW, next check."""
    source = random.Random(3106)
    return [
        (m, source.choice(("Halle 1", "Halle 2", "Halle 3")), source.randrange(1998, 2024), source.randrange(3, 80),
         date(2025, 5, 1) + timedelta(days=source.randrange(200)))
        for m in MACHINES
    ]  # fmt: skip


def _machines(path: Path) -> None:
    header = ("Maschine", "Standort", "Baujahr", "Leistung (kW)", "Nächste Prüfung")
    write_sheets(path, {"Maschinen": [header, *machines()]}, {5: "dd.mm.yyyy"})


def _machine_questions() -> list[Q]:
    rows, t = machines(), "<maschinenpark.xlsx>"
    return [
        Q(language="de", text="Wann ist die nächste Prüfung der Drehbank?", kind="lookup", gold=(rows[1][4].isoformat(),),
          sql=f"SELECT [Nächste Prüfung] FROM {t} WHERE [Maschine] = 'Drehbank'"),
        Q(language="de", text="Welche Leistung hat die Stanze?", kind="lookup", gold=(rows[6][3],),
          sql=f"SELECT [Leistung] FROM {t} WHERE [Maschine] = 'Stanze'"),
        Q(language="de", text="In welcher Halle steht die Presse?", kind="lookup", gold=(rows[2][1],),
          sql=f"SELECT [Standort] FROM {t} WHERE [Maschine] = 'Presse'"),
        Q(language="de", text="Welche Maschine ist die älteste?", kind="extreme", gold=(min(rows, key=lambda r: r[2])[0],),
          sql=f"SELECT [Maschine], [Baujahr] FROM {t} ORDER BY [Baujahr] LIMIT 1"),
        Q(language="de", text="Wie viele Maschinen stehen in Halle 2?", kind="count", gold=(sum(r[1] == "Halle 2" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Standort] = 'Halle 2'"),
        Q(language="de", text="Wie hoch ist der Stromverbrauch der Säge?", kind="none", gold=()),
    ]  # fmt: skip


PRODUCTS = ("Teclado", "Ratón", "Pantalla", "Silla", "Mesa", "Lámpara", "Auriculares", "Cámara", "Impresora")


def goods() -> list[Row]:
    """Product, supplier, units, unit price, arrival."""
    source = random.Random(3107)
    return [
        (p, source.choice(("Ibérica", "Ofimax", "Telmar")), source.randrange(5, 300), source.randrange(900, 40_000) / 100,
         date(2025, 1, 15) + timedelta(days=source.randrange(150)))
        for p in PRODUCTS
    ]  # fmt: skip


def _goods(path: Path) -> None:
    lines = [(p, s, n, german(k), d.strftime("%d/%m/%Y")) for p, s, n, k, d in goods()]
    write_csv(
        path,
        [("Producto", "Proveedor", "Unidades", "Precio unitario (€)", "Fecha de llegada"), *lines],
        delimiter=";",
    )


def _goods_questions() -> list[Q]:
    rows, t = goods(), "<inventario.csv>"
    return [
        Q(language="es", text="¿Cuál es el precio unitario de la impresora?", kind="lookup", gold=(rows[8][3],),
          sql=f"SELECT [Precio unitario] FROM {t} WHERE [Producto] = 'Impresora'"),
        Q(language="es", text="¿Cuántas unidades hay de auriculares?", kind="lookup", gold=(rows[6][2],),
          sql=f"SELECT [Unidades] FROM {t} WHERE [Producto] = 'Auriculares'"),
        Q(language="es", text="¿Cuántas unidades tenemos en total del proveedor Ofimax?", kind="sum",
          gold=(sum(r[2] for r in rows if r[1] == "Ofimax"),),
          sql=f"SELECT SUM([Unidades]) FROM {t} WHERE [Proveedor] = 'Ofimax'"),
        Q(language="es", text="¿Cuál es el producto más caro del inventario?", kind="extreme",
          gold=(max(rows, key=lambda r: r[3])[0],),
          sql=f"SELECT [Producto], [Precio unitario] FROM {t} ORDER BY [Precio unitario] DESC LIMIT 1"),
        Q(language="es", text="¿Cuántos productos llegaron en febrero de 2025?", kind="dates",
          gold=(sum(r[4].month == 2 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Fecha de llegada] BETWEEN '2025-02-01' AND '2025-02-28'"),
        Q(language="es", text="¿Cuál es el peso de la mesa?", kind="none", gold=()),
    ]  # fmt: skip


def bookings() -> list[Row]:
    """Room, department, people, fee, day."""
    source = random.Random(3108)
    return [
        (f"{n}号会议室", source.choice(("市场部", "研发部", "财务部")), source.randrange(3, 40), source.randrange(50, 900),
         date(2025, 3, 1) + timedelta(days=n))
        for n in range(101, 125)
    ]  # fmt: skip


def _bookings(path: Path) -> None:
    header = ("会议室", "部门", "人数", "费用(元)", "日期")
    write_csv(path, [header, *bookings()])


def _booking_questions() -> list[Q]:
    rows, t = bookings(), "<会议室预订.csv>"
    departments = sorted({r[1] for r in rows})
    return [
        Q(language="zh", text="105号会议室的费用是多少?", kind="lookup", gold=(rows[4][3],),
          sql=f"SELECT [费用] FROM {t} WHERE [会议室] = '105号会议室'"),
        Q(language="zh", text="110号会议室是哪个部门预订的?", kind="lookup", gold=(rows[9][1],),
          sql=f"SELECT [部门] FROM {t} WHERE [会议室] = '110号会议室'"),
        Q(language="zh", text="市场部的会议室费用一共是多少?", kind="sum", gold=(sum(r[3] for r in rows if r[1] == "市场部"),),
          sql=f"SELECT SUM([费用]) FROM {t} WHERE [部门] = '市场部'"),
        Q(language="zh", text="每个部门的总费用是多少?", kind="group",
          gold=tuple(sum(r[3] for r in rows if r[1] == d) for d in departments),
          sql=f"SELECT [部门], SUM([费用]) FROM {t} GROUP BY [部门]"),
        Q(language="zh", text="人数最多的会议室是哪个?", kind="extreme",
          gold=(max(rows, key=lambda r: r[2])[0],),
          sql=f"SELECT [会议室], [人数] FROM {t} ORDER BY [人数] DESC LIMIT 1"),
        Q(language="zh", text="研发部的平均人数是多少?", kind="average", gold=(mean(r[2] for r in rows if r[1] == "研发部"),),
          sql=f"SELECT AVG([人数]) FROM {t} WHERE [部门] = '研发部'"),
        Q(language="zh", text="销售部的会议室费用一共是多少?", kind="none", gold=()),
    ]  # fmt: skip


MAKERS = {
    "reisekosten.csv": _trips,
    "maschinenpark.xlsx": _machines,
    "inventario.csv": _goods,
    "会议室预订.csv": _bookings,
}


def questions() -> list[Q]:
    return [*_trip_questions(), *_machine_questions(), *_goods_questions(), *_booking_questions()]
