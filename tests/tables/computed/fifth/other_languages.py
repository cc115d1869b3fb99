# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

import random
from datetime import date, timedelta
from statistics import median
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import german, write_csv, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion
TUTORS = ("Berg", "Čapek", "Dorn")
SUPPLIERS = ("Lácteos Norte", "Panadería Ruiz", "Café Andino")
DEPARTMENTS = ("财务部", "研发部", "市场部")


def courses() -> list[Row]:
    """Course, tutor, place, begin, participants, fee, waiting list."""
    source = random.Random(5511)
    names = ("Yoga", "Töpfern", "Excel", "Italienisch", "Fotografie", "Kochen", "Nähen", "Gitarre", "Schach", "Polnisch", "Aquarell", "Rhetorik")  # fmt: skip
    return [
        (
            name,
            TUTORS[source.randrange(3)],
            ("Bonn", "Aachen")[n % 2],
            date(2025, 1, 13) + timedelta(days=26 * n),
            source.randrange(5, 32),
            source.randrange(30, 400) + 0.5,
            ("ja", "nein", "nein")[n % 3],
        )
        for n, name in enumerate(names)
    ]


def deliveries() -> list[Row]:
    """Supplier, product, day, kilos, amount, paid."""
    source = random.Random(5512)
    return [
        (
            SUPPLIERS[source.randrange(3)],
            source.choice(("leche", "pan", "café", "queso")),
            date(2024, 10, 4) + timedelta(days=13 * n),
            source.randrange(5, 90),
            source.randrange(20, 800),
            source.choice(("sí", "no")),
        )
        for n in range(26)
    ]


def devices() -> list[Row]:
    """Device, department, bought on, price, state, keeper (sometimes empty)."""
    source = random.Random(5513)
    names = ("投影仪", "打印机", "服务器", "扫描仪", "路由器", "显示器", "碎纸机", "空调", "复印机")
    return [
        (
            name,
            DEPARTMENTS[n % 3],
            date(2019, 4, 8) + timedelta(days=257 * n),
            source.randrange(600, 48_000, 50),
            ("在用", "维修", "在用", "报废")[n % 4],
            "" if n in (2, 6) else source.choice(("王芳", "李强", "赵敏")),
        )
        for n, name in enumerate(names)
    ]


def _courses(path: Path) -> None:
    header = ("Kurs", "Dozent", "Ort", "Beginn", "Teilnehmer", "Gebühr (€)", "Warteliste")
    rows = [(*r[:3], r[3].strftime("%d.%m.%Y"), r[4], german(r[5]), r[6]) for r in courses()]
    write_csv(path, [header, *rows], delimiter=";")


def _deliveries(path: Path) -> None:
    header = ("Proveedor", "Producto", "Fecha", "Cantidad (kg)", "Importe (€)", "Pagado")
    write_csv(path, [header, *((*r[:2], r[2].strftime("%d/%m/%Y"), *r[3:]) for r in deliveries())])


def _devices(path: Path) -> None:
    write_sheets(
        path, {"设备台账": [("设备名称", "部门", "购买日期", "价格（元）", "状态", "负责人"), *devices()]}
    )


MAKERS = {"kursprogramm.csv": _courses, "entregas.csv": _deliveries, "设备台账.xlsx": _devices}


def questions() -> list[Q]:
    """In German, Spanish and Chinese."""
    return [*_german(), *_spanish(), *_chinese()]


