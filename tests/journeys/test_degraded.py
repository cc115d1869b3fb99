"""An index of which a part does not answer: every command that shows what was found says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.steps.retrieve import PART_MISSING
from tests.doubles import flaky_index

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Finished, Footnote

QUESTION = "How many days is the leave?"


@pytest.fixture
async def asking(footnote: Footnote, tmp_path: Path) -> Footnote:
    """Commands with the flaky index, a part of which does not answer any more."""
    flaky_index.install(tmp_path)
    (tmp_path / "leave.md").write_text("# Leave\n\nThe leave is 28 days.\n", encoding="utf-8")
    assert (await footnote("add", "leave.md", **flaky_index.ENVIRONMENT)).code == 0
    (tmp_path / "data" / flaky_index.PART).touch(0o600)

    async def run(*arguments: str, stdin: str = "", **more: str) -> Finished:
        return await footnote(*arguments, stdin=stdin, **{**flaky_index.ENVIRONMENT, **more})

    return run


async def test_the_answer_says_so_and_its_trace_too(asking: Footnote) -> None:
    asked = await asking("ask", QUESTION)
    assert asked.code == 0
    assert "28 days" in asked.out
    assert asked.out.count(PART_MISSING) == 1
    answer = json.loads((await asking("ask", QUESTION, "--json")).out)
    assert PART_MISSING in answer["notices"]
    trace = await asking("trace")
    assert "done without: lexical_incomplete, dense_incomplete" in trace.out
    assert PART_MISSING in trace.out
    assert PART_MISSING in json.loads((await asking("trace", "--json")).out)["details"]["notices"]


async def test_a_search_says_so(asking: Footnote) -> None:
    searched = await asking("search", QUESTION)
    assert (searched.code, searched.err) == (0, "")
    assert searched.out.splitlines()[-1] == PART_MISSING
    for_scripts = await asking("search", QUESTION, "--json")
    assert [hit["title"] for hit in json.loads(for_scripts.out)] == ["leave.md"]
    assert for_scripts.err == f"footnote: {PART_MISSING}\n"
