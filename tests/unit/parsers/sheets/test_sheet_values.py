"""Values under number formats, as Excel displays them."""

from __future__ import annotations

import datetime

import pytest

from rag_engine.parsers.sheets._cells.cell_kinds import kind, names_columns
from rag_engine.parsers.sheets._cells.date_formats import EPOCH_1904
from rag_engine.parsers.sheets._cells.number_formats import format_value

_EURO = '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (5.25, "# ??/??", "5 1/4"),
        (0.333, "# ?/8", "3/8"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (1234567, "##0.0E+0", "1.2E+6"),
        (0.00012, "0.00E+00", "1.20E-04"),
        (5551234567, "(###) ###-####", "(555) 123-4567"),
        (123456789, "000-00-0000", "123-45-6789"),
        (42, "00000", "00042"),
        (1234.5, _EURO, "1,234.50 €"),
        (-3, _EURO, "-3.00 €"),
        (0, _EURO, "- €"),
        (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
        (1234567.891, "[$$-409]#,##0.00", "$1,234,567.89"),
        (1_500_000, '0.0,,"M"', "1.5M"),
        (0.5, ".00", ".50"),
        (-0.001, "0.00", "0.00"),
        (5, '[<10]"low";[>=10]"high"', "low"),
        (15, '[<10]"low";[>=10]"high"', "high"),
        (12, 'General" kg"', "12 kg"),
        (3, '0 "pcs"', "3 pcs"),
        (1, ";;;", ""),
        ("x", '"Nr. "@', "Nr. x"),
        (43363, "yyyy-mm-dd", "2018-09-20"),
        (43363.5, "m/d/yy h:mm", "2018-09-20 12:00"),
        (43363, "[$-407]d. mmmm yyyy", "20. September 2018"),
        (43163, "[$-407]d. mmmm yyyy", "4. März 2018"),
        (43363, "[$-407]d/m/yyyy", "20.9.2018"),
        (43363, "[$-40C]mmm-yy", "sept.-18"),
        (43363, 'yyyy"年"m"月"d"日"', "2018年9月20日"),
        (44197, "ddd, dd mmm yyyy", "Fri, 01 Jan 2021"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (9e9, "yyyy-mm-dd", "9000000000"),
        (1.25, "[h]:mm", "30:00"),
        (1.5, "[mm]:ss", "2160:00"),
        (0.0001, "mm:ss.0", "00:08.6"),
        (0.5, "h:mm AM/PM", "12:00 PM"),
        (datetime.timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
    ],
)
def test_as_shown(value: object, number_format: str, text: str) -> None:
    assert format_value(value, number_format) == text


def test_serial_numbers_since_1904() -> None:
    assert format_value(41901, "yyyy-mm-dd", epoch=EPOCH_1904) == "2018-09-20"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("", ""),
        ("Travel", "words"),
        ("2024", "year"),
        ("1,234.50", "number"),
        ("1.234,50 €", "number"),
        ("-12 %", "number"),
        ("(3,000)", "number"),
        ("2024-03-01", "date"),
        ("1. 3. 2024", "date"),
        ("08:30", "date"),
        ("BX-1000", "words"),
    ],
)
def test_kinds_of_cells(cell: str, expected: str) -> None:
    assert kind(cell) == expected


def test_what_can_name_columns() -> None:
    assert names_columns(["Item", "2024", "2025"])
    assert names_columns(["2024", "2025"])
    assert not names_columns(["Travel", "5,000"])
    assert not names_columns(["Title"])