def _german() -> list[Q]:
    rows, t = courses(), "<kursprogramm.csv>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="de")  # type: ignore[arg-type]  # literals of ours

    return [
        q("Welcher Kurs ist am teuersten?", "extreme", (max(rows, key=lambda r: r[5])[0],), f"SELECT [Kurs], [Gebühr] FROM {t} ORDER BY [Gebühr] DESC LIMIT 1"),
        q("Wie viele Kurse kosten mehr als 200 Euro?", "filter", (sum(r[5] > 200 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Gebühr] > 200"),
        q("Wie viele Kurse leitet Dorn?", "count", (sum(r[1] == "Dorn" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Dozent] = 'Dorn'"),
        q("Welche Kurse haben eine Warteliste?", "group", tuple(r[0] for r in rows if r[6] == "ja"), f"SELECT [Kurs] FROM {t} WHERE [Warteliste] = 1"),
        q("Wie viele Teilnehmer gibt es insgesamt in Bonn?", "sum", (sum(r[4] for r in rows if r[2] == "Bonn"),), f"SELECT SUM([Teilnehmer]) FROM {t} WHERE [Ort] = 'Bonn'"),
        q("Wie viele Kurse beginnen im zweiten Quartal?", "dates", (sum(4 <= r[3].month <= 6 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Beginn] BETWEEN '2025-04-01' AND '2025-06-30'"),
        q("Wie hoch ist die durchschnittliche Gebühr pro Dozent?", "group", tuple(mean(r[5] for r in rows if r[1] == d) for d in sorted({r[1] for r in rows})),
          f"SELECT [Dozent], AVG([Gebühr]) FROM {t} GROUP BY [Dozent]"),
        q("Welche drei Kurse sind am besten besucht?", "top", tuple(r[0] for r in sorted(rows, key=lambda r: -r[4])[:3]), f"SELECT [Kurs], [Teilnehmer] FROM {t} ORDER BY [Teilnehmer] DESC LIMIT 3"),
        q("Wie viel Prozent der Kurse finden in Aachen statt?", "average", (50,), f"SELECT 100.0 * SUM([Ort] = 'Aachen') / COUNT(*) FROM {t}"),
        q("Gibt es einen Kurs mit mehr als 25 Teilnehmern?", "filter", (sum(r[4] > 25 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Teilnehmer] > 25"),
        q("Welcher Kurs beginnt zuletzt?", "extreme", (rows[-1][0],), f"SELECT [Kurs], [Beginn] FROM {t} ORDER BY [Beginn] DESC LIMIT 1"),
        q("Was kostet der Kurs Töpfern?", "lookup", (rows[1][5],), f"SELECT [Gebühr] FROM {t} WHERE [Kurs] = 'Töpfern'"),
        q("Wer unterrichtet Schach?", "lookup", (rows[8][1],), f"SELECT [Dozent] FROM {t} WHERE [Kurs] = 'Schach'"),
        q("Wie lange dauert der Kurs Excel?", "none", ()),
        q("Wie viele Kurse gibt es in Köln?", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t = deliveries(), "<entregas.csv>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="es")  # type: ignore[arg-type]  # literals of ours

    suppliers = sorted({r[0] for r in rows})
    return [
        q("¿Cuánto se ha gastado en café?", "sum", (sum(r[4] for r in rows if r[1] == "café"),), f"SELECT SUM([Importe]) FROM {t} WHERE [Producto] = 'café'"),
        q("¿Cuántas entregas no están pagadas?", "count", (sum(r[5] == "no" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Pagado] = 0"),
        q("¿Qué proveedor ha entregado más kilos en total?", "extreme", (max(suppliers, key=lambda s: sum(r[3] for r in rows if r[0] == s)),),
          f"SELECT [Proveedor], SUM([Cantidad]) FROM {t} GROUP BY [Proveedor] ORDER BY 2 DESC LIMIT 1"),
        q("Importe total por producto", "group", tuple(sum(r[4] for r in rows if r[1] == p) for p in sorted({r[1] for r in rows})), f"SELECT [Producto], SUM([Importe]) FROM {t} GROUP BY [Producto]"),
        q("¿Cuántas entregas hubo desde marzo de 2025?", "dates", (sum(r[2] >= date(2025, 3, 1) for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Fecha] >= '2025-03-01'"),
        q("¿Cuántos kilos de queso o de pan se entregaron?", "sum", (sum(r[3] for r in rows if r[1] in ("queso", "pan")),), f"SELECT SUM([Cantidad]) FROM {t} WHERE [Producto] IN ('queso', 'pan')"),
        q("¿Cuál es la mediana de los importes?", "average", (median(r[4] for r in rows),), f"SELECT AVG([Importe]) FROM (SELECT [Importe] FROM {t} ORDER BY [Importe] LIMIT 2 OFFSET 12)"),
        q("¿Cuántas entregas costaron entre 100 y 300 euros?", "filter", (sum(100 <= r[4] <= 300 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Importe] BETWEEN 100 AND 300"),
        q("¿Cuál fue la entrega más cara de Café Andino?", "extreme", (max(r[4] for r in rows if r[0] == "Café Andino"),), f"SELECT MAX([Importe]) FROM {t} WHERE [Proveedor] = 'Café Andino'"),
        q("¿Cuántos proveedores distintos hay?", "count", (3,), f"SELECT COUNT(DISTINCT [Proveedor]) FROM {t}"),
        q("¿Cuánto cuesta la entrega media de leche?", "average", (mean(r[4] for r in rows if r[1] == "leche"),), f"SELECT AVG([Importe]) FROM {t} WHERE [Producto] = 'leche'"),
        q("¿Cuántas botellas de vino se entregaron?", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t = devices(), "<设备台账.xlsx>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="zh")  # type: ignore[arg-type]  # literals of ours

    by_price = sorted(rows, key=lambda r: -r[3])
    return [
        q("哪台设备最贵？", "extreme", (by_price[0][0],), f"SELECT [设备名称], [价格] FROM {t} ORDER BY [价格] DESC LIMIT 1"),
        q("有多少台设备没有负责人？", "count", (2,), f"SELECT COUNT(*) FROM {t} WHERE [负责人] IS NULL"),
        q("研发部的设备一共花了多少钱？", "sum", (sum(r[3] for r in rows if r[1] == "研发部"),), f"SELECT SUM([价格]) FROM {t} WHERE [部门] = '研发部'"),
        q("2021年以后购买了多少台设备？", "dates", (sum(r[2] > date(2021, 12, 31) for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [购买日期] > '2021-12-31'"),
        q("各部门分别有多少台设备？", "group", (3, 3, 3), f"SELECT [部门], COUNT(*) FROM {t} GROUP BY [部门]"),
        q("价格超过2万元的设备有几台？", "filter", (sum(r[3] > 20_000 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [价格] > 20000"),
        q("哪些设备正在维修？", "group", tuple(r[0] for r in rows if r[4] == "维修"), f"SELECT [设备名称] FROM {t} WHERE [状态] = '维修'"),
        q("最早购买的设备是哪一台？", "extreme", (rows[0][0],), f"SELECT [设备名称], [购买日期] FROM {t} ORDER BY [购买日期] LIMIT 1"),
        q("设备的平均价格是多少？", "average", (mean(r[3] for r in rows),), f"SELECT AVG([价格]) FROM {t}"),
        q("空调的负责人是谁？", "lookup", (rows[7][5],), f"SELECT [负责人] FROM {t} WHERE [设备名称] = '空调'"),
        q("服务器是什么时候买的？", "lookup", (rows[2][2].isoformat(),), f"SELECT [购买日期] FROM {t} WHERE [设备名称] = '服务器'"),
        q("打印机的保修期到什么时候？", "none", ()),
    ]  # fmt: skip
