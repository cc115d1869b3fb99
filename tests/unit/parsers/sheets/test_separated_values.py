"""CSV and TSV: delimiters, quotes, encodings, comments, overlong rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.sheets import sheet

if TYPE_CHECKING:
    from pathlib import Path


def _read(tmp_path: Path, content: str | bytes) -> list[tuple[str, str]]:
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [(section.anchor, section.text) for section in sheet.parse(path)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    rows = [["Item", "Cost", "Since"], ["Pen", "1", "2024"], ["Ink, red", "2", "2025"]]
    if delimiter == ",":
        rows[2][0] = '"Ink, red"'
    content = "\n".join(delimiter.join(row) for row in rows)
    assert _read(tmp_path, content) == [
        ("rows 2–3", "Item | Cost | Since\nPen | 1 | 2024\nInk, red | 2 | 2025")
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Ort;Umsatz\nKöln;1,5\nBonn;2,5\n", [("rows 2–3", "Ort | Umsatz\nKöln | 1,5\nBonn | 2,5")]),
        ("sep=;\r\na,b;c\r\n1,5;2\r\n", [("row 2", "a,b | c\n1,5 | 2")]),
        ("# made by a program\n# 2026\nname,size\nx,1\n", [("row 1", "made by a program"), ("row 2", "2026"), ("row 4", "name | size\nx | 1")]),
        ("#,name\n1,x\n2,y\n", [("rows 2–3", "# | name\n1 | x\n2 | y")]),
        ('a,b\n"two\nlines",1\nx,2\n', [("rows 2–3", "a | b\ntwo lines | 1\nx | 2")]),
        ("a,b\nx\ny,1,2,3\n", [("rows 2–3", "a | b\nx\ny | 1 | 2 | 3")]),
        ("1,2\n3,4\n5,6\n", [("rows 1–3", "1 | 2\n3 | 4\n5 | 6")]),
        ('a,b\n"say \\"hi\\", now",1\n', [("row 2", 'a | b\nsay "hi", now | 1')]),
        ("'a','b'\n'x, y','1'\n", [("row 2", "a | b\nx, y | 1")]),
        ("Name\nAnn, PhD\nBen\n", [("rows 1–3", "Name\nAnn, PhD\nBen")]),
        ("a,b\nx,1\n\ny,2\n", [("row 2", "a | b\nx | 1"), ("row 4", "a | b\ny | 2")]),
        ("Team,2024,2025\nIT,1,2\n", [("row 2", "Team | 2024 | 2025\nIT | 1 | 2")]),
        (",2024,,2025,\nTeam,Plan,Real,Plan,Real\nIT,1,2,3,4\n", [("row 3", "Team | 2024 Plan | 2024 Real | 2025 Plan | 2025 Real\nIT | 1 | 2 | 3 | 4")]),
        ("\ufeffa;b\n1;2\n", [("row 2", "a | b\n1 | 2")]),
    ],
)  # fmt: skip
def test_dialects(tmp_path: Path, content: str, expected: list[tuple[str, str]]) -> None:
    assert _read(tmp_path, content) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "cp1252", "gb18030", "shift_jis"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    name = {"gb18030": "季度报告显示的数量", "shift_jis": "東京の数量です"}.get(encoding, "Größe")
    content = f"Item,{name}\n" + "".join(f"{name} {number},{number}\n" for number in range(20))
    first, *_ = _read(tmp_path, content.encode(encoding))
    assert first[1].startswith(f"Item | {name}\n{name} 0 | 0\n")


def test_tables_under_each_other(tmp_path: Path) -> None:
    content = "Item,Cost\nPen,1\n\nStaff\nName,City\nAnn,Oslo\n"
    assert _read(tmp_path, content) == [
        ("row 2", "Item | Cost\nPen | 1"),
        ("row 4", "Staff"),
        ("row 6", "Name | City\nAnn | Oslo"),
    ]


def test_an_inch_mark_is_not_a_quote(tmp_path: Path) -> None:
    rows = "".join(f"pipe {number}\t{number}\n" for number in range(3000))
    parts = _read(tmp_path, f'size\tcount\n"5 inches\t1\n{rows}')
    text = "\n".join(text for _, text in parts)
    assert '"5 inches | 1' in text
    assert parts[0][0].startswith("rows 2–")
    assert parts[-1][0].endswith("3002")


def test_a_row_s_number_counts_quoted_line_breaks_once_and_empty_rows(tmp_path: Path) -> None:
    content = 'a,b\n"1\n2",x\n,\n3,y\n'
    assert [anchor for anchor, _ in _read(tmp_path, content)] == ["row 2", "row 4"]


def test_numbers_that_are_kept_as_text_are_read_as_shown(tmp_path: Path) -> None:
    content = 'Part,Cost\n="007",5\n"=""0049 30""",6\n'
    assert _read(tmp_path, content) == [("rows 2–3", "Part | Cost\n007 | 5\n0049 30 | 6")]


@pytest.mark.parametrize("gap", [";;\n", ""])
def test_comment_lines_above_a_table_are_not_its_header(tmp_path: Path, gap: str) -> None:
    about = "Statement;;\nAccount:;DE12;\nPeriod:;May;\n"
    rows = "Date;Text;Amount\n02.05.2024;Rent;-800,00\n03.05.2024;Pay;2.500,00\n"
    first, *above, last = _read(tmp_path, about + gap + rows)
    assert first == ("row 1", "Statement")
    assert "\n".join(text for _, text in above) == "Account: | DE12\nPeriod: | May"
    assert last == (
        "rows 6–7" if gap else "rows 5–6",
        "Date | Text | Amount\n02.05.2024 | Rent | -800,00\n03.05.2024 | Pay | 2.500,00",
    )
    assert above[0][0] == ("rows 2–3" if gap else "row 2")
