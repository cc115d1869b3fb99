# ruff: noqa: S608 - SQL of our own, Chinese punctuation
from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

Q = ComputedQuestion


def members() -> list[Row]:
    """Name, section, joined, yearly fee, town."""
    source = random.Random(8811)
    names = ("Anke", "Bernd", "Carola", "Dirk", "Elke", "Falk", "Gerda", "Holger", "Ilse", "Jörg", "Kerstin")
    return [
        (
            name,
            source.choice(("Turnen", "Tischtennis", "Volleyball")),
            date(2016, 4, 11) + timedelta(days=291 * n),
            48 + 6 * n + source.randrange(5),
            source.choice(("Kassel", "Baunatal")),
        )
        for n, name in enumerate(names)
    ]


def invoices() -> list[Row]:
    """Number, customer, net, day, state."""
    source = random.Random(8812)
    return [
        (
            f"RE-{700 + n}",
            source.choice(("Adler GmbH", "Brunner KG", "Cordes AG", "Dahlem & Söhne")),
            source.randrange(15_000, 980_000) / 100,
            date(2024, 8, 3) + timedelta(days=16 * n),
            source.choice(("bezahlt", "offen", "gemahnt")),
        )
        for n in range(25)
    ]


def rents() -> list[Row]:
    """Flat, district, metres, rent, tenant, ends."""
    source = random.Random(8813)
    return [
        (
            f"Piso {n + 1:02}",
            source.choice(("Centro", "Ruzafa", "Campanar")),
            source.randrange(35, 140),
            source.randrange(520, 1_900, 5),
            ("Olga Pla", "Marcos Gil", "Sara Font", "Iván Roca", "")[source.randrange(5)],
            date(2025, 10, 31) + timedelta(days=41 * n),
        )
        for n in range(15)
    ]


def projects() -> list[Row]:
    """Project, manager, budget, spent, start, state."""
    source = random.Random(8814)
    names = ("Faro", "Lince", "Mistral", "Nube", "Olivo", "Puente", "Quijote", "Roble")
    return [
        (
            name,
            ("Laura Cid", "Tomás Rey", "Nuria Pons")[source.randrange(3)],
            source.randrange(20_000, 150_000, 500),
            source.randrange(5_000, 90_000, 250),
            date(2024, 3, 1) + timedelta(days=77 * n),
            source.choice(("activo", "cerrado")),
        )
        for n, name in enumerate(names)
    ]


def stock() -> list[Row]:
    """Code, product, category, stock, price, warehouse."""
    source = random.Random(8815)
    names = ("键盘", "鼠标", "显示器", "打印纸", "签字笔", "订书机", "路由器", "网线", "文件夹", "台灯")
    groups = ("电子", "电子", "电子", "文具", "文具", "文具", "电子", "电子", "文具", "家居")
    return [
        (
            f"K{n + 11}",
            name,
            groups[n],
            source.randrange(5, 400),
            source.randrange(3, 1500) + 0.5,
            ("上海仓", "武汉仓")[n % 2],
        )
        for n, name in enumerate(names)
    ]


def marks() -> list[Row]:
    """Name, class, Chinese, maths, English."""
    source = random.Random(8816)
    names = ("丁一", "马超", "王晓", "白雪", "冯程", "许晴", "朱迪", "江涛", "严格", "苏畅", "宋词", "唐诗")
    return [
        (
            name,
            ("一班", "二班", "三班")[n % 3],
            source.randrange(50, 100),
            40 + 5 * n - source.randrange(4),
            source.randrange(50, 100),
        )
        for n, name in enumerate(names)
    ]


def sales() -> list[Row]:
    """Order, customer, product, quantity, amount, day."""
    source = random.Random(8817)
    return [
        (
            f"C{410 + n}",
            source.choice(("Boulangerie Petit", "Café Central", "Hôtel Mercier", "Traiteur Vidal")),
            source.choice(("Farine", "Sucre", "Beurre")),
            source.randrange(2, 90),
            source.randrange(2_500, 240_000) / 100,
            date(2024, 11, 4) + timedelta(days=11 * n),
        )
        for n in range(22)
    ]


def workers() -> list[Row]:
    """Name, department, salary, hired, contract."""
    source = random.Random(8818)
    names = ("Alice Morel", "Boris Klein", "Clara Petit", "David Renard", "Emma Leroy", "Fred Collin", "Gilles Arnaud", "Hélène Roy", "Igor Blanc")  # fmt: skip
    return [
        (
            name,
            source.choice(("Ventes", "Production", "Achats")),
            source.randrange(1_800, 5_200, 10),
            date(2014, 5, 12) + timedelta(days=377 * n),
            source.choice(("CDI", "CDD")),
        )
        for n, name in enumerate(names)
    ]


