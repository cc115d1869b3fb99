# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

Q = ComputedQuestion


def gifts() -> list[Row]:
    """Donor, town, amount, day, purpose."""
    source = random.Random(7711)
    donors = ("Bäckerei Lang", "Familie Ott", "Fa. Reuter", "Klara Neumann", "Optik Sommer", "Rotary Club", "Uwe Franke")  # fmt: skip
    return [
        (
            source.choice(donors),
            source.choice(("Ulm", "Aalen", "Neu-Ulm")),
            source.randrange(2000, 260_000, 250) / 100,
            date(2023, 11, 5) + timedelta(days=31 * n),
            source.choice(("Spielplatz", "Kletterwand", "Vereinsheim")),
        )
        for n in range(24)
    ]


def cars() -> list[Row]:
    """Plate, model, kilometres, built, fuel, site, value."""
    source = random.Random(7712)
    return [
        (
            f"UL-FN {210 + n}",
            source.choice(("VW Caddy", "Ford Transit", "Opel Corsa", "Renault Kangoo")),
            source.randrange(4_000, 190_000, 10),
            2014 + (n * 3) % 11,
            source.choice(("Diesel", "Benzin", "Elektro")),
            ("Ulm", "Biberach")[n % 2],
            source.randrange(2_000, 31_000, 50),
        )
        for n in range(14)
    ]


def bills() -> list[Row]:
    """Bill, supplier, amount, day, state, due."""
    source = random.Random(7713)
    return [
        (
            f"F-{880 + n}",
            ("Aceros Soto", "Imprenta Luz", "Limpiezas Nova", "Transportes Gil")[source.randrange(4)],
            source.randrange(40_000, 1_200_000) / 100,
            date(2024, 11, 12) + timedelta(days=13 * n),
            source.choice(("pagada", "pendiente", "vencida")),
            date(2024, 12, 12) + timedelta(days=13 * n),
        )
        for n in range(22)
    ]


def employees() -> list[Row]:
    """Name, position, office, salary, hired, working time."""
    source = random.Random(7714)
    names = ("Ana Ruiz", "Beto Cano", "Clara Mas", "Dani Vega", "Eva Sanz", "Félix Mora", "Gala Prats", "Hugo Nieto", "Irene Sol", "Juan Leal", "Kira Pons")  # fmt: skip
    return [
        (
            name,
            source.choice(("Técnico", "Comercial", "Administrativo")),
            ("Bilbao", "Sevilla", "Vigo")[source.randrange(3)],
            source.randrange(19_500, 54_000, 100),
            date(2015, 2, 1) + timedelta(days=311 * n),
            source.choice(("completa", "parcial")),
        )
        for n, name in enumerate(names)
    ]


def shifts() -> list[Row]:
    """Name, department, late, overtime hours, days off."""
    source = random.Random(7715)
    names = ("陈静", "李强", "刘洋", "王芳", "赵磊", "周敏", "吴桐", "孙丽", "何军")
    return [
        (
            name,
            ("研发部", "市场部", "财务部")[n % 3],
            source.randrange(0, 8),
            10 + 3 * n + source.randrange(3),
            source.randrange(0, 6),
        )
        for n, name in enumerate(names)
    ]


def contracts() -> list[Row]:
    """Contract, client, salesperson, amount, signed, state."""
    source = random.Random(7716)
    return [
        (
            f"HT-{2101 + n}",
            source.choice(("华信集团", "蓝天药业", "新源电力", "远大建材")),
            source.choice(("张伟", "林娜", "郭涛")),
            source.randrange(15_000, 480_000, 100),
            date(2024, 9, 8) + timedelta(days=17 * n),
            source.choice(("执行中", "已完成", "已终止")),
        )
        for n in range(21)
    ]


def outgoings() -> list[Row]:
    """Day, employee, category, amount, paid."""
    source = random.Random(7717)
    return [
        (
            date(2025, 1, 7) + timedelta(days=8 * n),
            source.choice(("Amélie Roux", "Baptiste Noël", "Chloé Weber", "Damien Faure")),
            source.choice(("Train", "Hôtel", "Repas", "Matériel")),
            source.randrange(1200, 98_000) / 100,
            source.choice(("oui", "non")),
        )
        for n in range(23)
    ]


def club() -> list[Row]:
    """Name, town, joined, fee, section."""
    source = random.Random(7718)
    names = ("Adèle", "Bruno", "Cécile", "Didier", "Élise", "Fabien", "Gaëlle", "Henri", "Inès", "Jules")
    return [
        (
            name,
            ("Nantes", "Rezé")[source.randrange(2)],
            date(2019, 9, 2) + timedelta(days=220 * n),
            60 + 5 * n + source.randrange(5),
            source.choice(("Judo", "Natation", "Escrime")),
        )
        for n, name in enumerate(names)
    ]


