# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, cast

import openpyxl

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion


def trips() -> list[Row]:
    """Receipt, traveller, department, place, day of leaving and of return, costs, paid back."""
    return [
        ("RK-2501", "Thalmann", "Vertrieb", "Wien", date(2025, 1, 13), date(2025, 1, 15), 684.2, "ja"),
        ("RK-2502", "Behrens", "Einkauf", "Lyon", date(2025, 1, 20), date(2025, 1, 23), 1120.75, "ja"),
        ("RK-2503", "Yilmaz", "Vertrieb", "Prag", date(2025, 2, 4), date(2025, 2, 5), 312.4, "ja"),
        ("RK-2504", "Schröder", "Technik", "Wien", date(2025, 2, 17), date(2025, 2, 21), 1456.9, "nein"),
        ("RK-2505", "Behrens", "Einkauf", "Mailand", date(2025, 3, 3), date(2025, 3, 6), 978.1, "ja"),
        ("RK-2506", "Thalmann", "Vertrieb", "Hamburg", date(2025, 3, 11), date(2025, 3, 11), 148.6, "nein"),
        ("RK-2507", "Kowal", "Technik", "Lyon", date(2025, 3, 24), date(2025, 3, 28), 1733.35, "nein"),
        ("RK-2508", "Yilmaz", "Vertrieb", "Wien", date(2025, 4, 1), date(2025, 4, 3), 765.0, "ja"),
        ("RK-2509", "Schröder", "Technik", "Hamburg", date(2025, 4, 14), date(2025, 4, 16), 420.85, "ja"),
        ("RK-2510", "Behrens", "Einkauf", "Prag", date(2025, 5, 5), date(2025, 5, 7), 489.3, "nein"),
        ("RK-2511", "Thalmann", "Vertrieb", "Mailand", date(2025, 5, 19), date(2025, 5, 22), 1087.45, "nein"),
        ("RK-2512", "Kowal", "Technik", "Prag", date(2025, 6, 2), date(2025, 6, 4), 533.7, "nein"),
    ]


def classes() -> list[Row]:
    """Level, class, tutor, room, pupils, mean mark, grants."""
    return [
        ("Primaria", "P1", "Elena Rubio", "A-12", 23, 7.4, 3),
        ("Primaria", "P2", "Jorge Sanz", "A-14", 26, 6.9, 5),
        ("Primaria", "P3", "Nerea Gil", "A-15", 21, 7.8, 2),
        ("Secundaria", "S1", "Pablo Vidal", "B-03", 28, 6.3, 6),
        ("Secundaria", "S2", "Marina Costa", "B-05", 30, 6.1, 7),
        ("Secundaria", "S3", "Luis Ortega", "B-06", 25, 6.7, 4),
        ("Secundaria", "S4", "Ana Bravo", "B-09", 27, 7.1, 3),
        ("Bachillerato", "B1", "Teresa Molina", "C-01", 19, 7.6, 2),
        ("Bachillerato", "B2", "Óscar Peña", "C-02", 22, 7.2, 4),
    ]


def lots() -> list[Row]:
    """Lot, company, start, end, amount without tax, progress."""
    return [
        ("Gros œuvre", "Brunet SARL", date(2025, 1, 6), date(2025, 4, 18), 184500, 100),
        ("Charpente", "Bois & Cie", date(2025, 4, 21), date(2025, 5, 30), 61200, 85),
        ("Toiture", "Bois & Cie", date(2025, 5, 26), date(2025, 7, 4), 48900, 40),
        ("Plomberie", "Hydro Pro", date(2025, 5, 12), date(2025, 8, 8), 37400, 55),
        ("Électricité", "Voltanet", date(2025, 5, 19), date(2025, 8, 22), 42650, 35),
        ("Plâtrerie", "Brunet SARL", date(2025, 7, 7), date(2025, 9, 12), 29800, 0),
        ("Peinture", "Déco Ouest", date(2025, 9, 15), date(2025, 10, 17), 18300, 0),
        ("Terrassement", "Brunet SARL", date(2024, 11, 18), date(2024, 12, 20), 22750, 100),
    ]


