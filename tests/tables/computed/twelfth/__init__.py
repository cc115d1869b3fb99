"""Written after the rules were changed with the tenth and the eleventh set; asked once before it was looked at."""

from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet, Row, asker, mean

_en, _de, _es, _zh, _fr = map(asker, ("en", "de", "es", "zh", "fr"))


def flights() -> list[Row]:
    source = random.Random(1201)
    return [
        (f"QX{120 + 3 * n}", ("Lisbon", "Oslo", "Rome", "Vienna")[source.randrange(4)], ("A320", "B737")[n % 2], date(2025, 7, 1) + timedelta(days=n), 80 + 5 * n + source.randrange(5), source.randrange(0, 95), ("Vance", "Iyer", "Hoang")[source.randrange(3)])
        for n in range(21)
    ]  # fmt: skip


def assets() -> list[Row]:
    source = random.Random(1202)
    return [
        (f"IT-{50 + n}", ("Laptop", "Monitor", "Phone", "Printer")[source.randrange(4)], ("Dell", "HP", "Apple")[source.randrange(3)], ("Sam Okoye", "Ruth Weiss", "Ana Lima", "")[source.randrange(4)], date(2021, 2, 1) + timedelta(days=41 * n), 140 + 60 * n + source.randrange(50))
        for n in range(25)
    ]  # fmt: skip


def courses() -> list[Row]:
    source = random.Random(1203)
    names = ("Yoga", "Pottery", "Italian", "Coding", "Choir", "First aid", "Chess", "Baking")
    return [
        (name, ("Mon", "Tue", "Thu")[source.randrange(3)], ("Bea", "Karim", "Tove")[source.randrange(3)], 6 + n + source.randrange(2), 45 + 11 * n, source.choice(("yes", "no")))
        for n, name in enumerate(names)
    ]  # fmt: skip


def meters() -> list[Row]:
    source = random.Random(1204)
    return [(place, source.randrange(3_000, 9_000), source.randrange(3_000, 9_000), source.randrange(100, 900)) for place in ("Halle A", "Halle B", "Büro", "Lager", "Kantine")]  # fmt: skip


def invoices() -> list[Row]:
    source = random.Random(1205)
    return [
        (f"F-{80 + n}", ("Grupo Sol", "Ferretería Paz", "Hotel Mar")[source.randrange(3)], date(2025, 1, 15) + timedelta(days=9 * n), 200 + 45 * n + source.randrange(40), ("pagada", "pendiente")[source.randrange(2)])
        for n in range(18)
    ]  # fmt: skip


def staff() -> list[Row]:
    source = random.Random(1206)
    return [(name, ("市场部", "技术部", "财务部")[n % 3], 6_000 + 700 * n + source.randrange(400), 22 + 3 * n, ("北京", "上海")[source.randrange(2)]) for n, name in enumerate(("王芳", "李强", "张敏", "刘洋", "陈静", "杨帆", "赵磊", "孙丽", "周杰"))]  # fmt: skip


_MAKERS = {
    "flight log.xlsx": made(("Flight", "Destination", "Aircraft", "Date", "Passengers", "Delay (min)", "Captain"), flights()),
    "it assets.csv": made(("Asset tag", "Device type", "Brand", "Assigned to", "Purchased", "Price (£)"), assets()),
    "evening classes.md": made(("Course", "Weekday", "Teacher", "Participants", "Fee (€)", "Full"), courses()),
    "verbrauch.csv": made(("Standort", "Strom 2023 (kWh)", "Strom 2024 (kWh)", "Wasser 2024 (m³)"), meters(), delimiter=";"),
    "facturas emitidas.ods": made(("Factura", "Cliente", "Fecha", "Importe (€)", "Estado"), [(r[0], r[1], f"{r[2]:%d/%m/%Y}", german(r[3]), r[4]) for r in invoices()]),
    "员工名单.xlsx": made(("姓名", "部门", "月薪", "年龄", "城市"), staff()),
}  # fmt: skip


