from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

_german, _spanish, _chinese, _french = asker("de"), asker("es"), asker("zh"), asker("fr")


def repairs() -> list[Row]:
    """Order, customer, device, technician, received, cost, status."""
    source = random.Random(1011)
    return [
        (
            f"R{400 + n}",
            source.choice(("Yilmaz", "Petersen", "Huber", "Kowalski")),
            source.choice(("Waschmaschine", "Trockner", "Herd", "Kühlschrank")),
            source.choice(("Bernd", "Silke", "Achim")),
            date(2025, 1, 7) + timedelta(days=8 * n),
            40 + 11 * n + source.randrange(300) / 10,
            source.choice(("offen", "erledigt", "erledigt", "storniert")),
        )
        for n in range(24)
    ]


def sales() -> list[Row]:
    """Day, seller, product, units, amount, city."""
    source = random.Random(1012)
    return [
        (
            date(2025, 1, 4) + timedelta(days=7 * n),
            source.choice(("Marta Gil", "Iván Soto", "Nuria Paz")),
            source.choice(("Lámpara", "Mesa", "Silla", "Estantería")),
            source.randrange(1, 12),
            60 + 13 * n + source.randrange(4_000) / 10,
            source.choice(("Bilbao", "Murcia", "Vigo")),
        )
        for n in range(26)
    ]


def dishes() -> list[Row]:
    """Day, dish, kind, portions, amount, waiter."""
    source = random.Random(1013)
    known = {"宫保鸡丁": "热菜", "凉拌黄瓜": "凉菜", "酸辣汤": "汤", "麻婆豆腐": "热菜", "皮蛋豆腐": "凉菜"}
    return [
        (
            date(2025, 5, 2) + timedelta(days=3 * n),
            name,
            known[name],
            source.randrange(1, 7),
            28 + 9 * n + source.randrange(60),
            source.choice(("小赵", "小孙", "小吴")),
        )
        for n in range(20)
        for name in [source.choice(list(known))]
    ]


def deliveries() -> list[Row]:
    """Number, driver, town, day, parcels, weight."""
    source = random.Random(1014)
    return [
        (
            f"L-{60 + n}",
            source.choice(("Moreau", "Lefèvre", "Bonnet")),
            source.choice(("Dijon", "Troyes", "Auxerre")),
            date(2025, 3, 3) + timedelta(days=4 * n),
            source.randrange(1, 30),
            12 + 6 * n + source.randrange(6),
        )
        for n in range(18)
    ]


MAKERS = {
    "reparaturen.csv": made(
        ("Auftrag", "Kunde", "Gerät", "Techniker", "Eingang", "Kosten (€)", "Status"),
        [(*r[:4], f"{r[4]:%d.%m.%Y}", german(r[5]), r[6]) for r in repairs()],
        delimiter=";",
    ),
    "ventas tienda.xlsx": made(
        ("Fecha", "Vendedor", "Producto", "Unidades", "Importe (€)", "Ciudad"), sales(), sheet="2025"
    ),
    "点菜记录.csv": made(("日期", "菜品", "类别", "份数", "金额", "服务员"), dishes()),
    "livraisons.ods": made(
        ("Numéro", "Chauffeur", "Ville", "Date", "Colis", "Poids (kg)"),
        [(*r[:3], f"{r[3]:%d/%m/%Y}", r[4], r[5]) for r in deliveries()],
        sheet="Mars",
    ),
}


def questions() -> list[ComputedQuestion]:
    return [*_about_repairs(), *_about_sales(), *_about_dishes(), *_about_deliveries()]


def _about_repairs() -> list[ComputedQuestion]:
    rows = repairs()
    people, devices = sorted({r[3] for r in rows}), sorted({r[2] for r in rows})
    return [
        _german("was haben uns die trockner reparaturen gekostet", "sum", (sum(r[5] for r in rows if r[2] == "Trockner"),)),
        _german("offene aufträge?", "group", tuple(r[0] for r in rows if r[6] == "offen")),
        _german("Wie viele Aufträge hat Silke erledigt?", "count", (sum(r[3] == "Silke" and r[6] == "erledigt" for r in rows),)),
        _german("kosten je techniker", "group", tuple(sum(r[5] for r in rows if r[3] == p) for p in people)),
        _german("durchschnittliche kosten pro gerät", "group", tuple(mean(r[5] for r in rows if r[2] == d) for d in devices)),
        _german("wer hat R407 repariert", "lookup", (rows[7][3],)),
        _german("Wann ist R412 eingegangen?", "lookup", (f"{rows[12][4]}",)),
        _german("R405 status", "lookup", (rows[5][6],)),
        _german("teuerste reparatur", "extreme", (max(rows, key=lambda r: r[5])[0],)),
        _german("Welches Gerät geht am häufigsten kaputt?", "extreme", (max(devices, key=lambda d: sum(r[2] == d for r in rows)),)),
        _german("wie viele reparaturen im märz", "dates", (sum(r[4].month == 3 for r in rows),)),
        _german("Hätten Sie mir bitte die Gesamtkosten aller stornierten Aufträge?", "sum", (sum(r[5] for r in rows if r[6] == "storniert"),)),
        _german("reparaturen über 200 euro, anzahl", "filter", (sum(r[5] > 200 for r in rows),)),
        _german("wie viele mixer wurden repariert", "none", ()),
        _german("wie lange ist die garantie bei R410", "none", ()),
    ]  # fmt: skip


