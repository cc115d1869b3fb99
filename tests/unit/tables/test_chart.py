"""A computed table as a picture, and how one is asked for."""

from __future__ import annotations

import pymupdf
import pytest

from rag_engine.tables.answers.chart import MOST_BARS, WIDTH, Chart, chart, png
from rag_engine.tables.answers.requests import asks_to_compute, with_table_request, without_chart
from rag_engine.tables.types import ComputedAnswer, ResultColumn, Value
from rag_engine.types import KnowledgeBaseId, Query


def _computed(names: tuple[str, ...], *rows: tuple[Value, ...]) -> ComputedAnswer:
    columns = tuple(ResultColumn(name=name.rstrip("€"), unit="€" * name.endswith("€")) for name in names)
    return ComputedAnswer(sql="", columns=columns, rows=rows)


def _drawn(computed: ComputedAnswer) -> Chart:
    found = chart(computed, "en")
    assert found is not None
    return found


def _colours(drawn: Chart) -> dict[tuple[int, int, int], int]:
    picture = pymupdf.Pixmap(png(drawn))
    assert picture.width == WIDTH
    samples = picture.samples
    counts: dict[tuple[int, int, int], int] = {}
    for at in range(0, len(samples), picture.n):
        colour = samples[at], samples[at + 1], samples[at + 2]
        counts[colour] = counts.get(colour, 0) + 1
    return counts


BLUE, RED, WHITE = (0x1F, 0x5F, 0xA8), (0xB3, 0x54, 0x1E), (255, 255, 255)


def test_bars_are_as_long_as_their_values_and_losses_have_another_colour() -> None:
    one = _colours(_drawn(_computed(("Team", "Sum€"), ("Sales", 100), ("Ops", 100))))
    half = _colours(_drawn(_computed(("Team", "Sum€"), ("Sales", 100), ("Ops", 0))))
    lost = _colours(_drawn(_computed(("Team", "Sum€"), ("Sales", 100), ("Ops", -100))))
    assert one[BLUE] == pytest.approx(2 * half[BLUE], rel=0.02)
    assert lost[RED] == pytest.approx(lost[BLUE], rel=0.02)
    assert RED not in one
    assert one[WHITE], "opaque: readable on dark and on light"


def test_values_over_time_are_a_line_in_their_order() -> None:
    found = _drawn(_computed(("Month", "Rent€"), ("2025-03", 3.0), ("2025-01", 1.0), ("2025-02", 2.0)))
    assert (found.is_line, found.labels) == (True, ("January 2025", "February 2025", "March 2025"))
    assert found.description.startswith("Rent: January 2025 €1, February 2025 €2")
    years = _drawn(_computed(("Year", "Orders"), (2023, 4), (2024, 5), (2025, 9)))
    assert (years.is_line, years.labels, years.values) == (True, ("2023", "2024", "2025"), (4, 5, 9))
    assert _colours(found)[BLUE]


@pytest.mark.parametrize(
    "label", ["x" * 10_000, "🚀", "אבטחת מידע", "市场部", "<b>&", "\u202e\x00", "\ud800", ""]
)
def test_any_label_can_be_drawn(label: str) -> None:
    found = _drawn(_computed(("Team", "Sum€"), (label, 1e300), ("Ops", -3.5)))
    assert _colours(found)[BLUE]
    assert len(found.description) <= 1_000


def test_only_numbers_of_several_rows_are_drawn() -> None:
    assert chart(_computed(("Team", "Head"), ("Sales", "Ana"), ("Ops", "Bo")), "en") is None
    assert chart(_computed(("Sum€",), (5.0,)), "en") is None
    many = _drawn(_computed(("Team", "Sum€"), *((f"Team {n}", n) for n in range(100))))
    assert (len(many.values), many.left_out) == (MOST_BARS, 100 - MOST_BARS)


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ("Total by month as a chart", "Total by month"),
        ("total by month as a line chart, please draw", None),
        ("Plot the total by month", "total by month"),
        ("Draw me a bar chart of the sales per region", "sales per region"),
        ("Umsatz pro Monat als Diagramm", "Umsatz pro Monat"),
        ("Erstelle ein Balkendiagramm der Kosten pro Team", "Kosten pro Team"),
        ("ventas por mes como gráfico de barras", "ventas por mes"),
        ("每个部门的总额，画成柱状图", "每个部门的总额"),
        ("What does the chart on page 3 show?", None),
        ("Plotinus in one line", None),
    ],
)
def test_words_ask_for_a_chart(asked: str, question: str | None) -> None:
    assert without_chart(asked) == ((asked, False) if question is None else (question, True))


def test_the_option_asks_for_a_chart_and_leaves_the_text() -> None:
    query = with_table_request(
        Query(text="total by month chart:yes", knowledge_bases=frozenset({KnowledgeBaseId("b")}))
    )
    assert (query.text, query.options.compute, query.options.chart) == ("total by month", True, True)
    assert asks_to_compute(query.text)