def questions() -> list[ComputedQuestion]:
    f, a, c, m, i, s = flights(), assets(), courses(), meters(), invoices(), staff()
    captains, brands, places = sorted({r[6] for r in f}), sorted({r[2] for r in a}), sorted({r[1] for r in f})
    return [
        _en("how many passengers flew to oslo", "sum", (sum(r[4] for r in f if r[1] == "Oslo"),)),
        _en("avg delay per captain", "group", tuple(mean(r[5] for r in f if r[6] == p) for p in captains)),
        _en("which flight was the most delayed?", "extreme", (max(f, key=lambda r: r[5])[0],)),
        _en("number of flights to rome in july", "count", (sum(r[1] == "Rome" for r in f),)),
        _en("who flew QX135", "lookup", (f[5][6],)),
        _en("delay QX126?", "lookup", (f[2][5],)),
        _en("where did QX150 go", "lookup", (f[10][1],)),
        _en("flights delayed by more than 60 minutes", "group", tuple(r[0] for r in f if r[5] > 60)),
        _en("Please list total passengers for each destination, thank you", "group", tuple(sum(r[4] for r in f if r[1] == p) for p in places)),
        _en("which captain carried the largest number of passengers overall", "extreme", (max(captains, key=lambda p: sum(r[4] for r in f if r[6] == p)),)),
        _en("how many flights landed in Berlin", "none", ()),
        _en("how many laptops do we own", "count", (sum(r[1] == "Laptop" for r in a),)),
        _en("total spent on apple devices", "sum", (sum(r[5] for r in a if r[2] == "Apple"),)),
        _en("whats the value of all our phones together", "sum", (sum(r[5] for r in a if r[1] == "Phone"),)),
        _en("who has IT-62", "lookup", (a[12][3] or "IT-62",)),
        _en("which assets are not assigned to anybody", "group", tuple(r[0] for r in a if not r[3])),
        _en("devices per brand", "group", tuple(sum(r[2] == b for r in a) for b in brands)),
        _en("things bought in 2022: how many", "dates", (sum(r[4].year == 2022 for r in a),)),
        _en("how much did IT-70 cost us", "lookup", (a[20][5],)),
        _en("when did we buy IT-55", "lookup", (f"{a[5][4]}",)),
        _en("oldest device", "extreme", (a[0][0],)),
        _en("what is the warranty of IT-60", "none", ()),
        _en("how much is the pottery class", "lookup", (c[1][4],)),
        _en("who teaches chess", "lookup", (c[6][2],)),
        _en("on what day is italian", "lookup", (c[2][1],)),
        _en("which classes are full", "group", tuple(r[0] for r in c if r[5] == "yes")),
        _en("how many people take part in all classes", "sum", (sum(r[3] for r in c),)),
        _en("most popular course", "extreme", (max(c, key=lambda r: r[3])[0],)),
        _en("courses on thursday evening with karim", "none", ()),
        _en("income if everybody pays in the yoga class", "none", ()),
        _de("wie viel strom hat die kantine 2024 verbraucht", "lookup", (m[4][2],)),
        _de("stromverbrauch gesamt 2023", "sum", (sum(r[1] for r in m),)),
        _de("wo war der wasserverbrauch am höchsten", "extreme", (max(m, key=lambda r: r[3])[0],)),
        _de("Strom Büro 2022", "none", ()),
        _es("cuánto nos debe Hotel Mar", "none", ()),
        _es("facturas pendientes, ¿cuántas son?", "count", (sum(r[4] == "pendiente" for r in i),)),
        _es("importe total de las pendientes", "sum", (sum(r[3] for r in i if r[4] == "pendiente"),)),
        _es("de quién es la factura F-85", "lookup", (i[5][1],)),
        _es("qué cliente nos ha facturado más", "extreme", (max(sorted({r[1] for r in i}), key=lambda k: sum(r[3] for r in i if r[1] == k)),)),
        _zh("技术部的人平均工资多少", "average", (mean(r[2] for r in s if r[1] == "技术部"),)),
        _zh("谁的工资最高", "extreme", (s[-1][0] if max(s, key=lambda r: r[2]) is s[-1] else max(s, key=lambda r: r[2])[0],)),
        _zh("上海有多少员工", "count", (sum(r[4] == "上海" for r in s),)),
        _zh("刘洋在哪个部门", "lookup", (s[3][1],)),
        _fr("combien d'ordinateurs Dell", "none", ()),
        _fr("le vol avec le plus de passagers", "extreme", (max(f, key=lambda r: r[4])[0],)),
    ]  # fmt: skip


TWELFTH = QuestionSet(makers=_MAKERS, real={}, questions=questions)
