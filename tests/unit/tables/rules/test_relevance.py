"""Tables are read by all rules only where words of the question may be in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.tables.rules.choice import asks_for_cell
from rag_engine.tables.rules.interpretation import read
from rag_engine.tables.rules.language.lexicon import lexicon
from rag_engine.tables.rules.language.question_words import words
from rag_engine.tables.rules.question import Question
from rag_engine.tables.rules.relevance import asked_words, may_have_evidence, may_name_cells, may_name_row
from rag_engine.tables.rules.subject import names_cell
from tests.tables.computed.eleventh import ELEVENTH
from tests.tables.computed.twelfth import TWELFTH
from tests.tables.memory_table import MemoryTable, memory_table
from tests.tables.stored import stored_tables

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tables.computed.question_set import QuestionSet

TEAMS = memory_table(
    "teams.csv", ("Team", "Month", "Amount"), (("Red", "2025-01-01", 7), ("Blue", "2025-02-01", 9))
)
METERS = memory_table("zähler.csv", ("Energie", "Verbrauch"), (("Gas", 12), ("Strom", 30)))
DISHES = memory_table("menu.csv", ("Dish", "Calories (kcal)"), (("Soup", 300), ("Stew", 700)))
PARCELS = memory_table("parcels.csv", ("Parcel", "Weight (kg)"), (("P1", 3), ("P2", 8)))


def _asked(text: str, language: str) -> Question:
    return Question(text=text, language=language, lexicon=lexicon(language), words=words(text, language))


@pytest.mark.parametrize("questions", [ELEVENTH, TWELFTH], ids=("eleventh", "twelfth"))
async def test_what_all_rules_find_is_never_passed_over(questions: QuestionSet, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    questions.write_all(tmp_path / "files")
    _, stored = await stored_tables(tmp_path / "tables", sorted((tmp_path / "files").iterdir()))
    named = 0
    for one in questions.questions():
        asked = _asked(one.text, one.language)
        said = asked_words(asked)
        for table in (each.table for each in stored):
            reading = read(asked, table)
            assert not reading.evidence or may_have_evidence(said, table, asked.language), one.text
            assert not names_cell(reading) or may_name_cells(said, table, asked.language), one.text
            assert not asks_for_cell(reading) or may_name_row(said, table, asked.language), one.text
            named += names_cell(reading)
    assert named > 20


@pytest.mark.parametrize(
    ("made", "language", "question"),
    [
        (METERS, "de", "Wie hoch war der Gasverbrauch?"),
        (PARCELS, "en", "How many kilos was the first of them?"),
        (PARCELS, "en", "How heavy was it?"),
        (TEAMS, "en", "What did they spend?"),
    ],
)
def test_words_that_are_in_no_cell_or_header_are_evidence_too(
    made: MemoryTable, language: str, question: str
) -> None:
    asked = _asked(question, language)
    assert read(asked, made.table).evidence
    assert may_have_evidence(asked_words(asked), made.table, language)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Which magazine was started first, Arthur's Magazine or First for Women?"),
        ("en", "Which team did the guitarist of the band that wrote this song support as a child?"),
        ("de", "Welche Zeitschrift erschien zuerst?"),
    ],
)
def test_an_ordinary_question_rules_tables_out_by_its_words(language: str, question: str) -> None:
    said = asked_words(_asked(question, language))
    for made in (TEAMS, METERS, DISHES, PARCELS):
        assert not may_name_cells(said, made.table, language)
        assert not may_name_row(said, made.table, language)