def _about_sales() -> list[ComputedQuestion]:
    rows = sales()
    people, towns = sorted({r[1] for r in rows}), sorted({r[5] for r in rows})
    goods = sorted({r[2] for r in rows})
    return [
        _spanish("cuánto vendió Marta Gil", "sum", (sum(r[4] for r in rows if r[1] == "Marta Gil"),)),
        _spanish("ventas por ciudad", "group", tuple(sum(r[4] for r in rows if r[5] == c) for c in towns)),
        _spanish("cuántas sillas se vendieron", "sum", (sum(r[3] for r in rows if r[2] == "Silla"),)),
        _spanish("importe medio de las ventas en Vigo", "average", (mean(r[4] for r in rows if r[5] == "Vigo"),)),
        _spanish("¿Me podrías decir el total facturado en febrero, por favor?", "dates", (sum(r[4] for r in rows if r[0].month == 2),)),
        _spanish("producto más vendido en unidades", "extreme", (max(goods, key=lambda g: sum(r[3] for r in rows if r[2] == g)),)),
        _spanish("quién ha vendido más", "extreme", (max(people, key=lambda p: sum(r[4] for r in rows if r[1] == p)),)),
        _spanish("porcentaje de ventas de Bilbao sobre el total", "average", (100 * sum(r[4] for r in rows if r[5] == "Bilbao") / sum(r[4] for r in rows),)),
        _spanish("unidades por vendedor", "group", tuple(sum(r[3] for r in rows if r[1] == p) for p in people)),
        _spanish("importe más alto", "extreme", (max(r[4] for r in rows),)),
        _spanish("cuántas ventas hubo en Sevilla", "none", ()),
    ]  # fmt: skip


def _about_dishes() -> list[ComputedQuestion]:
    rows = dishes()
    people, kinds, names = (sorted({r[k] for r in rows}) for k in (5, 2, 1))
    return [
        _chinese("热菜一共卖了多少钱", "sum", (sum(r[4] for r in rows if r[2] == "热菜"),)),
        _chinese("每个服务员的金额", "group", tuple(sum(r[4] for r in rows if r[5] == p) for p in people)),
        _chinese("酸辣汤总共点了几份", "sum", (sum(r[3] for r in rows if r[1] == "酸辣汤"),)),
        _chinese("哪个菜卖得最多", "extreme", (max(names, key=lambda d: sum(r[3] for r in rows if r[1] == d)),)),
        _chinese("各类别平均金额", "group", tuple(mean(r[4] for r in rows if r[2] == k) for k in kinds)),
        _chinese("6月有多少条记录", "dates", (sum(r[0].month == 6 for r in rows),)),
        _chinese("金额超过100元的记录有几条", "filter", (sum(r[4] > 100 for r in rows),)),
        _chinese("小吴接了几单", "count", (sum(r[5] == "小吴" for r in rows),)),
        _chinese("谁的金额最高", "extreme", (max(people, key=lambda p: sum(r[4] for r in rows if r[5] == p)),)),
        _chinese("烤鸭卖了多少", "none", ()),
    ]  # fmt: skip


def _about_deliveries() -> list[ComputedQuestion]:
    rows = deliveries()
    people = sorted({r[1] for r in rows})
    return [
        _french("combien de colis pour Dijon", "sum", (sum(r[4] for r in rows if r[2] == "Dijon"),)),
        _french("poids total livré par Moreau", "sum", (sum(r[5] for r in rows if r[1] == "Moreau"),)),
        _french("nombre de livraisons par chauffeur", "group", tuple(sum(r[1] == p for r in rows) for p in people)),
        _french("qui a fait la livraison L-66 ?", "lookup", (rows[6][1],)),
        _french("date de L-71", "lookup", (f"{rows[11][3]}",)),
        _french("la livraison la plus lourde", "extreme", (max(rows, key=lambda r: r[5])[0],)),
        _french("combien de livraisons en avril 2025", "dates", (sum(r[3].month == 4 for r in rows),)),
        _french("livraisons de plus de 80 kg", "group", tuple(r[0] for r in rows if r[5] > 80)),
        _french("combien de livraisons à Lyon", "none", ()),
    ]  # fmt: skip
