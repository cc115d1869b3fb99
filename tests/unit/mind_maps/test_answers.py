"""Answers as a tree with their citation numbers, and hostile ones."""

from __future__ import annotations

import pymupdf
import pytest

from rag_engine.mind_maps import picture
from rag_engine.mind_maps.answers import MappedAnswer, of_answers
from rag_engine.mind_maps.tree import MOST_LEVELS, MOST_NODES
from rag_engine.types import ChunkId, Citation, DocumentId

TEXT = """## Leave
You have 30 days [1]. Five may be carried over. [2]

- **Sick leave**: call before nine [1][2]
  - a note on day three
- Parents: six weeks

## Pay
Paid on the 25th [3].
"""


def citation(number: int, title: str, anchor: str) -> Citation:
    return Citation(
        number=number,
        title=title,
        anchor=anchor,
        uri="",
        quote="",
        document=DocumentId("d"),
        chunk=ChunkId("c"),
    )


LEAVE = MappedAnswer(
    question="What of leave and pay?",
    text=TEXT,
    citations=(citation(1, "a.pdf", "p. 1"), citation(2, "a.pdf", "p. 2"), citation(3, "b.pdf", "p. 9")),
)
TRAVEL = MappedAnswer(
    question="And travel?", text="Book early [1].", citations=(citation(1, "b.pdf", "p. 9"),)
)


def test_headings_items_and_sentences_with_their_numbers() -> None:
    found = of_answers([LEAVE])
    assert found is not None
    assert found.map.outline() == (
        "**What of leave and pay?**\n\n- Leave\n  - You have 30 days. ([1])\n  - Five may be carried over. ([2])\n"
        "  - Sick leave: call before nine ([1][2])\n    - a note on day three\n  - Parents: six weeks\n"
        "- Pay\n  - Paid on the 25th. ([3])"
    )
    assert found.sources == (("a.pdf", "p. 1"), ("a.pdf", "p. 2"), ("b.pdf", "p. 9"))


def test_the_answers_of_a_thread_share_their_numbers() -> None:
    found = of_answers([LEAVE, TRAVEL], title="Thread")
    assert found is not None
    assert "- And travel?\n  - Book early. ([3])" in found.map.outline()
    assert len(found.sources) == 3


@pytest.mark.parametrize("text", ["", "```\ncode\n```", "[1] [2]", "***"])
def test_nothing_to_draw(text: str) -> None:
    assert of_answers([MappedAnswer(question="Q?", text=text, citations=())]) is None
    assert of_answers([]) is None


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"- item {number}" for number in range(10_000)),
        "\n".join(f"{'  ' * number}- deep {number}" for number in range(200)),
        "- same\n" * 5_000,
        "- שלום עולם\n- مرحبا بالعالم\n- 🎉 party 🎊\n- 港口手册说明了一切" * 3,
        "# " * 3_000,
        "- " + "x" * 30_000,
    ],
    ids=["many", "deep", "equal", "scripts", "marks", "long"],
)
def test_hostile_answers_stay_within_the_limits_and_are_drawn(text: str) -> None:
    found = of_answers([MappedAnswer(question="Q?" * 400, text=text, citations=())])
    if found is None:
        return
    nodes = list(found.map.root.walk())
    assert len(nodes) <= MOST_NODES + 1
    assert max(depth for depth, _ in nodes) <= MOST_LEVELS
    drawn = pymupdf.Pixmap(picture.png(found.map))
    assert drawn.width == picture.WIDTH
