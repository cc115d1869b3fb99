# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import german, write_csv, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion
PEOPLE = ("Alba Cruz", "Bruno Gil", "Carla Rey", "Diego Paz", "Elena Mora")
CUSTOMERS = ("长风贸易", "东方科技", "海蓝物流", "金桥商行")


def flats() -> list[Row]:
    """Flat, town, area, rent, tenant (sometimes empty), begin, pets."""
    source = random.Random(6611)
    return [
        (
            f"W{n + 1:02}",
            ("Jena", "Gera", "Weimar")[source.randrange(3)],
            source.randrange(28, 131),
            source.randrange(260, 1600) + 0.25,
            ""
            if n in (4, 8, 11)
            else source.choice(("Frau Adler", "Herr Brand", "Frau Cohen", "Herr Dietz")),
            date(2017, 5, 1) + timedelta(days=203 * n),
            source.choice(("ja", "nein")),
        )
        for n in range(15)
    ]


def lessons() -> list[Row]:
    """Employee, department, course, mark, day, hours."""
    source = random.Random(6612)
    return [
        (
            PEOPLE[n % 5],
            ("Ventas", "Compras", "Ventas", "Logística", "Compras")[n % 5],
            source.choice(("Excel", "Inglés", "Seguridad")),
            source.randrange(30, 101) / 10,
            date(2024, 9, 2) + timedelta(days=15 * n),
            source.randrange(2, 25),
        )
        for n in range(23)
    ]


def orders() -> list[Row]:
    """Order, customer, city, product, quantity, amount, day, sent."""
    source = random.Random(6613)
    return [
        (
            f"DD{1001 + n}",
            CUSTOMERS[source.randrange(4)],
            ("杭州", "青岛")[n % 2],
            source.choice(("茶叶", "瓷器", "丝绸")),
            source.randrange(3, 120),
            source.randrange(900, 68_000, 10),
            date(2025, 1, 5) + timedelta(days=12 * n),
            source.choice(("是", "否")),
        )
        for n in range(20)
    ]


def _flats(path: Path) -> None:
    header = ("Wohnung", "Stadt", "Fläche (m²)", "Kaltmiete (€)", "Mieter", "Mietbeginn", "Haustiere erlaubt")
    rows = [(*r[:3], german(r[3]), r[4], r[5].strftime("%d.%m.%Y"), r[6]) for r in flats()]
    write_csv(path, [header, *rows], delimiter=";", encoding="cp1252")


def _lessons(path: Path) -> None:
    header = ("Empleado", "Departamento", "Curso", "Nota", "Fecha", "Horas")
    write_sheets(path, {"Formación": [header, *lessons()]}, {4: "0.0", 5: "dd/mm/yyyy"})


def _orders(path: Path) -> None:
    write_csv(
        path, [("订单号", "客户", "城市", "产品", "数量", "金额（元）", "下单日期", "是否发货"), *orders()]
    )


MAKERS = {"wohnungen.csv": _flats, "formación.xlsx": _lessons, "客户订单.csv": _orders}


def questions() -> list[Q]:
    """In German, Spanish and Chinese."""
    return [*_german(), *_spanish(), *_chinese()]


