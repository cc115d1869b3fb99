"""Answers without a model from files of all kinds: what an answer says, its quotes hold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pptx
import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Footnote

ROOT = Path(__file__).parents[2]
SAMPLES = "expenses.md handbook.pdf incident-runbook.html it-安全指南.md office-budget.csv onboarding.docx urlaubsregelung.md"
PUMP = '''"""Settings of the ballast pump."""

RELIEF_PRESSURE = 6.5  # the relief valve opens at this pressure, in bar
MOST_TURNS = 12


def open_valve(turns: int) -> int:
    """Open the valve by at most twelve turns."""
    return min(turns, MOST_TURNS)


def close_valve(pressure: float) -> bool:
    """Return whether the valve may be closed."""
    return pressure < RELIEF_PRESSURE
'''
LICENCE = """# Boat licence

Field technicians need the licence within a year. The exam takes place in Port Ellery in March and in Sandrick in November.

Bring to the exam:

- a passport photo
- the logbook with at least 300 nautical miles
- proof of eyesight, not older than two years
- the fee of 95 euros

The exam lasts three hours. Whoever fails may repeat it once.
"""
STOCK = (
    ("Type", "Weight kg", "Port Ellery", "Sandrick", "Supplier"),
    ("B5", 64, 17, 9, "Halden"),
    ("B7", 92, 42, 31, "Halden"),
    ("B9", 118, 5, 12, "Norsk Bøye"),
    ("C2", 38, 60, 44, "Halden"),
)
SLIDES = {
    "Year in review": "Revenue grew by 14 %\nThree harbours joined",
    "Markets": "Market share in Norway: 31 %\nMarket share in Denmark: 12 %\nIreland starts in spring",
    "Goals for next year": "two new harbours\nfewer night calls\na second pressure chamber",
}


def fill(folder: Path) -> None:
    for name in SAMPLES.split():
        shutil.copy(ROOT / "samples" / "lumen-harbour" / name, folder / name)
    (folder / "pump.py").write_text(PUMP, encoding="utf-8")
    (folder / "licence.md").write_text(LICENCE, encoding="utf-8")
    book = openpyxl.Workbook()
    for row in STOCK:
        book["Sheet"].append(row)
    book.save(folder / "stock.xlsx")
    deck = pptx.Presentation()
    for title, lines in SLIDES.items():
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes[0].text_frame.text, slide.shapes[1].text_frame.text = title, lines  # pyright: ignore
    deck.save(str(folder / "review.pptx"))


@pytest.mark.slow
async def test_quotes_hold_what_the_answers_say(footnote: Footnote, tmp_path: Path) -> None:
    files = tmp_path / "set" / "files"
    files.mkdir(parents=True)
    fill(files)
    shutil.copy(ROOT / "tests" / "answers" / "quoted.jsonl", files.parent / "questions.jsonl")
    finished = await footnote("eval", "answers", str(files.parent), "--json")
    assert finished.code == 0, finished.err
    measured = json.loads(finished.out)
    assert measured["questions"] == 47
    assert measured["answer_recall"] >= 0.95
    assert measured["quote_recall"] >= measured["answer_recall"]
