# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

Q = ComputedQuestion


def hours() -> list[Row]:
    """Day, person, project, hours, rate, billable."""
    source = random.Random(9911)
    return [
        (
            date(2025, 2, 17) + timedelta(days=2 * n),
            source.choice(("Yıldız", "Hartmann", "Kowalski", "Peters")),
            source.choice(("Hafen", "Klinikum", "Intern")),
            source.randrange(4, 39) / 4,
            source.choice((78.5, 92.0, 105.0)),
            source.choice(("ja", "ja", "nein")),
        )
        for n in range(32)
    ]


def flats() -> list[Row]:
    """Flat, town, area, rent, other costs, tenant (sometimes empty), rented since."""
    source = random.Random(9912)
    tenants = ("Familie Öztürk", "R. Blum", "", "M. Seidel", "K. Ahrens", "", "P. Nowak", "Familie Groß", "S. Lenz", "", "T. Vogt", "H. Fink")  # fmt: skip
    return [
        (
            f"W-{n + 1:02}",
            source.choice(("Erfurt", "Jena", "Weimar")),
            38 + 7 * ((n * 5) % 12) + source.randrange(4),
            round(source.randrange(38_000, 112_000) / 100, 2),
            round(source.randrange(9_000, 26_000) / 100, 2),
            tenant,
            date(2015, 6, 1) + timedelta(days=245 * n) if tenant else "",
        )
        for n, tenant in enumerate(tenants)
    ]


def bookings() -> list[Row]:
    """Booking, guest, room, arrival, nights, amount, channel."""
    source = random.Random(9913)
    guests = ("Ibarra", "Quintana", "Svensson", "Tanaka", "Moreau", "Galdós", "O'Neill", "Bauer", "Rivas", "Costa", "Lemos", "Haddad", "Zubiri", "Novak", "Prats", "Fuentes")  # fmt: skip
    return [
        (
            f"R-{301 + n}",
            guest,
            source.choice(("Doble", "Individual", "Suite")),
            date(2025, 6, 12) + timedelta(days=4 * n),
            source.randrange(1, 10),
            source.randrange(80, 990) + n / 4,
            source.choice(("Booking", "Web", "Agencia")),
        )
        for n, guest in enumerate(guests)
    ]


def equipment() -> list[Row]:
    """Number, device, department, bought, value, state."""
    return [
        ("EQ-01", "激光打印机", "行政部", date(2021, 4, 9), 3280, "在用"),
        ("EQ-02", "示波器", "研发部", date(2022, 11, 2), 18600, "在用"),
        ("EQ-03", "投影仪", "行政部", date(2020, 7, 15), 5400, "报废"),
        ("EQ-04", "3D打印机", "研发部", date(2023, 3, 21), 26500, "在用"),
        ("EQ-05", "叉车", "仓储部", date(2019, 9, 30), 72000, "维修"),
        ("EQ-06", "扫码枪", "仓储部", date(2023, 8, 14), 960, "在用"),
        ("EQ-07", "服务器", "研发部", date(2023, 12, 5), 41800, "在用"),
        ("EQ-08", "碎纸机", "行政部", date(2018, 5, 18), 880, "报废"),
        ("EQ-09", "恒温箱", "研发部", date(2021, 10, 27), 9700, "维修"),
        ("EQ-10", "电子秤", "仓储部", date(2024, 2, 6), 1450, "在用"),
        ("EQ-11", "视频会议终端", "行政部", date(2024, 6, 19), 12900, "在用"),
        ("EQ-12", "热像仪", "研发部", date(2022, 1, 11), 15300, "报废"),
    ]


def loans() -> list[Row]:
    """Title, author, section, copies, loans in 2024 and 2025."""
    return [
        ("Le Phare", "A. Roussel", "Adultes", 4, 61, 48),
        ("La Dune", "M. Kerbrat", "Jeunesse", 7, 112, 130),
        ("Petit Loup", "C. Vasseur", "Jeunesse", 5, 143, 97),
        ("Ciel de traîne", "J. Amari", "Adultes", 2, 19, 33),
        ("Les Volcans", "P. Delorme", "Documentaires", 3, 27, 22),
        ("L'Île aux phoques", "S. Le Gall", "Jeunesse", 6, 88, 104),
        ("Jardiner en ville", "N. Petit", "Documentaires", 3, 54, 71),
    ]


