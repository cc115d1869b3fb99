from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.question_words import folded

if TYPE_CHECKING:
    from rag_engine.tables.types import TypedColumn

UNITS: Final = {
    folded(name): unit
    for unit, names in {
        "€": "€ eur euro euros 欧",
        "$": "$ usd dollar dollars dolar dolares",
        "£": "£ gbp pound pounds",
        "CHF": "chf franken francs",
        "%": "% percent prozent",
        "¥": "¥ cny rmb yuan 元",
        "min": "min mins minute minutes minuten minuto minutos 分钟",
        "h": "h hr hrs hours hour stunde stunden hora horas heure heures 小时",
        "day": "d day days tag tage tagen dia dias jour jours 天",
        "week": "week weeks woche wochen semana semanas 周",
        "month": "month months monat monate monaten mes meses 个月",
        "year": "yr yrs year years jahr jahre jahren ano anos 岁",
        "kg": "kg kilo kilos kilogram kilograms kilogramm kilogramo kilogramos 公斤 千克",
        "g": "g gram grams gramm gramo gramos 克",
        "t": "t ton tons tonne tonnes tonnen tonelada toneladas 吨",
        "km": "km kilometer kilometers kilometre kilometres kilometern kilometro kilometros 公里 千米",
        "m": "m metre metres meter meters metern metro metros 米",
        "cm": "cm centimetre centimetres centimeter zentimeter zentimetern centimetro centimetros 厘米",
        "m²": "m² m2 qm sqm quadratmeter quadratmetern 平方米 平米",
        "km²": "km² km2 quadratkilometer",
        "l": "l litre litres liter liters litern litro litros 升",
        "kWh": "kwh kilowattstunden",
        "MWh": "mwh megawattstunden",
        "kcal": "kcal",
        "°C": "°c",
        "°F": "°f",
        "mi": "mi mile miles",
    }.items()
    for name in names.split()
}
CURRENCIES: Final = frozenset({"€", "$", "£", "¥", "CHF"})
_SCALES: Final = {
    "k": 10**3, "thousand": 10**3, "thousands": 10**3, "tausend": 10**3, "tsd": 10**3, "t€": 10**3, "teur": 10**3,
    "k€": 10**3, "k$": 10**3, "keur": 10**3, "kusd": 10**3, "千": 10**3, "千元": 10**3, "万": 10**4, "万元": 10**4,
    "million": 10**6, "millions": 10**6, "mio": 10**6, "mill": 10**6, "millionen": 10**6, "millones": 10**6,
    "m€": 10**6, "m$": 10**6, "meur": 10**6, "musd": 10**6, "百万": 10**6, "百万元": 10**6,
    "bn": 10**9, "billion": 10**9, "billions": 10**9, "mrd": 10**9, "亿": 10**8, "亿元": 10**8,
}  # fmt: skip
_SHORTEST_NAME: Final = 2
"""Of a unit that is a header by itself: "Hours"."""
_INSIDE: Final = re.compile(
    r"[(\[（]([^()\[\]（）]*)[)\]）]|\bin ([^\W\d_.€$]+\.?)\s*([€$£]|EUR|USD|GBP|CHF)?\s*\Z"
)
_DEGREES: Final = re.compile(r"°\s*([CF])\b")
_RATE: Final = re.compile(r"\s*([^\W\d_]{2,})\s*(?:/|per\b|pro\b|por\b|par\b)")
_TRAILING: Final = re.compile(r"[^\W\d_]{3,} (cm|m|km|kg|g|t|l|h|kWh|m²|km²|€|£|\$|EUR|GBP|USD|CHF)\Z")
_PARTS: Final = re.compile(r"[^\s,/.;]+")


@lru_cache(maxsize=8_192)
def _stated(name: str) -> tuple[str, int]:
    unit, scale = UNITS.get(folded(name.strip()), "") if len(name.strip()) >= _SHORTEST_NAME else "", 1
    if degrees := _DEGREES.search(name):
        unit = f"°{degrees[1]}"
    for match in _INSIDE.finditer(name):
        for part in _PARTS.findall(" ".join(filter(None, match.groups()))):
            plain = folded(part)
            if plain in _SCALES:
                scale = _SCALES[plain]
                unit = unit or UNITS.get(plain[-1:] if plain[-1:] in "€$元" else plain[1:], "")
            else:
                unit = unit or UNITS.get(plain, "")
    if not unit and (trailing := _TRAILING.search(name)):
        unit = UNITS.get(folded(trailing[1]), "")
    if not unit and (rate := _RATE.match(name)):
        unit = UNITS.get(folded(rate[1]), "")
    return unit, scale


def unit_of_header(name: str) -> str:
    return _stated(name)[0]


def unit_of(column: TypedColumn) -> str:
    """Of its cells, else of its header: "min" of "Duration (min)"."""
    return UNITS.get(folded(column.unit), column.unit) if column.unit else _stated(column.name)[0]


_FACTORS: Final = (
    {"min": 1.0, "h": 60.0, "day": 1440.0, "week": 10_080.0},
    {"month": 1.0, "year": 12.0},
    {"g": 1.0, "kg": 1e3, "t": 1e6},
    {"cm": 1.0, "m": 1e2, "km": 1e5},
    {"m²": 1.0, "km²": 1e6},
    {"kWh": 1.0, "MWh": 1e3},
)


def factor(said: str, unit: str) -> float | None:
    """By which a number of `said` is one of `unit`; None if they are of different things."""
    if said == unit or not said or not unit:
        return 1.0
    known = next((one for one in _FACTORS if said in one and unit in one), None)
    return None if known is None else known[said] / known[unit]


def scale_of(column: TypedColumn) -> int:
    """1,000 for "Amount (k USD)"."""
    return _stated(column.name)[1]