MAKERS = {
    "mitgliederliste.ods": made(
        ("Name", "Abteilung", "Eintritt", "Jahresbeitrag (€)", "Wohnort"),
        [(*r[:2], r[2].strftime("%d.%m.%Y"), *r[3:]) for r in members()],
        sheet="Mitglieder",
    ),
    "ausgangsrechnungen.xlsx": made(
        ("Rechnungsnr.", "Kunde", "Nettobetrag (€)", "Rechnungsdatum", "Status"),
        invoices(),
        sheet="2024-25",
        formats={3: "#,##0.00", 4: "dd.mm.yyyy"},
    ),
    "alquileres.csv": made(
        ("Piso", "Barrio", "Superficie (m²)", "Renta mensual (€)", "Inquilino", "Fin de contrato"),
        [(*r[:5], r[5].strftime("%d/%m/%Y")) for r in rents()],
        delimiter=";",
    ),
    "proyectos.html": made(
        ("Proyecto", "Responsable", "Presupuesto (€)", "Gastado (€)", "Inicio", "Estado"),
        [
            (*r[:2], german(r[2], 0), german(r[3], 0), r[4].strftime("%d/%m/%Y"), r[5])
            for r in projects()
        ],
    ),
    "库存.csv": made(("编码", "品名", "类别", "库存", "单价（元）", "仓库"), stock()),
    "期末成绩.xlsx": made(("姓名", "班级", "语文", "数学", "英语"), marks(), sheet="成绩"),
    "commandes.csv": made(
        ("Commande", "Client", "Produit", "Quantité", "Montant HT (€)", "Date"),
        [(*r[:4], f"{r[4]:.2f}".replace(".", ","), r[5].strftime("%d/%m/%Y")) for r in sales()],
        delimiter=";",
        encoding="cp1252",
    ),
    "salariés.xlsx": made(
        ("Salarié", "Service", "Salaire mensuel (€)", "Date d'embauche", "Contrat"),
        workers(),
        sheet="Effectif",
        formats={3: "#,##0"},
    ),
}  # fmt: skip


def questions() -> list[Q]:
    return [*_german(), *_spanish(), *_chinese(), *_french()]


