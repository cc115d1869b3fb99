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
TREES = ("Ahorn", "Buche", "Eiche", "Linde")
WORKSHOPS = ("Cerámica", "Danza", "Fotografía", "Pintura")
STORES = ("和平店", "人民店", "滨江店", "新城店", "东湖店")


def trees() -> list[Row]:
    """Number, kind, street, height in metres, planted on, keeper (sometimes empty)."""
    source = random.Random(4411)
    return [
        (
            f"B{n:03}",
            TREES[n % 4],
            source.choice(("Amselweg", "Birkenallee", "Domplatz")),
            round(source.uniform(3, 27), 1),
            date(1988, 3, 1) + timedelta(days=401 * n),
            "" if n % 5 == 2 else source.choice(("Kurz", "Lang", "Moser")),
        )
        for n in range(20)
    ]


def workshops() -> list[Row]:
    """Workshop, town, month, people, fee."""
    source = random.Random(4412)
    return [
        (
            WORKSHOPS[n % 4],
            source.choice(("Cuenca", "Soria", "Teruel")),
            f"{1 + n % 12:02}/2025",
            source.randrange(4, 31),
            source.randrange(20, 140),
        )
        for n in range(24)
    ]


def stores() -> list[Row]:
    """Store, city, staff, sales, opened."""
    source = random.Random(4413)
    cities = ("武汉", "长沙", "武汉", "南昌", "长沙")
    return [
        (
            store,
            cities[n],
            source.randrange(5, 40),
            source.randrange(80_000, 900_000),
            date(2015, 5, 1) + timedelta(days=500 * n),
        )
        for n, store in enumerate(STORES)
    ]


def _trees(path: Path) -> None:
    header = ("Baumnummer", "Baumart", "Straße", "Höhe (m)", "Gepflanzt", "Pfleger")
    rows = [(*r[:3], german(r[3], 1), r[4].strftime("%d.%m.%Y"), r[5]) for r in trees()]
    write_csv(path, [header, *rows], delimiter=";", encoding="cp1252")


def _workshops(path: Path) -> None:
    header = ("Taller", "Ciudad", "Mes", "Asistentes", "Cuota (EUR)")
    write_csv(path, [header, *workshops()])


def _stores(path: Path) -> None:
    write_sheets(path, {"门店": [("门店", "城市", "员工人数", "销售额", "开业日期"), *stores()]})


MAKERS = {"baumkataster.csv": _trees, "talleres.csv": _workshops, "门店.xlsx": _stores}


def questions() -> list[Q]:
    """In German, Spanish and Chinese."""
    return [*_german(), *_spanish(), *_chinese()]