def staff() -> list[Row]:
    """Number, name, department, start, degree, salary, works from home."""
    return [
        ("YG-001", "李娜", "研发部", date(2018, 3, 5), "硕士", 21500, "是"),
        ("YG-002", "张强", "研发部", date(2020, 7, 13), "本科", 16800, "是"),
        ("YG-003", "王芳", "市场部", date(2019, 9, 2), "本科", 13200, "否"),
        ("YG-004", "刘洋", "市场部", date(2022, 4, 18), "硕士", 15600, "是"),
        ("YG-005", "陈静", "财务部", date(2017, 1, 9), "本科", 14300, "否"),
        ("YG-006", "杨帆", "研发部", date(2022, 8, 22), "博士", 26400, "是"),
        ("YG-007", "赵磊", "客服部", date(2021, 5, 31), "大专", 8900, "否"),
        ("YG-008", "黄丽", "客服部", date(2023, 2, 13), "大专", 8200, "否"),
        ("YG-009", "周杰", "市场部", date(2023, 10, 16), "硕士", 14800, "是"),
        ("YG-010", "吴敏", "财务部", date(2022, 11, 7), "硕士", 15900, "否"),
        ("YG-011", "徐涛", "研发部", date(2024, 3, 25), "硕士", 19700, "是"),
        ("YG-012", "孙悦", "客服部", date(2020, 12, 1), "本科", 9600, "否"),
    ]


