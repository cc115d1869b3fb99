"""For random tables and questions made from templates, the result equals an independent computation."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import MemoryTable, memory_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REGIONS = ("North", "North-East", "South", "Åland", "O'Hare")
PRODUCTS = ("Desk", "Desk Lamp", "Chair")


@dataclass(frozen=True, slots=True)
class Sale:
    """One row."""

    region: str
    product: str
    day: date
    units: int | None
    amount: float


_SALES = st.builds(
    Sale,
    region=st.sampled_from(REGIONS),
    product=st.sampled_from(PRODUCTS),
    day=st.integers(0, 729).map(lambda days: date(2024, 1, 1) + timedelta(days=days)),
    units=st.none() | st.integers(0, 50),
    amount=st.integers(-5_000, 90_000).map(lambda cents: cents / 100),
)
_HEADERS = {
    "en": ("Region", "Product", "Date", "Units", "Amount"),
    "de": ("Region", "Produkt", "Datum", "Stückzahl", "Betrag"),
    "es": ("Región", "Producto", "Fecha", "Unidades", "Importe"),
    "zh": ("地区", "产品", "日期", "数量", "金额"),
}


def _table(sales: Sequence[Sale], language: str) -> MemoryTable:
    rows = [(sale.region, sale.product, sale.day.isoformat(), sale.units, sale.amount) for sale in sales]
    return memory_table("list.csv", _HEADERS[language], rows, units={_HEADERS[language][4]: "€"})


def _result(question: str, made: MemoryTable) -> list[tuple[object, ...]]:
    written = write(question, [made.table])
    assert isinstance(written, WrittenQuery), (question, written)
    return [tuple(row) for row in made.run(written.sql)]


def _total(sales: Sequence[Sale]) -> float | None:
    return pytest.approx(sum(sale.amount for sale in sales)) if sales else None


def _mean(sales: Sequence[Sale]) -> float | None:
    return pytest.approx(sum(sale.amount for sale in sales) / len(sales)) if sales else None


_BY_VALUE: dict[str, tuple[tuple[str, Callable[[Sequence[Sale]], float | None]], ...]] = {
    "en": (
        ("What is the total amount in {region}?", _total),
        ("average amount for {region}", _mean),
        ("How many rows are from {region}?", len),
        (
            "What was the highest amount of {region}?",
            lambda sales: max((s.amount for s in sales), default=None),
        ),
    ),
    "de": (
        ("Wie hoch ist der Gesamtbetrag in {region}?", _total),
        ("Durchschnittlicher Betrag für {region}", _mean),
        ("Wie viele Zeilen sind aus {region}?", len),
    ),
    "es": (
        ("¿Cuál es el importe total de {region}?", _total),
        ("importe medio de {region}", _mean),
        ("¿Cuántas filas hay de {region}?", len),
    ),
    "zh": (("{region}的金额合计是多少？", _total), ("{region}的平均金额是多少？", _mean)),
}


@pytest.mark.parametrize("language", list(_HEADERS))
@given(sales=st.lists(_SALES, min_size=1, max_size=25), region=st.sampled_from(REGIONS))
def test_by_a_value(language: str, sales: list[Sale], region: str) -> None:
    made = _table(sales, language)
    chosen = [sale for sale in sales if sale.region == region]
    for template, expected in _BY_VALUE[language]:
        question = template.format(region=region)
        if not chosen:
            found = write(question, [made.table])
            wrong = isinstance(found, WrittenQuery) and not _is_other_region(region, sales)
            assert not wrong, found
            continue
        assert _result(question, made) == [(expected(chosen),)]


def _is_other_region(region: str, sales: Sequence[Sale]) -> bool:
    """ "North" may be said for "North-East" where there is no other."""
    return any(region in sale.region for sale in sales)


@given(
    sales=st.lists(_SALES, min_size=1, max_size=25),
    year=st.sampled_from((2024, 2025)),
    month=st.integers(1, 12),
)
def test_by_a_period(sales: list[Sale], year: int, month: int) -> None:
    made = _table(sales, "en")
    named = date(year, month, 1).strftime("%B")
    quarter = (month + 2) // 3
    for period, chosen in (
        (f"in {named} {year}", [s for s in sales if (s.day.year, s.day.month) == (year, month)]),
        (
            f"in Q{quarter} {year}",
            [s for s in sales if (s.day.year, (s.day.month + 2) // 3) == (year, quarter)],
        ),
        (f"in {year}", [s for s in sales if s.day.year == year]),
        (f"since {named} {year}", [s for s in sales if s.day >= date(year, month, 1)]),
        (f"before {named} {year}", [s for s in sales if s.day < date(year, month, 1)]),
    ):
        found = write(f"What is the total amount {period}?", [made.table])
        if isinstance(found, QueryRefusal):
            assert found.missing == "period"
            assert not chosen
        else:
            assert [tuple(row) for row in made.run(found.sql)] == [(_total(chosen),)]


@given(sales=st.lists(_SALES, min_size=1, max_size=25))
def test_groups_and_ranks(sales: list[Sale]) -> None:
    made = _table(sales, "en")
    sums: dict[str, float] = defaultdict(float)
    for sale in sales:
        sums[sale.region] += sale.amount
    assert dict(_result("total amount per region", made)) == pytest.approx(dict(sums))
    counts = {product: sum(s.product == product for s in sales) for product in {s.product for s in sales}}
    assert dict(_result("How many rows per product?", made)) == counts
    best = max(sums.values())
    assume(sum(abs(value - best) < 0.005 for value in sums.values()) == 1)
    ((region, value),) = _result("Which region has the highest total amount?", made)
    assert (sums[str(region)], value) == (pytest.approx(best), pytest.approx(best))


@given(
    sales=st.lists(_SALES, min_size=1, max_size=25),
    regions=st.lists(st.sampled_from(("South", "Åland", "O'Hare")), min_size=2, max_size=2, unique=True),
    product=st.sampled_from(PRODUCTS),
    limit=st.integers(1, 800),
)
def test_conditions_together(sales: list[Sale], regions: list[str], product: str, limit: int) -> None:
    assume(all(any(s.region == region for s in sales) for region in regions))
    assume(any(s.product == product for s in sales))
    made = _table(sales, "en")
    question = f"How many rows from {regions[0]} and {regions[1]} with product {product} have an amount over {limit} €?"
    expected = sum(s.region in regions and s.product == product and s.amount > limit for s in sales)
    assert _result(question, made) == [(expected,)]
    others = [s for s in sales if s.region not in regions]
    assert _result(f"total amount except {regions[0]} and {regions[1]}", made) == [(_total(others),)]


@given(
    sales=st.lists(_SALES, min_size=2, max_size=25),
    word=st.from_regex(r"[b-df-hj-np-tv-xz]{5,9}", fullmatch=True),
)
def test_an_unknown_word_is_never_left_out(sales: list[Sale], word: str) -> None:
    made = _table(sales, "en")
    for question in (
        f"What is the total {word} amount?",
        f"How many {word} rows are there?",
        f"average amount of {word.capitalize()}",
        f"Which {word} region has the highest total amount?",
        f"total amount per region in {word}",
    ):
        assert isinstance(write(question, [made.table]), QueryRefusal), question
