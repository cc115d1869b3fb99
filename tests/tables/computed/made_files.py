"""Rows as files."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import date
from typing import TYPE_CHECKING, Any, cast
from xml.sax.saxutils import escape

import docx
import openpyxl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    Rows = Iterable[Sequence[object]]


def write_csv(path: Path, rows: Rows, *, delimiter: str = ",", encoding: str = "utf-8") -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    path.write_bytes(out.getvalue().encode(encoding))


def write_sheets(path: Path, sheets: Mapping[str, Rows], formats: Mapping[int, str] = {}) -> None:
    """`formats`: number formats by column from 1, for numbers and dates."""
    workbook = openpyxl.Workbook()
    workbook.remove(cast("Any", workbook.active))
    for name, rows in sheets.items():
        sheet = cast("Any", workbook.create_sheet(name))
        for row in rows:
            sheet.append(list(row))
        for cells in sheet.iter_rows():
            for cell in cells:
                if isinstance(cell.value, date):
                    cell.number_format = formats.get(cell.column, "yyyy-mm-dd")
                elif isinstance(cell.value, int | float) and cell.column in formats:
                    cell.number_format = formats[cell.column]
    workbook.save(path)


def write_markdown(path: Path, rows: Rows) -> None:
    header, *body = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    rule = "|" + "---|" * (header.count("|") - 1)
    path.write_text(f"# {path.stem}\n\n" + "\n".join((header, rule, *body)) + "\n", encoding="utf-8")


def write_html(path: Path, rows: Rows) -> None:
    header, *body = rows
    lines = [_html_row("th", header), *(_html_row("td", row) for row in body)]
    title = escape(path.stem)
    path.write_text(
        f"<html><head><meta charset='utf-8'><title>{title}</title></head><body><h1>{title}</h1>"
        f"<table>{''.join(lines)}</table></body></html>",
        encoding="utf-8",
    )


def _html_row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def write_word(path: Path, rows: Rows) -> None:
    document = docx.Document()
    document.add_heading(path.stem)
    listed = list(rows)
    table = document.add_table(rows=0, cols=len(listed[0]))
    for row in listed:
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = str(value)
    document.save(str(path))


def write_open_document(path: Path, sheet: str, rows: Rows) -> None:
    lines = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{escape(str(cell))}</text:p></table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    space = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="{space}:office:1.0"'
        f' xmlns:table="{space}:table:1.0" xmlns:text="{space}:text:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="{escape(sheet)}">{lines}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)


def made(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    sheet: str = "Sheet1",
    formats: Mapping[int, str] = {},
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> Callable[[Path], None]:
    """By the suffix."""

    def write(path: Path) -> None:
        lines = [header, *rows]
        match path.suffix:
            case ".csv":
                write_csv(path, lines, delimiter=delimiter, encoding=encoding)
            case ".xlsx":
                write_sheets(path, {sheet: lines}, formats)
            case ".ods":
                write_open_document(path, sheet, lines)
            case ".docx":
                write_word(path, lines)
            case ".html":
                write_html(path, lines)
            case ".md":
                write_markdown(path, lines)
            case _:
                raise ValueError(path.suffix)

    return write


def german(value: float, decimals: int = 2) -> str:
    return f"{value:,.{decimals}f}".replace(",", " ").replace(".", ",").replace(" ", ".")