def _classes(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = cast("Any", book.active)
    sheet.title = "Curso 2025-26"
    sheet.append(("Grupos del curso 2025-26",))
    sheet.merge_cells("A1:G1")
    sheet.append(())
    sheet.append(("Nivel", "Grupo", "Tutor/a", "Aula", "Alumnos", "Nota media", "Becas"))
    for level in dict.fromkeys(row[0] for row in classes()):
        own = [row for row in classes() if row[0] == level]
        first = sheet.max_row + 1
        for row in own:
            sheet.append((level if row is own[0] else None, *row[1:]))
        sheet.merge_cells(f"A{first}:A{first + len(own) - 1}")
        sheet.append((f"Subtotal {level}", None, None, None, sum(r[4] for r in own), None, sum(r[6] for r in own)))  # fmt: skip
    sheet.append(("Total", None, None, None, sum(r[4] for r in classes()), None, sum(r[6] for r in classes())))  # fmt: skip
    book.save(path)


MAKERS = {
    "Reisekosten.csv": made(
        ("Beleg", "Reisender", "Abteilung", "Reiseziel", "Abreise", "Rückkehr", "Kosten", "Erstattet"),
        [(*r[:4], f"{r[4]:%d.%m.%Y}", f"{r[5]:%d.%m.%Y}", f"{german(r[6])} €", r[7]) for r in trips()],
        delimiter=";",
    ),
    "cursos.xlsx": _classes,
    "planning chantier.docx": made(
        ("Lot", "Entreprise", "Début", "Fin", "Montant HT (€)", "Avancement"),
        [(*r[:2], f"{r[2]:%d/%m/%Y}", f"{r[3]:%d/%m/%Y}", r[4], f"{r[5]} %") for r in lots()],
    ),
    "员工名册.xlsx": made(
        ("工号", "姓名", "部门", "入职日期", "学历", "月薪(元)", "远程办公"), staff(), sheet="名册"
    ),
}


def questions() -> list[Q]:
    return [*_german(), *_spanish(), *_french(), *_chinese()]


def _german() -> list[Q]:
    rows, t, q = trips(), "<Reisekosten.csv>", asker("de")
    departments = {d: round(sum(r[6] for r in rows if r[2] == d), 2) for d in sorted({r[2] for r in rows})}
    return [
        q("Was haben uns die Reisen nach Wien insgesamt gekostet?", "sum", (round(sum(r[6] for r in rows if r[3] == "Wien"), 2),), f"SELECT SUM([Kosten]) FROM {t} WHERE [Reiseziel] = 'Wien'"),
        q("wie viele Belege sind noch nicht erstattet", "count", (sum(r[7] == "nein" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Erstattet] = 0"),
        q("Reisekosten je Abteilung", "group", tuple(departments.values()), f"SELECT [Abteilung], SUM([Kosten]) FROM {t} GROUP BY [Abteilung]"),
        q("Anzahl Reisen mit Abreise im März 2025", "dates", (sum(r[4].month == 3 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Abreise] BETWEEN '2025-03-01' AND '2025-03-31'"),
        q("Welcher Beleg war der teuerste?", "extreme", (max(rows, key=lambda r: r[6])[0],), f"SELECT [Beleg], [Kosten] FROM {t} ORDER BY [Kosten] DESC LIMIT 1"),
        q("Bitte die durchschnittlichen Kosten einer Reise im Vertrieb", "average", (mean(r[6] for r in rows if r[2] == "Vertrieb"),), f"SELECT AVG([Kosten]) FROM {t} WHERE [Abteilung] = 'Vertrieb'"),
        q("Welche Belege der Technik liegen über 1000 Euro?", "filter", tuple(r[0] for r in rows if r[2] == "Technik" and r[6] > 1000), f"SELECT [Beleg] FROM {t} WHERE [Abteilung] = 'Technik' AND [Kosten] > 1000"),
        q("Kosten von RK-2508?", "lookup", (765,), f"SELECT [Kosten] FROM {t} WHERE [Beleg] = 'RK-2508'"),
        q("Wann war die Rückkehr bei RK-2511", "lookup", ("2025-05-22",), f"SELECT [Rückkehr] FROM {t} WHERE [Beleg] = 'RK-2511'"),
        q("Wer war der Reisende bei RK-2504?", "lookup", ("Schröder",), f"SELECT [Reisender] FROM {t} WHERE [Beleg] = 'RK-2504'"),
        q("Welches Hotel wurde bei RK-2505 gebucht?", "none", ()),
        q("Reisekosten von Thalheim", "none", ()),
        q("Was haben die Reisen nach Zürich gekostet?", "none", ()),
    ]  # fmt: skip


def _spanish() -> list[Q]:
    rows, t, q = classes(), "<cursos.xlsx>", asker("es")
    levels = {level: sum(r[0] == level for r in rows) for level in sorted({r[0] for r in rows})}
    share = 100 * sum(r[4] for r in rows if r[0] == "Bachillerato") / sum(r[4] for r in rows)
    return [
        q("¿Cuántos alumnos hay en Secundaria?", "sum", (sum(r[4] for r in rows if r[0] == "Secundaria"),), f"SELECT SUM([Alumnos]) FROM {t} WHERE [Nivel] = 'Secundaria' AND [Grupo] IS NOT NULL"),
        q("grupo con la nota media más alta", "extreme", ("P3",), f"SELECT [Grupo], [Nota media] FROM {t} WHERE [Grupo] IS NOT NULL ORDER BY [Nota media] DESC LIMIT 1"),
        q("promedio de alumnos por grupo en Primaria", "average", (mean(r[4] for r in rows if r[0] == "Primaria"),), f"SELECT AVG([Alumnos]) FROM {t} WHERE [Nivel] = 'Primaria' AND [Grupo] IS NOT NULL"),
        q("¿Qué porcentaje de los alumnos está en Bachillerato?", "sum", (share,), f"SELECT 100.0 * SUM(CASE WHEN [Nivel] = 'Bachillerato' THEN [Alumnos] ELSE 0 END) / SUM([Alumnos]) FROM {t} WHERE [Grupo] IS NOT NULL"),
        q("Dime qué grupos tienen más de 25 alumnos", "filter", tuple(r[1] for r in rows if r[4] > 25), f"SELECT [Grupo] FROM {t} WHERE [Grupo] IS NOT NULL AND [Alumnos] > 25"),
        q("número de grupos por nivel", "group", tuple(levels.values()), f"SELECT [Nivel], COUNT(*) FROM {t} WHERE [Grupo] IS NOT NULL GROUP BY [Nivel]"),
        q("los tres grupos con más becas", "top", tuple(r[1] for r in sorted(rows, key=lambda r: -r[6])[:3]), f"SELECT [Grupo], [Becas] FROM {t} WHERE [Grupo] IS NOT NULL ORDER BY [Becas] DESC LIMIT 3"),
        q("¿Quién es el tutor del grupo S3?", "lookup", ("Luis Ortega",), f"SELECT [Tutor/a] FROM {t} WHERE [Grupo] = 'S3'"),
        q("aula de P2", "lookup", ("A-14",), f"SELECT [Aula] FROM {t} WHERE [Grupo] = 'P2'"),
        q("¿qué nota media tiene el grupo B1?", "lookup", (7.6,), f"SELECT [Nota media] FROM {t} WHERE [Grupo] = 'B1'"),
        q("¿Cuántos repetidores hay en el grupo S2?", "none", ()),
        q("tutor del grupo S7", "none", ()),
        q("¿cuántos alumnos tenemos en Infantil?", "none", ()),
    ]  # fmt: skip


def _french() -> list[Q]:
    rows, t, q = lots(), "<planning chantier.docx>", asker("fr")
    companies = {c: sum(r[4] for r in rows if r[1] == c) for c in sorted({r[1] for r in rows})}
    return [
        q("Quel est le montant HT total des travaux ?", "sum", (sum(r[4] for r in rows),), f"SELECT SUM([Montant HT]) FROM {t}"),
        q("combien de lots a l'entreprise Brunet SARL", "count", (sum(r[1] == "Brunet SARL" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [Entreprise] = 'Brunet SARL'"),
        q("lots dont l'avancement est inférieur à 50 %", "filter", tuple(r[0] for r in rows if r[5] < 50), f"SELECT [Lot] FROM {t} WHERE [Avancement] < 50"),
        q("les 3 lots les plus chers", "top", tuple(r[0] for r in sorted(rows, key=lambda r: -r[4])[:3]), f"SELECT [Lot], [Montant HT] FROM {t} ORDER BY [Montant HT] DESC LIMIT 3"),
        q("Quels lots commencent après le 1er juin 2025 ?", "dates", tuple(r[0] for r in rows if r[2] > date(2025, 6, 1)), f"SELECT [Lot] FROM {t} WHERE [Début] > '2025-06-01'"),
        q("avancement moyen de tous les lots", "average", (mean(r[5] for r in rows),), f"SELECT AVG([Avancement]) FROM {t}"),
        q("montant HT par entreprise, merci", "group", tuple(companies.values()), f"SELECT [Entreprise], SUM([Montant HT]) FROM {t} GROUP BY [Entreprise]"),
        q("Quelle entreprise s'occupe de la plomberie ?", "lookup", ("Hydro Pro",), f"SELECT [Entreprise] FROM {t} WHERE [Lot] = 'Plomberie'"),
        q("date de fin du lot Toiture", "lookup", ("2025-07-04",), f"SELECT [Fin] FROM {t} WHERE [Lot] = 'Toiture'"),
        q("Quel est le montant du lot Ascenseur ?", "none", ()),
        q("nombre d'ouvriers sur le lot Peinture", "none", ()),
    ]  # fmt: skip


def _chinese() -> list[Q]:
    rows, t, q = staff(), "<员工名册.xlsx>", asker("zh")
    departments = {d: sum(r[2] == d for r in rows) for d in sorted({r[2] for r in rows})}
    return [
        q("研发部的平均月薪是多少？", "average", (mean(r[5] for r in rows if r[2] == "研发部"),), f"SELECT AVG([月薪(元)]) FROM {t} WHERE [部门] = '研发部'"),
        q("各部门各有多少人", "group", tuple(departments.values()), f"SELECT [部门], COUNT(*) FROM {t} GROUP BY [部门]"),
        q("2022年入职的员工有几个？", "dates", (sum(r[3].year == 2022 for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [入职日期] BETWEEN '2022-01-01' AND '2022-12-31'"),
        q("月薪最高的员工是谁", "extreme", ("杨帆",), f"SELECT [姓名], [月薪(元)] FROM {t} ORDER BY [月薪(元)] DESC LIMIT 1"),
        q("请列出学历是硕士而且月薪超过15000的员工姓名", "filter", tuple(r[1] for r in rows if r[4] == "硕士" and r[5] > 15000), f"SELECT [姓名] FROM {t} WHERE [学历] = '硕士' AND [月薪(元)] > 15000"),
        q("可以远程办公的员工有多少人？", "count", (sum(r[6] == "是" for r in rows),), f"SELECT COUNT(*) FROM {t} WHERE [远程办公] = 1"),
        q("吴敏是哪个部门的？", "lookup", ("财务部",), f"SELECT [部门] FROM {t} WHERE [姓名] = '吴敏'"),
        q("YG-007的入职日期", "lookup", ("2021-05-31",), f"SELECT [入职日期] FROM {t} WHERE [工号] = 'YG-007'"),
        q("YG-017的月薪是多少", "none", ()),
    ]  # fmt: skip