def _german() -> list[Q]:
    ask = asker("de")
    people, p = members(), "<mitgliederliste.ods>"
    rows, t = invoices(), "<ausgangsrechnungen.xlsx>"
    customers = sorted({r[1] for r in rows})
    return [
        ask("wieviele leute sind beim turnen", "count", (sum(r[1] == "Turnen" for r in people),), f"SELECT COUNT(*) FROM {p} WHERE [Abteilung] = 'Turnen'"),
        ask("wer ist am längsten dabei", "extreme", (people[0][0],), f"SELECT [Name], [Eintritt] FROM {p} ORDER BY [Eintritt] LIMIT 1"),
        ask("beiträge aus kassel zusammen", "sum", (sum(r[3] for r in people if r[4] == "Kassel"),), f"SELECT SUM([Jahresbeitrag]) FROM {p} WHERE [Wohnort] = 'Kassel'"),
        ask("was zahlt Gerda im jahr", "lookup", (people[6][3],), f"SELECT [Jahresbeitrag] FROM {p} WHERE [Name] = 'Gerda'"),
        ask("wann ist Dirk eingetreten", "lookup", (f"{people[3][2]}",), f"SELECT [Eintritt] FROM {p} WHERE [Name] = 'Dirk'"),
        ask("handynummer von Elke", "none", ()),
        ask("wie viel ist noch offen", "sum", (sum(r[2] for r in rows if r[4] == "offen"),), f"SELECT SUM([Nettobetrag]) FROM {t} WHERE [Status] = 'offen'"),
        ask("umsatz pro kunde", "group", tuple(sum(r[2] for r in rows if r[1] == c) for c in customers), f"SELECT [Kunde], SUM([Nettobetrag]) FROM {t} GROUP BY [Kunde]"),
        ask("welcher kunde bringt am meisten umsatz", "extreme", (max(customers, key=lambda c: sum(r[2] for r in rows if r[1] == c)),), f"SELECT [Kunde], SUM([Nettobetrag]) FROM {t} GROUP BY [Kunde] ORDER BY 2 DESC LIMIT 1"),
        ask("wie viele rechnungen übersteigen 6000 euro", "filter", (sum(r[2] > 6000 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Nettobetrag] > 6000"),
        ask("rechnungen im januar, gesamtbetrag", "dates", (sum(r[2] for r in rows if r[3].month == 1),), f"SELECT SUM([Nettobetrag]) FROM {t} WHERE [Rechnungsdatum] BETWEEN '2025-01-01' AND '2025-01-31'"),
        ask("wieviel mehr hat Adler als Cordes bezahlt", "sum", (sum(r[2] for r in rows if r[1] == "Adler GmbH" and r[4] == "bezahlt") - sum(r[2] for r in rows if r[1] == "Cordes AG" and r[4] == "bezahlt"),),
            f"SELECT (SELECT SUM([Nettobetrag]) FROM {t} WHERE [Kunde] = 'Adler GmbH' AND [Status] = 'bezahlt') - (SELECT SUM([Nettobetrag]) FROM {t} WHERE [Kunde] = 'Cordes AG' AND [Status] = 'bezahlt')"),
        ask("skonto bei RE-705", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    ask = asker("es")
    flats, f = rents(), "<alquileres.csv>"
    rows, t = projects(), "<proyectos.html>"
    managers = sorted({r[1] for r in rows})
    return [
        ask("cuántos pisos están vacíos", "count", (sum(r[4] == "" for r in flats),), f"SELECT COUNT(*) FROM {f} WHERE [Inquilino] IS NULL"),
        ask("alquiler medio en Ruzafa", "average", (mean(r[3] for r in flats if r[1] == "Ruzafa"),), f"SELECT AVG([Renta mensual]) FROM {f} WHERE [Barrio] = 'Ruzafa'"),
        ask("pisos que pasan de 1200 euros al mes", "group", tuple(r[0] for r in flats if r[3] > 1200), f"SELECT [Piso] FROM {f} WHERE [Renta mensual] > 1200"),
        ask("el piso más grande", "extreme", (max(flats, key=lambda r: r[2])[0],), f"SELECT [Piso], [Superficie] FROM {f} ORDER BY [Superficie] DESC LIMIT 1"),
        ask("qué porcentaje de la renta viene de Centro", "average", (100 * sum(r[3] for r in flats if r[1] == "Centro") / sum(r[3] for r in flats),),
            f"SELECT 100.0 * SUM(CASE WHEN [Barrio] = 'Centro' THEN [Renta mensual] END) / SUM([Renta mensual]) FROM {f}"),
        ask("cuándo acaba el contrato del Piso 07", "lookup", (f"{flats[6][5]}",), f"SELECT [Fin de contrato] FROM {f} WHERE [Piso] = 'Piso 07'"),
        ask("fianza del Piso 03", "none", ()),
        ask("presupuesto total de los proyectos activos", "sum", (sum(r[2] for r in rows if r[5] == "activo"),), f"SELECT SUM([Presupuesto]) FROM {t} WHERE [Estado] = 'activo'"),
        ask("cuánto se ha gastado en los proyectos de Nuria y Laura", "sum", (sum(r[3] for r in rows if r[1] in ("Nuria Pons", "Laura Cid")),), f"SELECT SUM([Gastado]) FROM {t} WHERE [Responsable] IN ('Nuria Pons', 'Laura Cid')"),
        ask("quién lleva más proyectos", "extreme", (max(managers, key=lambda m: sum(r[1] == m for r in rows)),), f"SELECT [Responsable], COUNT(*) FROM {t} GROUP BY [Responsable] ORDER BY 2 DESC LIMIT 1"),
        ask("los 2 proyectos con más presupuesto", "top", tuple(r[0] for r in sorted(rows, key=lambda r: -r[2])[:2]), f"SELECT [Proyecto], [Presupuesto] FROM {t} ORDER BY [Presupuesto] DESC LIMIT 2"),
        ask("responsable de Mistral", "lookup", (rows[2][1],), f"SELECT [Responsable] FROM {t} WHERE [Proyecto] = 'Mistral'"),
        ask("cliente del proyecto Nube", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    ask = asker("zh")
    rows, t = stock(), "<库存.csv>"
    pupils, p = marks(), "<期末成绩.xlsx>"
    return [
        ask("哪个东西库存最少", "extreme", (min(rows, key=lambda r: r[3])[1],), f"SELECT [品名], [库存] FROM {t} ORDER BY [库存] LIMIT 1"),
        ask("电子类总库存", "sum", (sum(r[3] for r in rows if r[2] == "电子"),), f"SELECT SUM([库存]) FROM {t} WHERE [类别] = '电子'"),
        ask("武汉仓有几种商品", "count", (sum(r[5] == "武汉仓" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [仓库] = '武汉仓'"),
        ask("单价不到500元的有几个", "filter", (sum(r[4] < 500 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [单价] < 500"),
        ask("每个仓库的库存合计", "group", tuple(sum(r[3] for r in rows if r[5] == w) for w in sorted({r[5] for r in rows})), f"SELECT [仓库], SUM([库存]) FROM {t} GROUP BY [仓库]"),
        ask("路由器多少钱", "lookup", (rows[6][4],), f"SELECT [单价] FROM {t} WHERE [品名] = '路由器'"),
        ask("键盘的保质期", "none", ()),
        ask("三班数学平均分", "average", (mean(r[3] for r in pupils if r[1] == "三班"),), f"SELECT AVG([数学]) FROM {p} WHERE [班级] = '三班'"),
        ask("数学最高分是谁", "extreme", (max(pupils, key=lambda r: r[3])[0],), f"SELECT [姓名], [数学] FROM {p} ORDER BY [数学] DESC LIMIT 1"),
        ask("英语没及格的有几个人，60分以下", "filter", (sum(r[4] < 60 for r in pupils),), f"SELECT COUNT(*) FROM {p} WHERE [英语] < 60"),
        ask("白雪语文考了多少", "lookup", (pupils[3][2],), f"SELECT [语文] FROM {p} WHERE [姓名] = '白雪'"),
        ask("朱迪的物理成绩", "none", ()),
    ]  # fmt: skip


def _french() -> list[Q]:
    ask = asker("fr")
    rows, t = sales(), "<commandes.csv>"
    customers = sorted({r[1] for r in rows})
    staff, s = workers(), "<salariés.xlsx>"
    return [
        ask("chiffre d'affaires avec le Café Central", "sum", (sum(r[4] for r in rows if r[1] == "Café Central"),), f"SELECT SUM([Montant HT]) FROM {t} WHERE [Client] = 'Café Central'"),
        ask("quel client commande le plus", "extreme", (max(customers, key=lambda c: sum(r[4] for r in rows if r[1] == c)),), f"SELECT [Client], SUM([Montant HT]) FROM {t} GROUP BY [Client] ORDER BY 2 DESC LIMIT 1"),
        ask("combien de commandes de plus de 1000 euros", "filter", (sum(r[4] > 1000 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Montant HT] > 1000"),
        ask("quantité totale de farine et sucre", "sum", (sum(r[3] for r in rows if r[2] in ("Farine", "Sucre")),), f"SELECT SUM([Quantité]) FROM {t} WHERE [Produit] IN ('Farine', 'Sucre')"),
        ask("montant par produit", "group", tuple(sum(r[4] for r in rows if r[2] == c) for c in sorted({r[2] for r in rows})), f"SELECT [Produit], SUM([Montant HT]) FROM {t} GROUP BY [Produit]"),
        ask("commandes entre janvier et mars 2025, combien", "dates", (sum(r[5].year == 2025 and r[5].month <= 3 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Date] BETWEEN '2025-01-01' AND '2025-03-31'"),
        ask("client de la commande C418", "lookup", (rows[8][1],), f"SELECT [Client] FROM {t} WHERE [Commande] = 'C418'"),
        ask("remise sur C415", "none", ()),
        ask("salaire moyen en production", "average", (mean(r[2] for r in staff if r[1] == "Production"),), f"SELECT AVG([Salaire mensuel]) FROM {s} WHERE [Service] = 'Production'"),
        ask("qui gagne le moins", "extreme", (min(staff, key=lambda r: r[2])[0],), f"SELECT [Salarié], [Salaire mensuel] FROM {s} ORDER BY [Salaire mensuel] LIMIT 1"),
        ask("combien de CDD aux achats", "count", (sum(r[1] == "Achats" and r[4] == "CDD" for r in staff),), f"SELECT COUNT(*) FROM {s} WHERE [Service] = 'Achats' AND [Contrat] = 'CDD'"),
        ask("qui a été embauché avant 2018", "group", tuple(r[0] for r in staff if r[3].year < 2018), f"SELECT [Salarié] FROM {s} WHERE [Date d'embauche] < '2018-01-01'"),
        ask("adresse d'Emma Leroy", "none", ()),
    ]  # fmt: skip
