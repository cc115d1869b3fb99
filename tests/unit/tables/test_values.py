from __future__ import annotations

import pytest

from rag_engine.tables import values


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("1,234.50", (1234.5, ""), None),
        ("1.234,50", None, (1234.5, "")),
        ("1,234", (1234, ""), (1.234, "")),
        ("1 234,5", None, (1234.5, "")),
        ("1'234.50", (1234.5, ""), None),
        ("(1,200.50 €)", (-1200.5, "€"), None),
        ("12 %", (12, "%"), (12, "%")),
        ("−5", (-5, ""), (-5, "")),
        ("5-", (-5, ""), (-5, "")),
        ("USD 1,200", (1200, "USD"), (1.2, "USD")),
        ("5 m²", (5, "m²"), (5, "m²")),
    ],
)
def test_numbers_are_read_in_both_forms(text: str, point: object, comma: object) -> None:
    assert (values.number(text, "point"), values.number(text, "comma")) == (point, comma)


@pytest.mark.parametrize("text", ["007", "1,23,456", "+49 30 1234", "10:30", "-", "3.4.2025", "(5", "€ 5 $"])
def test_codes_and_other_texts_are_no_numbers(text: str) -> None:
    assert not values.readable(text).forms


@pytest.mark.parametrize(
    ("text", "day_first", "month_first"),
    [
        ("2025-03-01", "2025-03-01", "2025-03-01"),
        ("2025-03-01T10:00:00Z", "2025-03-01 10:00", "2025-03-01 10:00"),
        ("3.4.2025", "2025-04-03", "2025-04-03"),
        ("03/04/2025", "2025-04-03", "2025-03-04"),
        ("4/13/25", None, "2025-04-13"),
        ("3. Januar 2025", "2025-01-03", "2025-01-03"),
        ("3 de enero de 2025", "2025-01-03", "2025-01-03"),
        ("March 2025", "2025-03-01", "2025-03-01"),
        ("31.02.2025", None, None),
        ("1 Tage 2025", None, None),
    ],
)
def test_dates_become_iso(text: str, day_first: object, month_first: object) -> None:
    assert (values.iso_date(text, "day"), values.iso_date(text, "month")) == (day_first, month_first)
