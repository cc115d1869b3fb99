"""How figures and names are written on the page."""

from __future__ import annotations

import pytest

from bot.web import sheets


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (None, "–"),
        (0, "0"),
        (1200, "1,200"),
        (2.5, "2.5"),
        (3.001, "3"),
        (0.05, "0.05"),
        (0.000008, "0.000008"),
        (0.00001, "0.00001"),
        (-0.5, "-0.5"),
    ],
)
def test_amounts(number: float | None, written: str) -> None:
    assert sheets.amount(number) == written


def test_a_long_name_is_divided_where_its_parts_meet_and_is_text() -> None:
    assert sheets.broken("FOOTNOTE_WEB__PORT") == "FOOTNOTE_WEB__<wbr>PORT"
    assert sheets.broken("<b>__x") == "&lt;b&gt;__<wbr>x"