def _german() -> list[Q]:
    rows, t = trees(), "<baumkataster.csv>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="de")  # type: ignore[arg-type]  # literals of ours

    return [
        q("Wie viele Bäume stehen im Amselweg?", "count", (sum(r[2] == "Amselweg" for r in rows),),
          f"SELECT COUNT(*) FROM {t} WHERE [Straße] = 'Amselweg'"),
        q("Wie hoch ist der Baum B007?", "lookup", (rows[7][3],), f"SELECT [Höhe] FROM {t} WHERE [Baumnummer] = 'B007'"),
        q("Wann wurde B013 gepflanzt?", "lookup", (rows[13][4].isoformat(),), f"SELECT [Gepflanzt] FROM {t} WHERE [Baumnummer] = 'B013'"),
        q("Durchschnittliche Höhe je Baumart", "group", tuple(mean(r[3] for r in rows if r[1] == one) for one in TREES),
          f"SELECT [Baumart], AVG([Höhe]) FROM {t} GROUP BY [Baumart]"),
        q("Welche Bäume haben keinen Pfleger?", "group", tuple(r[0] for r in rows if r[5] == ""), f"SELECT [Baumnummer] FROM {t} WHERE [Pfleger] IS NULL"),
        q("Wie viele Bäume haben keinen Pfleger?", "count", (sum(r[5] == "" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Pfleger] IS NULL"),
        q("Welcher Baum ist am höchsten?", "extreme", (max(rows, key=lambda r: r[3])[0],),
          f"SELECT [Baumnummer], [Höhe] FROM {t} ORDER BY [Höhe] DESC LIMIT 1"),
        q("Wie viele Eichen sind höher als 10 m?", "filter", (sum(r[1] == "Eiche" and r[3] > 10 for r in rows),),
          f"SELECT COUNT(*) FROM {t} WHERE [Baumart] = 'Eiche' AND [Höhe] > 10"),
        q("Wie viele Bäume wurden vor dem Jahr 2000 gepflanzt?", "dates", (sum(r[4].year < 2000 for r in rows),),
          f"SELECT COUNT(*) FROM {t} WHERE [Gepflanzt] < '2000-01-01'"),
        q("Wie dick ist der Stamm von B007?", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t = workshops(), "<talleres.csv>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="es")  # type: ignore[arg-type]  # literals of ours

    towns = sorted({r[1] for r in rows})
    return [
        q("¿Cuántos asistentes hubo en total en los talleres de Danza?", "sum", (sum(r[3] for r in rows if r[0] == "Danza"),),
          f"SELECT SUM([Asistentes]) FROM {t} WHERE [Taller] = 'Danza'"),
        q("¿Cuántos talleres hubo en Soria?", "count", (sum(r[1] == "Soria" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Ciudad] = 'Soria'"),
        q("Asistentes por ciudad", "group", tuple(sum(r[3] for r in rows if r[1] == town) for town in towns),
          f"SELECT [Ciudad], SUM([Asistentes]) FROM {t} GROUP BY [Ciudad]"),
        q("¿Cuál es la cuota media de los talleres de Pintura?", "average", (mean(r[4] for r in rows if r[0] == "Pintura"),),
          f"SELECT AVG([Cuota]) FROM {t} WHERE [Taller] = 'Pintura'"),
        q("¿Cuál es la cuota más alta en Teruel?", "extreme", (max(r[4] for r in rows if r[1] == "Teruel"),),
          f"SELECT MAX([Cuota]) FROM {t} WHERE [Ciudad] = 'Teruel'"),
        q("¿Cuántos talleres tuvieron más de 20 asistentes?", "filter", (sum(r[3] > 20 for r in rows),),
          f"SELECT COUNT(*) FROM {t} WHERE [Asistentes] > 20"),
        q("¿Cuántos asistentes hubo en marzo de 2025?", "dates", (sum(r[3] for r in rows if r[2] == "03/2025"),),
          f"SELECT SUM([Asistentes]) FROM {t} WHERE [Mes] = '03/2025'"),
        q("¿Cuántos talleres de Yoga hubo?", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t = stores(), "<门店.xlsx>"

    def q(text: str, kind: str, gold: tuple[object, ...], sql: str = "") -> Q:
        return Q(text=text, kind=kind, gold=gold, sql=sql, language="zh")  # type: ignore[arg-type]  # literals of ours

    cities = sorted({r[1] for r in rows})
    return [
        q("滨江店的销售额是多少？", "lookup", (rows[2][3],), f"SELECT [销售额] FROM {t} WHERE [门店] = '滨江店'"),
        q("新城店的开业日期是哪天？", "lookup", (rows[3][4].isoformat(),), f"SELECT [开业日期] FROM {t} WHERE [门店] = '新城店'"),
        q("武汉有多少家门店？", "count", (2,), f"SELECT COUNT(*) FROM {t} WHERE [城市] = '武汉'"),
        q("长沙的销售额总和是多少？", "sum", (rows[1][3] + rows[4][3],), f"SELECT SUM([销售额]) FROM {t} WHERE [城市] = '长沙'"),
        q("哪家门店的员工人数最多？", "extreme", (max(rows, key=lambda r: r[2])[0],), f"SELECT [门店], [员工人数] FROM {t} ORDER BY [员工人数] DESC LIMIT 1"),
        q("每个城市的平均销售额", "group", tuple(mean(r[3] for r in rows if r[1] == city) for city in cities),
          f"SELECT [城市], AVG([销售额]) FROM {t} GROUP BY [城市]"),
        q("和平店的面积是多少？", "none", ()),
    ]  # fmt: skip
