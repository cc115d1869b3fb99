"""A model's mind map: nodes are checked against the parts they name, and the rules draw where it does not hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_engine.errors import ModelUnavailable
from rag_engine.mind_maps.answers import MappedAnswer
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.summaries.mind_map import MindMaps
from rag_engine.types import ChunkId, Citation, DocumentId, Section

SECTIONS = [
    Section(text="Employees get 30 days of paid vacation.", headings=("Handbook", "Leave"), anchor="p. 1"),
    Section(text="Sick notes are due after three days.", headings=("Handbook", "Leave"), anchor="p. 2"),
    Section(text="Hotels are booked by the travel desk.", headings=("Handbook", "Trips"), anchor="p. 7"),
]
RULED = "**Handbook (p. 1)**\n\n- Leave (p. 1)\n- Trips (p. 7)"


def _node(label: str, *parts: int, children: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"label": label, "parts": parts, "children": children}


def _maps(*branches: dict[str, Any]) -> tuple[MindMaps, ScriptedModel]:
    model = ScriptedModel([ScriptedLine(pieces=(json.dumps({"branches": branches}),), task="mindmap")])
    return MindMaps(model=model), model


async def test_nodes_are_cited_by_the_parts_they_name() -> None:
    leave = _node(
        "Time off", children=(_node("30 days of vacation", 1), _node("Sick notes after three days", 2))
    )
    maps, model = _maps(leave, _node("The travel desk books hotels", 3))
    found = await maps.of_document("handbook.md", SECTIONS)
    assert found is not None
    assert found.outline() == (
        "**handbook.md**\n\n- Time off\n  - 30 days of vacation (p. 1)\n"
        "  - Sick notes after three days (p. 2)\n- The travel desk books hotels (p. 7)"
    )
    ((task, prompt),) = model.prompts
    assert task == "mindmap"
    assert "[2] Leave Sick notes are due after three days." in prompt.messages[-1].content


@pytest.mark.parametrize(
    "invented",
    [
        _node("40 days of vacation", 1),
        _node("Free lunch every Friday", 1),
        _node("30 days of vacation", 9),
        _node("30 days of vacation"),
        _node("", 1),
        _node("Empty subject", children=(_node("Shares of the company", 2),)),
    ],
    ids=["figure", "words", "unknown part", "no part", "no label", "no child that holds"],
)
async def test_what_its_parts_do_not_say_is_left_out(invented: dict[str, Any]) -> None:
    maps, _ = _maps(invented, _node("Paid vacation", 1), _node("Sick notes", 2))
    found = await maps.of_document("handbook.md", SECTIONS)
    assert found is not None
    assert found.outline() == "**handbook.md**\n\n- Paid vacation (p. 1)\n- Sick notes (p. 2)"


@pytest.mark.parametrize(
    "pieces",
    [
        ("no map at all",),
        (json.dumps({"branches": [_node("Everything is invented", 1), _node("This too", 2)]}),),
    ],
)
async def test_the_rules_draw_where_the_model_gives_nothing_that_holds(pieces: tuple[str, ...]) -> None:
    model = ScriptedModel([ScriptedLine(pieces=pieces, task="mindmap")])
    found = await MindMaps(model=model).of_document("Handbook", SECTIONS)
    ruled = await MindMaps().of_document("Handbook", SECTIONS)
    assert found is not None
    assert found == ruled


async def test_the_rules_draw_when_the_model_fails() -> None:
    model = ScriptedModel([ScriptedLine(task="mindmap", fault=ModelUnavailable("It does not answer."))])
    assert await MindMaps(model=model).of_document("Handbook", SECTIONS) == await MindMaps().of_document(
        "Handbook", SECTIONS
    )


async def test_a_file_without_headings_has_a_map_by_the_model_alone() -> None:
    plain = [Section(text=one.text, anchor=one.anchor) for one in SECTIONS]
    maps, _ = _maps(_node("Paid vacation", 1), _node("Hotels", 3))
    assert await MindMaps().of_document("notes.txt", plain) is None
    found = await maps.of_document("notes.txt", plain)
    assert found is not None
    assert found.outline() == "**notes.txt**\n\n- Paid vacation (p. 1)\n- Hotels (p. 7)"


async def test_answers_keep_the_numbers_of_their_sources() -> None:
    cited = [
        Citation(number=n, title="rules.md", anchor=f"p. {n}", uri="", quote="", chunk=ChunkId(f"c{n}"), document=DocumentId("d"))
        for n in (1, 2)
    ]  # fmt: skip
    answer = MappedAnswer(
        question="What about leave?",
        text="Employees get 30 days of vacation [1]. Sick notes are due after three days [2].",
        citations=tuple(cited),
    )
    maps, model = _maps(_node("Vacation: 30 days", 1), _node("Sick notes", 2))
    found = await maps.of_answers([answer])
    assert found is not None
    assert found.map.outline() == "**What about leave?**\n\n- Vacation: 30 days ([1])\n- Sick notes ([2])"
    assert found.sources == (("rules.md", "p. 1"), ("rules.md", "p. 2"))
    assert len(model.prompts) == 1
    assert await maps.of_answers([]) is None