MAKERS = {
    "spenden.csv": made(
        ("Spender", "Ort", "Betrag in €", "Datum", "Zweck"),
        [(*r[:2], german(r[2]), r[3].strftime("%d.%m.%Y"), r[4]) for r in gifts()],
        delimiter=";",
        encoding="cp1252",
    ),
    "fuhrpark.xlsx": made(
        ("Kennzeichen", "Modell", "Kilometerstand", "Baujahr", "Kraftstoff", "Standort", "Restwert (€)"),
        cars(),
        sheet="Autos",
        formats={3: "#,##0", 7: "#,##0"},
    ),
    "facturas.csv": made(
        ("Factura", "Proveedor", "Importe (€)", "Fecha", "Estado", "Vencimiento"),
        [(*r[:2], german(r[2]), r[3].strftime("%d/%m/%Y"), r[4], r[5].strftime("%d/%m/%Y")) for r in bills()],
        delimiter=";",
    ),
    "plantilla.xlsx": made(
        ("Nombre", "Puesto", "Oficina", "Salario bruto (€)", "Fecha de alta", "Jornada"),
        employees(),
        sheet="Personal",
    ),
    "员工考勤.csv": made(("姓名", "部门", "迟到次数", "加班小时", "请假天数"), shifts(), encoding="gb18030"),
    "销售合同.xlsx": made(
        ("合同编号", "客户", "销售员", "合同金额（元）", "签订日期", "状态"), contracts(), sheet="合同"
    ),
    "notes de frais.csv": made(
        ("Date", "Employé", "Catégorie", "Montant (€)", "Payé"),
        [(r[0].strftime("%d/%m/%Y"), *r[1:3], f"{r[3]:.2f}".replace(".", ","), r[4]) for r in outgoings()],
        delimiter=";",
    ),
    "adhérents.ods": made(
        ("Nom", "Ville", "Date d'inscription", "Cotisation (€)", "Section"),
        [(*r[:2], r[2].strftime("%d/%m/%Y"), *r[3:]) for r in club()],
        sheet="Adhérents",
    ),
}


def questions() -> list[Q]:
    return [*_german(), *_spanish(), *_chinese(), *_french()]


