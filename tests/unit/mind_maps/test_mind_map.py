"""The headings of a document as a tree: what is kept, how it reads, and a picture that can be read."""

from __future__ import annotations

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.mind_maps import picture, tree
from rag_engine.mind_maps.tree import MOST_LEVELS, MOST_NODES, MindMap
from rag_engine.types import Section


def section(*headings: str, place: str = "") -> Section:
    return Section(text="Some text.", anchor=place, headings=headings)


def drawn(*sections: Section, title: str = "handbook.pdf") -> MindMap:
    found = tree.of_document(title, sections)
    assert found is not None
    return found


HANDBOOK = (
    section("Handbook", place="p. 1"),
    section("Handbook", "Leave", place="p. 2"),
    section("Handbook", "Leave", "Illness", place="p. 3"),
    section("Handbook", "Leave", "Illness", place="p. 4"),
    section("Handbook", "Pay", place="p. 5"),
)


def test_headings_become_a_tree_with_their_places() -> None:
    assert drawn(*HANDBOOK).outline() == (
        "**Handbook (p. 1)**\n\n- Leave (p. 2)\n  - Illness (p. 3)\n- Pay (p. 5)"
    )


def test_several_subjects_stand_under_the_file() -> None:
    found = drawn(section("Leave", place="§ Leave"), section("Pay", place="§ Pay"))
    assert found.outline() == "**handbook.pdf**\n\n- Leave\n- Pay"


def test_without_headings_there_is_nothing_to_draw() -> None:
    assert tree.of_document("notes.txt", [section()]) is None
    assert tree.of_document("notes.txt", []) is None


def test_outer_headings_are_kept_before_inner_ones() -> None:
    many = [section(f"Subject {one}", f"Detail {two}") for one in range(30) for two in range(10)]
    found = drawn(*many)
    labels = [node.label for _, node in found.root.walk()]
    assert len(labels) == MOST_NODES + 1
    assert [label for label in labels if label.startswith("Subject")] == [
        f"Subject {one}" for one in range(30)
    ]
    assert found.left_out == 330 - MOST_NODES


def test_deep_trees_end() -> None:
    found = drawn(section(*(f"Level {number}" for number in range(40))))
    assert max(depth for depth, _ in found.root.walk()) == MOST_LEVELS
    assert found.left_out == 39 - MOST_LEVELS


def pixels(found: MindMap) -> pymupdf.Pixmap:
    return pymupdf.Pixmap(picture.png(found))


def test_the_picture_shows_every_heading_in_letters_a_phone_can_show() -> None:
    found = drawn(*HANDBOOK)
    document = pymupdf.open("svg", picture.svg(found).encode())
    words = document[0].get_text()
    assert all(word in words for word in ("Handbook", "Leave", "Illness", "Pay", "p. 3"))
    spans = [
        span["size"]
        for block in document[0].get_text("dict")["blocks"]
        for line in block.get("lines", [])
        for span in line["spans"]
    ]
    # 390 points are the width of a usual phone.
    assert min(spans) * 390 / picture.WIDTH >= 8
    image = pixels(found)
    assert image.width == picture.WIDTH
    assert len(set(image.samples[:: image.n])) > 5


def test_long_and_wide_labels_stay_inside() -> None:
    found = drawn(
        section("Überschriften " * 8, "年假与病假的规定" * 8, "w" * 70, place="p. 1"), section("Other")
    )
    document = pymupdf.open("svg", picture.svg(found).encode())
    for block in document[0].get_text("dict")["blocks"]:
        assert block["bbox"][2] <= picture.WIDTH + 1


@pytest.mark.slow
@given(st.lists(st.lists(st.text(max_size=80), max_size=7), max_size=30), st.text(max_size=30))
def test_any_headings_can_be_drawn(headings: list[list[str]], title: str) -> None:
    found = tree.of_document(title, [section(*one) for one in headings])
    if found is not None:
        assert picture.png(found).startswith(b"\x89PNG")
        shown = sum(1 for _ in found.root.walk())
        assert shown <= MOST_NODES + 1


def test_a_long_place_is_visibly_cut() -> None:
    svg = picture.svg(drawn(section("Leave", place="Leave 2025!A2:N40"), section("Pay", place="Pay!A2:N400")))
    assert ">Leave 2025!A2:N…<" in svg
    assert ">Pay!A2:N400<" in svg
