"""Makes the handbook's PDF, the onboarding plan's DOCX and the budget's CSV: python samples/make.py (Markdown and HTML are written by hand)."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path

import docx
import pymupdf
from docx.shared import Pt

HERE = Path(__file__).parent
FOLDER = HERE / "lumen-harbour"
PAGE = pymupdf.paper_rect("a4")
BODY = (*PAGE, 62, 70, -62, -68)
GREY = (0.4, 0.4, 0.4)
CSS = """
body { font-family: sans-serif; font-variant-ligatures: none; font-size: 11.5pt; line-height: 1.5; }
h1 { font-size: 24pt; margin-bottom: 4pt; color: #10344c; }
h2 { font-size: 17pt; margin-top: 22pt; margin-bottom: 4pt; color: #10344c; }
h3 { font-size: 13pt; margin-top: 13pt; margin-bottom: 2pt; color: #1d5a80; }
p { margin-top: 4pt; margin-bottom: 4pt; }
p.lead { color: #555555; margin-bottom: 12pt; }
table { font-size: 10pt; margin-top: 8pt; margin-bottom: 8pt; width: 100%; }
th { text-align: left; font-weight: bold; background-color: #e3edf3; padding: 4pt 6pt; }
td { padding: 4pt 6pt; border-bottom: 0.5pt solid #c8d4dc; }
"""


def handbook() -> None:
    """The HTML on A4 pages, a chapter starting a page, with page numbers, an outline and fixed dates."""
    headings: list[tuple[int, str, int]] = []
    pages = io.BytesIO()
    writer = pymupdf.DocumentWriter(pages)
    number = 0

    def note(position: pymupdf.Story.ElementPosition) -> None:  # called for every element as it is placed
        if position.heading and position.open_close & 1:
            headings.append((position.heading, position.text, number))

    title, *chapters = (HERE / "handbook.html").read_text(encoding="utf-8").split("<h2>")
    chapters = [f"<h2>{chapter}" for chapter in chapters]
    for html in (title + chapters[0], *chapters[1:]):
        story = pymupdf.Story(html, user_css=CSS)
        more = 1
        while more:
            number += 1
            device = writer.begin_page(PAGE)
            more, filled = story.place(BODY)
            if filled[3] > BODY.y1 + 40:  # MuPDF loses text where a table's header row ends a page
                raise SystemExit(f"page {number} of the handbook runs over: move a table")
            story.element_positions(note)
            story.draw(device)
            writer.end_page()
    writer.close()
    with pymupdf.open("pdf", pages.getvalue()) as document:
        for page in document:
            foot = f"Page {page.number + 1} of {document.page_count}"
            page.insert_text((62, 40), "Lumen Harbour Team Handbook", fontsize=8, color=GREY)
            page.insert_text(
                (PAGE.width - 62 - pymupdf.get_text_length(foot, fontsize=8), PAGE.height - 36),
                foot,
                fontsize=8,
                color=GREY,
            )
        document.set_toc([list(heading) for heading in headings])
        made = "D:20260201080000Z"
        document.set_metadata(
            {
                "title": "Lumen Harbour Team Handbook",
                "author": "Marit Osterlund",
                "creationDate": made,
                "modDate": made,
            }
        )
        document.subset_fonts()
        document.save(FOLDER / "handbook.pdf", garbage=4, deflate=True, no_new_id=True)


Part = str | tuple[tuple[str, ...], ...]

# A heading with its level, then what is under it: a paragraph, a list (prefix "- " or "1. "), or a table's rows.
PLAN: tuple[tuple[str, int, tuple[Part, ...]], ...] = (
    (
        "Onboarding plan",
        0,
        (
            "For everybody who joins Lumen Harbour, and for the buddy who goes through the first weeks with them. Your buddy is named "
            "two weeks before you start and comes from another team than yours.",
        ),
    ),
    (
        "Before the first day",
        1,
        (
            "- Office sends the contract, the badge photo form and the choice of laptop three weeks before.",
            "- IT (Lev Harnett) prepares the laptop, two security keys and the accounts of the table below.",
            "- The team lead writes down what the first month should lead to, on one page.",
        ),
    ),
    (
        "The first day",
        1,
        (
            "Come to the entrance in Port Ellery at 09:30; Marit Osterlund meets you there. New members of Buoys start in Sandrick at "
            "07:45 with Oskar Lindqvale. The morning is for keys, laptop and the safety walk; at 12:30 the team eats together, and the "
            "company pays.",
        ),
    ),
    (
        "Accounts",
        2,
        (
            (
                ("System", "What it is for", "Who gets it", "Ready by"),
                ("Tide", "hours and leave", "everybody", "first day"),
                ("Purser", "expenses and company cards", "everybody", "first day"),
                ("Locker", "passwords", "everybody", "first day"),
                ("Beacon Desk, read only", "our product", "everybody", "first week"),
                ("Foghorn", "pager and roster", "Desk and Field", "fourth week"),
                ("Ledger", "accounts and invoices", "Office", "first week"),
            ),
        ),
    ),
    (
        "The first week",
        1,
        (
            "1. Safety training, half a day; without it nobody enters the workshop or a boat.",
            "1. A talk of 30 minutes with each of the four team leads.",
            "1. One ticket, document or delivery finished, however small.",
            "1. Friday 11:00: coffee with the founders, Ines Valdoro and Tomas Brek.",
        ),
    ),
    (
        "30, 60 and 90 days",
        1,
        (
            (
                ("After", "You", "Your lead"),
                (
                    "30 days",
                    "know who does what, and have been on one field trip",
                    "talks with you for an hour about the first month",
                ),
                (
                    "60 days",
                    "carry a piece of work alone",
                    "asks three colleagues how it goes, and tells you what they said",
                ),
                (
                    "90 days",
                    "join the on-call roster (Desk and Field)",
                    "decides with you what the next half year is about",
                ),
            ),
            "The field trip is for everybody, Office included: a day on the water with a Field technician in the first 30 days. Who gets "
            "seasick visits a harbour master on land instead.",
        ),
    ),
    (
        "The buddy",
        1,
        (
            "Buddies have two hours a week for it during the first month and one hour a week until the third. A buddy answers questions; "
            "judging is not a buddy's task. Thank-you lunches go to project code OFFICE-BUDDY, up to 40 euros.",
        ),
    ),
    (
        "Leaving again",
        1,
        (
            "If it does not work out, say so early. Badge, laptop, keys and life jacket go back to Office on the last day, and all accounts "
            "close at 18:00 that evening.",
        ),
    ),
)
STYLES = {"- ": "List Bullet", "1. ": "List Number"}


def onboarding() -> None:
    """Headings, lists and tables as Word makes them."""
    document = docx.Document()
    document.styles["Normal"].font.name = "Calibri"
    document.styles["Normal"].font.size = Pt(11)
    document.core_properties.title = "Onboarding plan"
    document.core_properties.author = "Marit Osterlund"
    document.core_properties.created = document.core_properties.modified = datetime(2026, 2, 2, 8, 0)
    for heading, level, parts in PLAN:
        document.add_heading(heading, level)
        for part in parts:
            _add(document, part)
    document.save(FOLDER / "onboarding.docx")


def _add(document: docx.document.Document, part: Part) -> None:
    if not isinstance(part, str):
        _table(document, part)
        return
    for prefix, style in STYLES.items():
        if part.startswith(prefix):
            document.add_paragraph(part.removeprefix(prefix), style=style)
            return
    document.add_paragraph(part)


def _table(document: docx.document.Document, rows: tuple[tuple[str, ...], ...]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Light Grid Accent 1")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_paragraph()


PLANNED = {"Buoys": 18_400, "Desk": 12_600, "Field": 21_000, "Office": 7_200}
NOTES = {
    (3, "Desk"): (4_150, "second standby server for Sandrick"),
    (5, "Buoys"): (6_300, "overtime for the season's deliveries"),
    (6, "Field"): (-2_900, "three trips put off because of wind"),
    (8, "Buoys"): (9_800, "yearly service of the pressure chamber"),
    (9, "Office"): (1_240, "new chairs in Port Ellery"),
    (10, "Field"): (5_600, "engine of van 2 replaced"),
    (12, "Office"): (2_310, "December raffle and party"),
}


def budget() -> None:
    """2025 by month and team: what was planned and what was spent."""
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    with (FOLDER / "office-budget.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("Month", "Team", "Planned EUR", "Spent EUR", "Difference EUR", "Note"))
        for number, month in enumerate(months, start=1):
            for place, (team, planned) in enumerate(PLANNED.items()):
                extra, note = NOTES.get((number, team), (0, ""))
                spent = planned + extra + (number * 137 + place * 211) % 600 - 300
                writer.writerow((f"{month} 2025", team, planned, spent, spent - planned, note))


if __name__ == "__main__":
    handbook()
    onboarding()
    budget()
