from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import german, made
from tests.tables.computed.question_set import ComputedQuestion, Row, asker, mean

_german, _spanish, _chinese, _french = asker("de"), asker("es"), asker("zh"), asker("fr")


def vehicles() -> list[Row]:
    """Plate, make, driver, mileage, inspection, fuel."""
    source = random.Random(1111)
    return [
        (
            f"HH-KX {210 + n}",
            source.choice(("Ford", "Opel", "Skoda")),
            ("Grete", "Malte", "Swantje", "Uwe", "Volker", "Wiebke", "Xaver", "Yara", "Zora")[n],
            21_000 + 3_900 * n + source.randrange(3_000),
            date(2025, 6, 2) + timedelta(days=29 * n),
            source.choice(("Diesel", "Strom", "Benzin")),
        )
        for n in range(9)
    ]


def donations() -> list[Row]:
    """Donor, day, amount, cause."""
    source = random.Random(1112)
    return [
        (
            source.choice(("Fundación Alba", "Rosa Mena", "Grupo Tejo", "Luis Cano")),
            date(2025, 1, 9) + timedelta(days=11 * n),
            50 + 21 * n + source.randrange(20),
            source.choice(("Agua", "Escuelas", "Salud")),
        )
        for n in range(17)
    ]


def students() -> list[Row]:
    """Name, grade, city, height, score."""
    source = random.Random(1114)
    names = ("陈晨", "林峰", "黄丽", "周洋", "吴昊", "郑爽", "冯雪", "蒋涛")
    return [
        (
            name,
            source.choice(("高一", "高二")),
            source.choice(("杭州", "宁波", "温州")),
            150 + 4 * n + source.randrange(3),
            51 + 6 * n - 40 * (n % 2) // 4,
        )
        for n, name in enumerate(names)
    ]


MAKERS = {
    "fuhrpark.xlsx": made(
        ("Kennzeichen", "Marke", "Fahrer", "Kilometerstand", "Nächste HU", "Kraftstoff"), vehicles()
    ),
    "donativos.csv": made(
        ("Donante", "Fecha", "Importe (€)", "Causa"),
        [(r[0], f"{r[1]:%d/%m/%Y}", german(r[2]), r[3]) for r in donations()],
        delimiter=";",
    ),
    "学生信息.xlsx": made(("姓名", "年级", "城市", "身高", "总分"), students(), sheet="学生"),
}


def questions() -> list[ComputedQuestion]:
    cars, gifts, pupils = vehicles(), donations(), students()
    causes, donors = sorted({r[3] for r in gifts}), sorted({r[0] for r in gifts})
    return [
        _german("wie viele autos fahren mit strom", "count", (sum(r[5] == "Strom" for r in cars),)),
        _german("wer fährt HH-KX 214", "lookup", (cars[4][2],)),
        _german("kilometerstand von swantje", "lookup", (cars[2][3],)),
        _german("welches fahrzeug hat die meisten kilometer", "extreme", (max(cars, key=lambda r: r[3])[0],)),
        _german("durchschnittlicher kilometerstand der diesel", "average", (mean(r[3] for r in cars if r[5] == "Diesel"),)),
        _german("wann muss der wagen von Uwe zur HU", "lookup", (f"{cars[3][4]}",)),
        _german("wie viele fahrzeuge stehen in münchen", "none", ()),
        _spanish("cuánto dinero recibimos para Agua", "sum", (sum(r[2] for r in gifts if r[3] == "Agua"),)),
        _spanish("donativos por causa", "group", tuple(sum(r[2] for r in gifts if r[3] == c) for c in causes)),
        _spanish("quién dona más", "extreme", (max(donors, key=lambda d: sum(r[2] for r in gifts if r[0] == d)),)),
        _spanish("número de donativos de Rosa Mena", "count", (sum(r[0] == "Rosa Mena" for r in gifts),)),
        _spanish("total de marzo", "dates", (sum(r[2] for r in gifts if r[1].month == 3),)),
        _chinese("身高最高的学生是谁", "extreme", (max(pupils, key=lambda r: r[3])[0],)),
        _chinese("杭州有几个学生", "count", (sum(r[2] == "杭州" for r in pupils),)),
        _chinese("高二的平均总分", "average", (mean(r[4] for r in pupils if r[1] == "高二"),)),
        _chinese("周洋多高", "lookup", (pupils[3][3],)),
        _french("combien de véhicules diesel", "count", (sum(r[5] == "Diesel" for r in cars),)),
    ]  # fmt: skip
