"""PDF, and Microsoft Office formats since 2007, written by libraries."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, cast

import docx
import openpyxl
import pptx
import pymupdf
from pptx.util import Inches

from tests.unit.parsers.writing.words import CHINESE, GERMAN

if TYPE_CHECKING:
    from pathlib import Path


def write_pdf(path: Path) -> None:
    document = cast("Any", pymupdf.open())
    page = document.new_page()
    page.insert_text((72, 72), "Holidays", fontsize=22)
    page.insert_text((72, 110), GERMAN, fontsize=11)
    page.insert_text((72, 130), "The rules are the same for every office.", fontsize=11)
    page = document.new_page()
    page.insert_text((72, 72), "Reports", fontsize=22)
    page.insert_text((72, 110), CHINESE, fontsize=11, fontname="china-s")
    document.save(path)
    document.close()


def write_docx(path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Before any heading.")
    document.add_heading("Leave", level=1)
    document.add_paragraph(GERMAN)
    document.add_heading("Sick leave", level=2)
    document.add_paragraph("Call before nine.", style="List Bullet")
    document.add_paragraph("Bring a note.", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [*table.rows[0].cells, *table.rows[1].cells], ["Office", "Days", "Köln", "30"], strict=True
    ):
        cell.text = text
    document.add_heading("Reports", level=1)
    document.add_paragraph(CHINESE)
    document.save(str(path))


def write_pptx(path: Path) -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    title, body = slide.shapes.title, cast("Any", slide.placeholders[1])
    assert title is not None
    title.text_frame.text = "Kick-off"
    body.text_frame.text = GERMAN
    notes = slide.notes_slide.notes_text_frame
    assert notes is not None
    notes.text = "Say it slowly."
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, column, text in [(0, 0, "Office"), (0, 1, "Days"), (1, 0, CHINESE), (1, 1, "30")]:
        table.cell(row, column).text = text
    presentation.save(str(path))


def write_xlsx(path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = cast("Any", workbook.active)
    sheet.title = "Budget"
    sheet.append(["Office", "Since", "Cost", "Share"])
    sheet.append(["Köln", datetime.date(2024, 3, 1), 1234.5, 0.125])
    sheet.append([CHINESE, datetime.datetime(2025, 12, 31, 8, 30), 99, 0.5])
    for row in (2, 3):
        sheet.cell(row, 2).number_format = "yyyy-mm-dd"
        sheet.cell(row, 3).number_format = "#,##0.00"
        sheet.cell(row, 4).number_format = "0.0%"
    hidden = cast("Any", workbook.create_sheet("Old"))
    hidden.sheet_state = "hidden"
    hidden["B3"] = "kept"
    workbook.save(path)