MAKERS = {
    "stundenzettel.csv": made(
        ("Datum", "Mitarbeiter", "Projekt", "Stunden", "Stundensatz (€)", "Abrechenbar"),
        [(f"{r[0]:%d.%m.%Y}", r[1], r[2], german(r[3]), german(r[4]), r[5]) for r in hours()],
        delimiter=";",
    ),
    "mietobjekte.xlsx": made(
        ("Objekt", "Ort", "Fläche (m²)", "Kaltmiete (€)", "Nebenkosten (€)", "Mieter", "Vermietet seit"),
        flats(),
        sheet="Bestand",
        formats={4: "#,##0.00", 5: "#,##0.00", 7: "dd.mm.yyyy"},
    ),
    "reservas.xlsx": made(
        ("Reserva", "Huésped", "Habitación", "Entrada", "Noches", "Importe (€)", "Canal"),
        bookings(),
        sheet="Verano 2025",
        formats={4: "dd/mm/yyyy"},
    ),
    "设备台账.xlsx": made(
        ("编号", "设备名称", "部门", "购入日期", "原值(元)", "状态"), equipment(), sheet="台账"
    ),
    "prêts.csv": made(
        ("Titre", "Auteur", "Rayon", "Exemplaires", "Prêts 2024", "Prêts 2025"), loans(), delimiter=";"
    ),
}


def questions() -> list[Q]:
    return [*_german(), *_spanish(), *_chinese(), *_french()]


