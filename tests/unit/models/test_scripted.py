from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rag_engine.embedders import hashing
from rag_engine.errors import ModelUnavailable
from rag_engine.models import scripted
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from tests.unit.prompting import asking


async def said(model: ScriptedModel, question: str = "Why?", *, task: str = "answer") -> list[str]:
    async with model.stream(asking(question), task=task) as pieces:
        return [piece async for piece in pieces]


async def test_the_first_line_that_fits_is_said() -> None:
    model = ScriptedModel(
        [
            ScriptedLine(pieces=("r",), task="refine"),
            ScriptedLine(pieces=("n",), pattern="notice"),
            ScriptedLine(pieces=("a", "b")),
        ]
    )
    assert await said(model, task="refine") == ["r"]
    assert await said(model, "notice period?") == ["n"]
    assert await said(model) == ["a", "b"]
    assert [task for task, _ in model.prompts] == ["refine", "answer", "answer"]


async def test_a_script_may_be_written_in_the_environment() -> None:
    settings = scripted.Settings.model_validate(
        {"replies": '[{"text": "Yes.", "pattern": "Why"}]', "pieces_per_second": "1000"}
    )
    async with (
        hashing.connect(hashing.Settings(), data_dir=Path()) as embedder,
        scripted.connect(settings, embedder=embedder) as model,
        model.stream(asking("Why?"), task="answer") as pieces,
    ):
        assert "".join([piece async for piece in pieces]) == "Yes."


async def test_a_fault_comes_after_its_pieces_or_on_opening() -> None:
    model = ScriptedModel(
        [
            ScriptedLine(pieces=("a",), fault=ModelUnavailable("cut."), pattern="late"),
            ScriptedLine(fault=ModelUnavailable("no.")),
        ]
    )
    async with model.stream(asking("late"), task="answer") as pieces:
        assert await anext(pieces) == "a"
        with pytest.raises(ModelUnavailable, match=r"cut\."):
            await anext(pieces)
    with pytest.raises(ModelUnavailable, match=r"no\."):
        await said(model)
    assert model.open_replies == 0


async def test_a_gate_holds_a_piece_back() -> None:
    gate = asyncio.Event()
    model = ScriptedModel([ScriptedLine(pieces=("a",), gates=(gate,))])
    task = asyncio.create_task(said(model))
    async with asyncio.timeout(5):
        await model.opened.wait()
        assert not task.done()
        gate.set()
        assert await task == ["a"]