def _german() -> list[Q]:
    rows, t = flats(), "<wohnungen.csv>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="de")  # type: ignore[arg-type]  # literals of ours

    towns = sorted({r[1] for r in rows})
    return [
        q("Welche Wohnung ist am größten?", "extreme", (max(rows, key=lambda r: r[2])[0],), f"SELECT [Wohnung], [Fläche] FROM {t} ORDER BY [Fläche] DESC LIMIT 1"),
        q("Welche Wohnung ist am günstigsten?", "extreme", (min(rows, key=lambda r: r[3])[0],), f"SELECT [Wohnung], [Kaltmiete] FROM {t} ORDER BY [Kaltmiete] LIMIT 1"),
        q("Wie viele Wohnungen stehen leer, haben also keinen Mieter?", "count", (3,), f"SELECT COUNT(*) FROM {t} WHERE [Mieter] IS NULL"),
        q("Wie viele Wohnungen sind größer als 80 m²?", "filter", (sum(r[2] > 80 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Fläche] > 80"),
        q("In welchen Wohnungen sind Haustiere erlaubt?", "group", tuple(r[0] for r in rows if r[6] == "ja"), f"SELECT [Wohnung] FROM {t} WHERE [Haustiere erlaubt] = 1"),
        q("Wie hoch ist die Summe der Kaltmieten in Weimar?", "sum", (sum(r[3] for r in rows if r[1] == "Weimar"),), f"SELECT SUM([Kaltmiete]) FROM {t} WHERE [Stadt] = 'Weimar'"),
        q("Durchschnittliche Fläche der Wohnungen nach Stadt", "group", tuple(mean(r[2] for r in rows if r[1] == s) for s in towns), f"SELECT [Stadt], AVG([Fläche]) FROM {t} GROUP BY [Stadt]"),
        q("Wie viele Wohnungen sind nicht in Jena?", "count", (sum(r[1] != "Jena" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Stadt] <> 'Jena'"),
        q("Wie viele Wohnungen wurden seit 2022 vermietet?", "dates", (sum(r[5].year >= 2022 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Mietbeginn] >= '2022-01-01'"),
        q("Welcher Anteil der Wohnungen liegt in Gera?", "average", (100 * sum(r[1] == "Gera" for r in rows) / len(rows),), f"SELECT 100.0 * SUM([Stadt] = 'Gera') / COUNT(*) FROM {t}"),
        q("Was ist der Unterschied zwischen der Miete von W02 und W06?", "sum", (rows[1][3] - rows[5][3],),
          f"SELECT ((SELECT [Kaltmiete] FROM {t} WHERE [Wohnung] = 'W02') - (SELECT [Kaltmiete] FROM {t} WHERE [Wohnung] = 'W06'))"),
        q("Wer wohnt in W10?", "lookup", (rows[9][4],), f"SELECT [Mieter] FROM {t} WHERE [Wohnung] = 'W10'"),
        q("Wie groß ist die Wohnung W07?", "lookup", (rows[6][2],), f"SELECT [Fläche] FROM {t} WHERE [Wohnung] = 'W07'"),
        q("Wie viele Zimmer hat W03?", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t = lessons(), "<formación.xlsx>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="es")  # type: ignore[arg-type]  # literals of ours

    departments = sorted({r[1] for r in rows})
    return [
        q("¿Cuántas horas de Excel se han dado?", "sum", (sum(r[5] for r in rows if r[2] == "Excel"),), f"SELECT SUM([Horas]) FROM {t} WHERE [Curso] = 'Excel'"),
        q("¿Quién sacó la mejor nota en Inglés?", "extreme", (max((r for r in rows if r[2] == "Inglés"), key=lambda r: r[3])[0],),
          f"SELECT [Empleado], [Nota] FROM {t} WHERE [Curso] = 'Inglés' ORDER BY [Nota] DESC LIMIT 1"),
        q("¿Qué departamento ha hecho menos horas en total?", "extreme", (min(departments, key=lambda d: sum(r[5] for r in rows if r[1] == d)),),
          f"SELECT [Departamento], SUM([Horas]) FROM {t} GROUP BY [Departamento] ORDER BY 2 LIMIT 1"),
        q("Nota media por curso", "group", tuple(mean(r[3] for r in rows if r[2] == c) for c in sorted({r[2] for r in rows})), f"SELECT [Curso], AVG([Nota]) FROM {t} GROUP BY [Curso]"),
        q("¿Cuántas notas son inferiores a 5?", "filter", (sum(r[3] < 5 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Nota] < 5"),
        q("¿Cuántos empleados distintos han hecho cursos?", "count", (5,), f"SELECT COUNT(DISTINCT [Empleado]) FROM {t}"),
        q("¿Cuántas horas hizo Diego Paz en 2025?", "dates", (sum(r[5] for r in rows if r[0] == "Diego Paz" and r[4].year == 2025),),
          f"SELECT SUM([Horas]) FROM {t} WHERE [Empleado] = 'Diego Paz' AND [Fecha] BETWEEN '2025-01-01' AND '2025-12-31'"),
        q("¿Hay algún curso de más de 20 horas?", "filter", (sum(r[5] > 20 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Horas] > 20"),
        q("¿Qué porcentaje de los cursos son de Seguridad?", "average", (100 * sum(r[2] == "Seguridad" for r in rows) / len(rows),), f"SELECT 100.0 * SUM([Curso] = 'Seguridad') / COUNT(*) FROM {t}"),
        q("¿Cuántos cursos hizo Ventas sin contar los de Excel?", "count", (sum(r[1] == "Ventas" and r[2] != "Excel" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Departamento] = 'Ventas' AND [Curso] <> 'Excel'"),
        q("¿Cuántas horas de Francés hubo?", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t = orders(), "<客户订单.csv>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="zh")  # type: ignore[arg-type]  # literals of ours

    customers = sorted({r[1] for r in rows})
    return [
        q("哪个客户的订单总金额最高？", "extreme", (max(customers, key=lambda c: sum(r[5] for r in rows if r[1] == c)),), f"SELECT [客户], SUM([金额]) FROM {t} GROUP BY [客户] ORDER BY 2 DESC LIMIT 1"),
        q("还有多少订单没有发货？", "count", (sum(r[7] == "否" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [是否发货] = 0"),
        q("青岛的订单平均金额是多少？", "average", (mean(r[5] for r in rows if r[2] == "青岛"),), f"SELECT AVG([金额]) FROM {t} WHERE [城市] = '青岛'"),
        q("茶叶和丝绸一共卖了多少数量？", "sum", (sum(r[4] for r in rows if r[3] in ("茶叶", "丝绸")),), f"SELECT SUM([数量]) FROM {t} WHERE [产品] IN ('茶叶', '丝绸')"),
        q("金额低于一万元的订单有多少个？", "filter", (sum(r[5] < 10_000 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [金额] < 10000"),
        q("三月份有几个订单？", "dates", (sum(r[6].month == 3 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [下单日期] BETWEEN '2025-03-01' AND '2025-03-31'"),
        q("每种产品的销售数量", "group", tuple(sum(r[4] for r in rows if r[3] == p) for p in sorted({r[3] for r in rows})), f"SELECT [产品], SUM([数量]) FROM {t} GROUP BY [产品]"),
        q("金额最高的三个订单是哪些？", "top", tuple(r[0] for r in sorted(rows, key=lambda r: -r[5])[:3]), f"SELECT [订单号], [金额] FROM {t} ORDER BY [金额] DESC LIMIT 3"),
        q("一共有多少个不同的客户？", "count", (len(customers),), f"SELECT COUNT(DISTINCT [客户]) FROM {t}"),
        q("订单DD1007是哪个客户下的？", "lookup", (rows[6][1],), f"SELECT [客户] FROM {t} WHERE [订单号] = 'DD1007'"),
        q("DD1012的运费是多少？", "none", ()),
    ]  # fmt: skip
