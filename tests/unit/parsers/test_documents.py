"""Real and hostile files of the shared corpus through the pool: what must be read is read, and cited to its place.

The table by type is printed with `-s`, and by `python -m benchmarks documents`, with what each file missed.
"""

from __future__ import annotations

import pytest
import pytest_asyncio

from rag_engine.splitters import structure
from tests.documents import anchors, corpus, questions

# Its picture bomb has words beside the picture, and they are read; sound is refused by whatever writes it down, not by its parser.
_READ_BESIDE = {"real/pdfjs-bomb_giant.pdf", "made/silence.mp3"}
_RECOGNITION_SECONDS = 12
"""Dozens of scanned pages are for `make documents`; here a notice names those left out."""

pytestmark = [
    pytest.mark.skipif(not corpus.DOCUMENTS.is_dir(), reason="../shared/docs is not here"),
    pytest.mark.process,
    pytest.mark.slow,
    # The processes that read files give way to all others.
    pytest.mark.timeout(900),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def readings() -> list[corpus.Reading]:
    """Every file of the corpus, read once for all tests."""
    return await corpus.readings(corpus.manifest(), recognition_seconds=_RECOGNITION_SECONDS)


def test_what_must_be_read_is_read_in_order_and_nothing_else(readings: list[corpus.Reading]) -> None:
    print("\n" + corpus.table(readings))
    texts = [reading for reading in readings if reading.is_text]
    ordered = [reading for reading in readings if "order" in reading.row]
    assert sum(reading.passed for reading in texts) >= 0.99 * len(texts)
    assert sum(reading.in_order for reading in ordered) >= 0.95 * len(ordered)
    assert {reading.path for reading in readings if reading.unwanted} == set()
    refused = {reading.path for reading in readings if not reading.is_text and not reading.passed}
    assert refused <= _READ_BESIDE


def test_chunks_are_anchored_to_the_place_of_their_facts(readings: list[corpus.Reading]) -> None:
    facts = anchors.facts()
    assert len(facts) >= 60
    assert len({fact.format for fact in facts}) >= 12
    splitter = structure.build(structure.Settings(), count_tokens=lambda text: len(text) // 4, max_tokens=256)
    assert anchors.wrong_places(facts, readings, splitter) == []


def test_there_are_questions_about_files_of_many_types() -> None:
    asked = questions.questions()
    assert len({(question.question, question.file) for question in asked}) >= 100
    assert all((corpus.DOCUMENTS / question.file).is_file() for question in asked)