def _german() -> list[Q]:
    rows, homes, t, f, q = hours(), flats(), "<stundenzettel.csv>", "<mietobjekte.xlsx>", asker("de")
    projects = {p: sum(r[3] for r in rows if r[2] == p) for p in sorted({r[2] for r in rows})}
    return [
        q("Wie viele Stunden hat Yıldız im März 2025 gebucht?", "dates", (sum(r[3] for r in rows if r[1] == "Yıldız" and r[0].month == 3),), f"SELECT SUM([Stunden]) FROM {t} WHERE [Mitarbeiter] = 'Yıldız' AND [Datum] BETWEEN '2025-03-01' AND '2025-03-31'"),
        q("Summe der Stunden pro Projekt", "group", tuple(projects.values()), f"SELECT [Projekt], SUM([Stunden]) FROM {t} GROUP BY [Projekt]"),
        q("wieviele Stunden waren nicht abrechenbar", "sum", (sum(r[3] for r in rows if r[5] == "nein"),), f"SELECT SUM([Stunden]) FROM {t} WHERE [Abrechenbar] = 0"),
        q("durchschnittlicher Stundensatz im Projekt Hafen", "average", (mean(r[4] for r in rows if r[2] == "Hafen"),), f"SELECT AVG([Stundensatz]) FROM {t} WHERE [Projekt] = 'Hafen'"),
        q("An wie vielen Tagen hat Peters mehr als 5 Stunden gearbeitet?", "filter", (sum(r[1] == "Peters" and r[3] > 5 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Mitarbeiter] = 'Peters' AND [Stunden] > 5"),
        q("Gesamte Kaltmiete in Erfurt", "sum", (sum(r[3] for r in homes if r[1] == "Erfurt"),), f"SELECT SUM([Kaltmiete]) FROM {f} WHERE [Ort] = 'Erfurt'"),
        q("Nenne mir die drei Objekte mit der größten Fläche", "top", tuple(r[0] for r in sorted(homes, key=lambda r: -r[2])[:3]), f"SELECT [Objekt], [Fläche] FROM {f} ORDER BY [Fläche] DESC LIMIT 3"),
        q("Welche Objekte haben keinen Mieter?", "group", tuple(r[0] for r in homes if not r[5]), f"SELECT [Objekt] FROM {f} WHERE [Mieter] IS NULL"),
        q("Kaltmiete von W-07?", "lookup", (homes[6][3],), f"SELECT [Kaltmiete] FROM {f} WHERE [Objekt] = 'W-07'"),
        q("Wer wohnt in W-05", "lookup", (homes[4][5],), f"SELECT [Mieter] FROM {f} WHERE [Objekt] = 'W-05'"),
        q("wie groß ist W-11", "lookup", (homes[10][2],), f"SELECT [Fläche] FROM {f} WHERE [Objekt] = 'W-11'"),
        q("Seit wann ist W-04 vermietet?", "lookup", (homes[3][6].isoformat(),), f"SELECT [Vermietet seit] FROM {f} WHERE [Objekt] = 'W-04'"),
        q("Wie hoch ist die Kaution für W-04?", "none", ()),
        q("Stunden im Projekt Flughafen", "none", ()),
        q("Wie viele Urlaubstage hat Hartmann genommen?", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t, q = bookings(), "<reservas.xlsx>", asker("es")
    kinds = {k: sum(r[5] for r in rows if r[2] == k) for k in sorted({r[2] for r in rows})}
    channels = {k: sum(r[5] for r in rows if r[6] == k) for k in sorted({r[6] for r in rows})}
    return [
        q("¿Cuánto hemos facturado por Booking?", "sum", (channels["Booking"],), f"SELECT SUM([Importe]) FROM {t} WHERE [Canal] = 'Booking'"),
        q("número de reservas con entrada en julio de 2025", "dates", (sum(r[3].month == 7 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Entrada] BETWEEN '2025-07-01' AND '2025-07-31'"),
        q("media de noches por reserva", "average", (mean(r[4] for r in rows),), f"SELECT AVG([Noches]) FROM {t}"),
        q("¿Qué tipo de habitación nos deja más importe?", "extreme", (max(kinds, key=lambda k: kinds[k]),), f"SELECT [Habitación], SUM([Importe]) FROM {t} GROUP BY [Habitación] ORDER BY 2 DESC LIMIT 1"),
        q("reservas de más de 5 noches, ¿cuántas hay?", "filter", (sum(r[4] > 5 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Noches] > 5"),
        q("importe total por canal", "group", tuple(channels.values()), f"SELECT [Canal], SUM([Importe]) FROM {t} GROUP BY [Canal]"),
        q("¿cuántas noches se queda Ibarra?", "lookup", (rows[0][4],), f"SELECT [Noches] FROM {t} WHERE [Huésped] = 'Ibarra'"),
        q("importe de la R-310", "lookup", (rows[9][5],), f"SELECT [Importe] FROM {t} WHERE [Reserva] = 'R-310'"),
        q("¿Cuántos niños vienen en la R-305?", "none", ()),
        q("cuánto ha entrado por Airbnb", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t, q = equipment(), "<设备台账.xlsx>", asker("zh")
    departments = {d: sum(r[2] == d for r in rows) for d in sorted({r[2] for r in rows})}
    return [
        q("研发部设备原值合计是多少？", "sum", (sum(r[4] for r in rows if r[2] == "研发部"),), f"SELECT SUM([原值(元)]) FROM {t} WHERE [部门] = '研发部'"),
        q("报废的设备有几台", "count", (sum(r[5] == "报废" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [状态] = '报废'"),
        q("2023年一共购入了多少台设备？", "dates", (sum(r[3].year == 2023 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [购入日期] BETWEEN '2023-01-01' AND '2023-12-31'"),
        q("原值最高的设备是哪台", "extreme", (max(rows, key=lambda r: r[4])[1],), f"SELECT [设备名称], [原值(元)] FROM {t} ORDER BY [原值(元)] DESC LIMIT 1"),
        q("各部门的设备数量", "group", tuple(departments.values()), f"SELECT [部门], COUNT(*) FROM {t} GROUP BY [部门]"),
        q("EQ-06是哪个部门的", "lookup", ("仓储部",), f"SELECT [部门] FROM {t} WHERE [编号] = 'EQ-06'"),
        q("示波器原值多少", "lookup", (18600,), f"SELECT [原值(元)] FROM {t} WHERE [设备名称] = '示波器'"),
        q("EQ-11什么时候买的？", "lookup", ("2024-06-19",), f"SELECT [购入日期] FROM {t} WHERE [编号] = 'EQ-11'"),
        q("EQ-03的保修期到什么时候", "none", ()),
        q("财务部有多少台设备", "none", ()),
    ]  # fmt: skip


def _french() -> list[Q]:
    rows, t, q = loans(), "<prêts.csv>", asker("fr")
    return [
        q("total des prêts 2025 pour le rayon jeunesse", "sum", (sum(r[5] for r in rows if r[2] == "Jeunesse"),), f"SELECT SUM([Prêts 2025]) FROM {t} WHERE [Rayon] = 'Jeunesse'"),
        q("quel titre a eu le plus de prêts en 2024 ?", "extreme", ("Petit Loup",), f"SELECT [Titre], [Prêts 2024] FROM {t} ORDER BY [Prêts 2024] DESC LIMIT 1"),
        q("On a combien d'exemplaires en tout ?", "sum", (sum(r[3] for r in rows),), f"SELECT SUM([Exemplaires]) FROM {t}"),
        q("combien d'exemplaires de La Dune avons-nous ?", "lookup", (7,), f"SELECT [Exemplaires] FROM {t} WHERE [Titre] = 'La Dune'"),
        q("prêts 2022 du Phare", "none", ()),
    ]  # fmt: skip
