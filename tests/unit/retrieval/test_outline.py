from __future__ import annotations

from rag_engine.retrieval.outline import outline
from tests.unit.steps.shelf import Shelf


def entries(headings: dict[int, tuple[str, ...]], count: int) -> dict[tuple[str, ...], list[int]]:
    found = outline(Shelf(headings, book=count).documents["book"])
    return {entry.path: [chunk.ordinal for chunk in entry.chunks] for entry in found}


def test_an_entry_has_the_text_between_its_heading_and_the_next() -> None:
    assert entries({0: ("A",), 1: ("A", "B"), 2: ("A", "B"), 3: ("C",), 4: ("A",)}, 6) == {
        ("A",): [0, 4],
        ("A", "B"): [1, 2],
        ("C",): [3],
    }


def test_a_heading_without_a_text_of_its_own_has_that_of_its_parts() -> None:
    assert entries({0: ("A", "B"), 1: ("A", "C")}, 2) == {("A",): [0, 1], ("A", "B"): [0], ("A", "C"): [1]}


def test_numbers_and_sentences_are_no_headings() -> None:
    assert entries({0: ("A", "12"), 1: ("A", "word " * 23)}, 2) == {("A",): [0, 1]}


def test_of_too_many_headings_the_deepest_are_left_out() -> None:
    headings = {number: (f"Chapter {number // 10}", f"Part {number}") for number in range(250)}
    found = entries(headings, 250)
    assert len(found) == 25
    assert found["Chapter 3",] == list(range(30, 40))
    flat = {number: (f"Chapter {number}",) for number in range(250)}
    assert len(entries(flat, 250)) == 200
