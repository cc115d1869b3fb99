"""What commands say to people: lines that fit, texts instead of ids, and the nearest name for one that is unknown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import terminal
from tests.journeys.conftest import COMMAND, environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

TEXT = "# Lamp\n\nThe lamp of Gull Rock was lit by Ines Varga in 1911, and it has burned in every night since then.\n"


@pytest.fixture
async def filled(footnote: Footnote, tmp_path: Path) -> Footnote:
    (tmp_path / "lamp.md").write_text(TEXT, encoding="utf-8")
    assert (await footnote("add", "lamp.md", "--kb", "island")).code == 0
    return footnote


async def test_search_and_trace_show_what_they_mean(filled: Footnote) -> None:
    assert (await filled("ask", "Who lit the lamp of Gull Rock?")).code == 0
    found = (await filled("search", "lamp of Gull Rock")).out
    assert "meaning 0." in found
    assert "(1st), words " in found
    assert "cosine similarity, 1 for the same meaning" in found
    trace = (await filled("trace")).out
    assert "question: Who lit the lamp of Gull Rock?" in trace
    assert "passage 1: lamp.md — § Lamp" in trace
    assert trace.count("was lit by Ines Varga in 1911") >= 3, "the answer, the passage and the quote"
    details = json.loads((await filled("trace", "--json")).out)["details"]
    assert details["passages"][0]["chunk"] not in trace


async def test_a_trace_shows_every_script_as_it_is(filled: Footnote) -> None:
    assert (await filled("ask", "灯塔 lamp of Gull Rock")).code == 0
    assert '"question": "灯塔 lamp of Gull Rock"' in (await filled("trace", "--json")).out


async def test_unknown_names_are_answered_with_the_nearest(filled: Footnote) -> None:
    for command, meant in (
        (("serch", "x"), "did you mean 'search'?"),
        (("kb", "lst"), "did you mean 'list'?"),
        (("kb", "show", "iland"), "Did you mean 'island'?"),
    ):
        refused = await filled(*command)
        assert refused.code != 0
        assert meant in refused.err


async def test_an_add_that_fails_leaves_no_knowledge_base(filled: Footnote, tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(b"\0\1")
    assert (await filled("add", "nowhere.md", "--kb", "one")).code == 1
    assert (await filled("add", "bad.pdf", "--kb", "two")).code == 1
    listed = json.loads((await filled("kb", "list", "--json")).out)
    assert [base["name"] for base in listed] == ["island"]
    assert (await filled("add", "bad.pdf", "--kb", "island")).code == 1
    assert (await filled("add", "lamp.md", "bad.pdf", "--kb", "three")).code == 1
    listed = json.loads((await filled("kb", "list", "--json")).out)
    assert [base["name"] for base in listed] == ["island", "three"]


@pytest.mark.parametrize("columns", [40, 200])
async def test_lines_wrap_between_words(filled: Footnote, tmp_path: Path, columns: int) -> None:
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    own = environment(tmp_path, PYTHONPATH=str(PROJECT), **settings)
    async with terminal.running([*COMMAND, "search", "lamp"], environment=own, columns=columns) as shown:
        await shown.end()
    lines = [line.rstrip() for line in shown.text.splitlines()]
    words = " ".join(lines).split()
    assert "meaning: cosine similarity, 1 for the same meaning," in " ".join(words), "no word is cut"
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("columns", [40, 100])
async def test_names_are_whole_on_a_phone(filled: Footnote, tmp_path: Path, columns: int) -> None:
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    own = environment(tmp_path, PYTHONPATH=str(PROJECT), **settings)
    listed = json.loads((await filled("kb", "list", "--json")).out)[0]
    (title,) = [
        each["title"] for each in json.loads((await filled("kb", "show", listed["name"], "--json")).out)
    ]
    async with terminal.running(
        [*COMMAND, "kb", "show", listed["name"]], environment=own, columns=columns
    ) as shown:
        await shown.end()
    assert title in shown.text
    assert "ready" in shown.text
    assert "…" not in shown.text


async def test_the_log_is_readable_in_a_terminal_and_json_in_a_pipe(filled: Footnote, tmp_path: Path) -> None:
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    own = environment(tmp_path, PYTHONPATH=str(PROJECT), **settings)
    own["TIKTOKEN_CACHE_DIR"] = str(tmp_path / "nothing")
    async with terminal.running([*COMMAND, "run"], environment=own) as shown:
        screen = await shown.until("Ask about your files.")
    assert "ready platform=console" in screen
    assert "{" not in screen
    piped = await filled("run", stdin="")
    assert json.loads(piped.err.splitlines()[0])["logger"]
    assert any(json.loads(line)["event"] == "ready" for line in piped.err.splitlines())