def _german() -> list[Q]:
    ask = asker("de")
    rows, t = gifts(), "<spenden.csv>"
    donors = sorted({r[0] for r in rows})
    goals = sorted({r[4] for r in rows})
    fleet, f = cars(), "<fuhrpark.xlsx>"
    total = sum(r[2] for r in rows)
    return [
        ask("wer hat am meisten gespendet", "extreme", (max(donors, key=lambda d: sum(r[2] for r in rows if r[0] == d)),), f"SELECT [Spender], SUM([Betrag]) FROM {t} GROUP BY [Spender] ORDER BY 2 DESC LIMIT 1"),
        ask("wieviel geld kam fürs vereinsheim zusammen", "sum", (sum(r[2] for r in rows if r[4] == "Vereinsheim"),), f"SELECT SUM([Betrag]) FROM {t} WHERE [Zweck] = 'Vereinsheim'"),
        ask("spenden je zweck", "group", tuple(sum(r[2] for r in rows if r[4] == g) for g in goals), f"SELECT [Zweck], SUM([Betrag]) FROM {t} GROUP BY [Zweck]"),
        ask("welcher anteil der spenden ging an die kletterwand", "average", (100 * sum(r[2] for r in rows if r[4] == "Kletterwand") / total,),
            f"SELECT 100.0 * SUM(CASE WHEN [Zweck] = 'Kletterwand' THEN [Betrag] END) / SUM([Betrag]) FROM {t}"),
        ask("wie viele spenden lagen über 1000 euro", "filter", (sum(r[2] > 1000 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Betrag] > 1000"),
        ask("summe 2024", "dates", (sum(r[2] for r in rows if r[3].year == 2024),), f"SELECT SUM([Betrag]) FROM {t} WHERE [Datum] BETWEEN '2024-01-01' AND '2024-12-31'"),
        ask("spenden aus stuttgart?", "none", ()),
        ask("welches auto hat die meisten km", "extreme", (max(fleet, key=lambda r: r[2])[0],), f"SELECT [Kennzeichen], [Kilometerstand] FROM {f} ORDER BY [Kilometerstand] DESC LIMIT 1"),
        ask("wie viele diesel stehen in ulm", "count", (sum(r[4] == "Diesel" and r[5] == "Ulm" for r in fleet),), f"SELECT COUNT(*) FROM {f} WHERE [Kraftstoff] = 'Diesel' AND [Standort] = 'Ulm'"),
        ask("durchschnittlicher restwert der benziner", "average", (mean(r[6] for r in fleet if r[4] == "Benzin"),), f"SELECT AVG([Restwert]) FROM {f} WHERE [Kraftstoff] = 'Benzin'"),
        ask("autos älter als 2018", "group", tuple(r[0] for r in fleet if r[3] < 2018), f"SELECT [Kennzeichen] FROM {f} WHERE [Baujahr] < 2018"),
        ask("was ist UL-FN 215 noch wert", "lookup", (fleet[5][6],), f"SELECT [Restwert] FROM {f} WHERE [Kennzeichen] = 'UL-FN 215'"),
        ask("tüv von UL-FN 212 wann", "none", ()),
        ask("restwert von UL-FN 299", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    ask = asker("es")
    rows, t = bills(), "<facturas.csv>"
    suppliers = sorted({r[1] for r in rows})
    staff, s = employees(), "<plantilla.xlsx>"
    return [
        ask("cuántas facturas superan los 5000 euros", "filter", (sum(r[2] > 5000 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Importe] > 5000"),
        ask("cuanto nos queda por pagar de facturas pendientes", "sum", (sum(r[2] for r in rows if r[4] == "pendiente"),), f"SELECT SUM([Importe]) FROM {t} WHERE [Estado] = 'pendiente'"),
        ask("total pagado a Imprenta Luz y Aceros Soto", "sum", (sum(r[2] for r in rows if r[1] in ("Imprenta Luz", "Aceros Soto") and r[4] == "pagada"),),
            f"SELECT SUM([Importe]) FROM {t} WHERE [Proveedor] IN ('Imprenta Luz', 'Aceros Soto') AND [Estado] = 'pagada'"),
        ask("importe por proveedor", "group", tuple(sum(r[2] for r in rows if r[1] == p) for p in suppliers), f"SELECT [Proveedor], SUM([Importe]) FROM {t} GROUP BY [Proveedor]"),
        ask("que factura vence primero", "extreme", (min(rows, key=lambda r: r[5])[0],), f"SELECT [Factura], [Vencimiento] FROM {t} ORDER BY [Vencimiento] LIMIT 1"),
        ask("de cuánto es la F-890", "lookup", (rows[10][2],), f"SELECT [Importe] FROM {t} WHERE [Factura] = 'F-890'"),
        ask("de quién es la factura F-885", "lookup", (rows[5][1],), f"SELECT [Proveedor] FROM {t} WHERE [Factura] = 'F-885'"),
        ask("facturas de Electro Sur", "none", ()),
        ask("iva de la F-888", "none", ()),
        ask("sueldo medio de los comerciales", "average", (mean(r[3] for r in staff if r[1] == "Comercial"),), f"SELECT AVG([Salario]) FROM {s} WHERE [Puesto] = 'Comercial'"),
        ask("quién es el más veterano", "extreme", (min(staff, key=lambda r: r[4])[0],), f"SELECT [Nombre], [Fecha de alta] FROM {s} ORDER BY [Fecha de alta] LIMIT 1"),
        ask("cuánta gente trabaja a jornada parcial en Vigo", "count", (sum(r[5] == "parcial" and r[2] == "Vigo" for r in staff),), f"SELECT COUNT(*) FROM {s} WHERE [Jornada] = 'parcial' AND [Oficina] = 'Vigo'"),
        ask("quienes ganan menos de 32000", "group", tuple(r[0] for r in staff if r[3] < 32_000), f"SELECT [Nombre] FROM {s} WHERE [Salario] < 32000"),
        ask("teléfono de Clara Mas", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    ask = asker("zh")
    rows, t = shifts(), "<员工考勤.csv>"
    deals, d = contracts(), "<销售合同.xlsx>"
    sellers = sorted({r[2] for r in deals})
    return [
        ask("谁加班最多", "extreme", (max(rows, key=lambda r: r[3])[0],), f"SELECT [姓名], [加班小时] FROM {t} ORDER BY [加班小时] DESC LIMIT 1"),
        ask("研发部一共加班多少小时", "sum", (sum(r[3] for r in rows if r[1] == "研发部"),), f"SELECT SUM([加班小时]) FROM {t} WHERE [部门] = '研发部'"),
        ask("各部门平均请假几天", "group", tuple(mean(r[4] for r in rows if r[1] == g) for g in sorted({r[1] for r in rows})), f"SELECT [部门], AVG([请假天数]) FROM {t} GROUP BY [部门]"),
        ask("迟到超过3次的有几个人", "filter", (sum(r[2] > 3 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [迟到次数] > 3"),
        ask("王芳请了几天假", "lookup", (rows[3][4],), f"SELECT [请假天数] FROM {t} WHERE [姓名] = '王芳'"),
        ask("人事部有几个人", "none", ()),
        ask("张伟签了多少钱的合同", "sum", (sum(r[3] for r in deals if r[2] == "张伟"),), f"SELECT SUM([合同金额]) FROM {d} WHERE [销售员] = '张伟'"),
        ask("业绩最好的销售是谁", "extreme", (max(sellers, key=lambda s: sum(r[3] for r in deals if r[2] == s)),), f"SELECT [销售员], SUM([合同金额]) FROM {d} GROUP BY [销售员] ORDER BY 2 DESC LIMIT 1"),
        ask("执行中的合同有多少份", "count", (sum(r[5] == "执行中" for r in deals),), f"SELECT COUNT(*) FROM {d} WHERE [状态] = '执行中'"),
        ask("超过20万的合同有几份", "filter", (sum(r[3] > 200_000 for r in deals),), f"SELECT COUNT(*) FROM {d} WHERE [合同金额] > 200000"),
        ask("2025年第一季度签的合同总额", "dates", (sum(r[3] for r in deals if r[4].year == 2025 and r[4].month <= 3),), f"SELECT SUM([合同金额]) FROM {d} WHERE [签订日期] BETWEEN '2025-01-01' AND '2025-03-31'"),
        ask("HT-2110是跟谁签的", "lookup", (deals[9][1],), f"SELECT [客户] FROM {d} WHERE [合同编号] = 'HT-2110'"),
        ask("HT-2105什么时候付款", "none", ()),
    ]  # fmt: skip


def _french() -> list[Q]:
    ask = asker("fr")
    rows, t = outgoings(), "<notes de frais.csv>"
    people = sorted({r[1] for r in rows})
    members, m = club(), "<adhérents.ods>"
    return [
        ask("combien a dépensé Chloé en hôtels", "sum", (sum(r[3] for r in rows if r[1] == "Chloé Weber" and r[2] == "Hôtel"),), f"SELECT SUM([Montant]) FROM {t} WHERE [Employé] = 'Chloé Weber' AND [Catégorie] = 'Hôtel'"),
        ask("total des frais par catégorie", "group", tuple(sum(r[3] for r in rows if r[2] == c) for c in sorted({r[2] for r in rows})), f"SELECT [Catégorie], SUM([Montant]) FROM {t} GROUP BY [Catégorie]"),
        ask("quel employé a dépensé le plus", "extreme", (max(people, key=lambda p: sum(r[3] for r in rows if r[1] == p)),), f"SELECT [Employé], SUM([Montant]) FROM {t} GROUP BY [Employé] ORDER BY 2 DESC LIMIT 1"),
        ask("combien de notes dépassent 400 euros", "filter", (sum(r[3] > 400 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Montant] > 400"),
        ask("montant moyen des repas", "average", (mean(r[3] for r in rows if r[2] == "Repas"),), f"SELECT AVG([Montant]) FROM {t} WHERE [Catégorie] = 'Repas'"),
        ask("les frais de mars au total", "dates", (sum(r[3] for r in rows if r[0].month == 3),), f"SELECT SUM([Montant]) FROM {t} WHERE [Date] BETWEEN '2025-03-01' AND '2025-03-31'"),
        ask("frais de taxi de Damien", "none", ()),
        ask("combien d'adhérents à Rezé", "count", (sum(r[1] == "Rezé" for r in members),), f"SELECT COUNT(*) FROM {m} WHERE [Ville] = 'Rezé'"),
        ask("qui paie la cotisation la plus élevée", "extreme", (max(members, key=lambda r: r[3])[0],), f"SELECT [Nom], [Cotisation] FROM {m} ORDER BY [Cotisation] DESC LIMIT 1"),
        ask("cotisation de Gaëlle", "lookup", (members[6][3],), f"SELECT [Cotisation] FROM {m} WHERE [Nom] = 'Gaëlle'"),
        ask("depuis quand Henri est inscrit", "lookup", (f"{members[7][2]}",), f"SELECT [Date d'inscription] FROM {m} WHERE [Nom] = 'Henri'"),
        ask("combien de membres font du tennis", "none", ()),
    ]  # fmt: skip
