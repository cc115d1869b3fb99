"""What a person sees in a terminal: the sequence of screens of one answer."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import terminal
from tests.doubles.model_servers import openai_server
from tests.doubles.model_servers.openai_server import Reply, chunk
from tests.journeys.conftest import COMMAND, environment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.doubles.model_servers.openai_server import OpenAIServer
    from tests.doubles.terminal import Terminal
    from tests.journeys.conftest import Footnote

    OpenTerminal = Callable[..., AbstractAsyncContextManager[Terminal]]

QUESTION = "In what wind do we put off a field trip?"

SIGNALS_ELSEWHERE = """
import signal, sys, threading
from bot.__main__ import main
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
sys.exit(main())
"""
"""The command, where the system hands every Ctrl-C to another thread than the one of the event loop, which it may always do."""


@pytest.fixture
async def server() -> AsyncGenerator[OpenAIServer]:
    async with openai_server.serve() as running:
        yield running


@pytest.fixture
def chat(samples_dir: Path, tmp_path: Path) -> OpenTerminal:
    def start(
        *arguments: str, program: Sequence[str] = COMMAND, **more: str
    ) -> AbstractAsyncContextManager[Terminal]:
        settings = {"PYTHONPATH": str(PROJECT), "FOOTNOTE_DATA_DIR": str(samples_dir), **more}
        command = [*program, *(arguments or ("chat",))]
        return terminal.running(command, environment=environment(tmp_path, **settings))

    return start


async def test_the_answer_grows_in_place_and_ends_with_its_sources(
    chat: OpenTerminal, server: OpenAIServer
) -> None:
    gates = [asyncio.Event(), asyncio.Event(), asyncio.Event()]
    pieces = ("Above 6 Beaufort ", "[1", "]. Then the trip is put off", ".")
    parts: list[bytes | asyncio.Event | str] = [chunk({"content": pieces[0] + pieces[1]})]
    parts += [gates[0], chunk({"content": pieces[2]}), gates[1], chunk({"content": pieces[3]}, finish="stop")]
    server.on(Reply(parts=[*parts, b"data: [DONE]\n\n"]))
    async with chat(OPENAI_BASE_URL=server.base_url, FOOTNOTE_MODEL__NAME="scripted") as shown:
        await shown.until(">")
        shown.type(QUESTION + "\n")
        first = await shown.until("Above 6 Beaufort")
        assert "[1" not in first, "a marker is held back until it is whole"
        gates[0].set()
        second = await shown.until("Then the trip")
        assert "Above 6 Beaufort [1]. Then the trip is" in second
        assert "Sources" not in second
        gates[1].set()
        last = await shown.until("Sources")
        await shown.until(lambda screen: screen.endswith(">"))
    assert "[1] handbook.pdf — p. 7" in last
    assert last.count("Above 6 Beaufort") == 1, "the growing text is replaced, not repeated"
    answers = [frame.partition(QUESTION)[2].partition("Sources")[0] for frame in shown.frames]
    lengths = [len(answer.strip()) for answer in answers if "Above" in answer]
    assert lengths == sorted(lengths), "shown text only grows"


async def test_what_is_being_done_is_shown_until_there_is_text(
    chat: OpenTerminal, server: OpenAIServer
) -> None:
    gate = asyncio.Event()
    server.on(Reply(parts=[gate, chunk({"content": "Later [1]."}, finish="stop"), b"data: [DONE]\n\n"]))
    async with chat(OPENAI_BASE_URL=server.base_url, FOOTNOTE_MODEL__NAME="scripted") as shown:
        await shown.until(">")
        shown.type(QUESTION + "\n")
        await shown.until("writing from")
        gate.set()
        last = await shown.until("Sources")
    assert "writing from" not in last


async def test_a_file_can_be_added_and_asked_about(chat: OpenTerminal, tmp_path: Path) -> None:
    note = tmp_path / "lighthouse.md"
    note.write_text(
        "# Lighthouse\n\nThe lamp of Gull Rock was lit by Ines Varga in 1911.\n", encoding="utf-8"
    )
    async with chat(FOOTNOTE_DATA_DIR=str(tmp_path / "own")) as shown:
        await shown.until(">")
        shown.type(f"/add {note}\n")
        await shown.until("lighthouse.md: 1 passage, searchable")
        shown.type("Who lit the lamp of Gull Rock?\n")
        await shown.until("[1] lighthouse.md — § Lighthouse")
        assert "Ines Varga" in shown.text
        shown.type("/sources\n")
        await shown.until("“The lamp of Gull Rock was lit by Ines Varga in 1911.”")
        shown.type("/add nowhere.md\n")
        await shown.until("There is no file 'nowhere.md'.")


async def test_run_starts_the_console_and_says_that_it_is_ready(chat: OpenTerminal) -> None:
    async with chat("run") as shown:
        await shown.until("ready platform=console")
        screen = await shown.until("Ask about your files.")
    assert screen.index("ready") < screen.index("Ask about")


@pytest.mark.parametrize("program", [COMMAND, (sys.executable, "-c", SIGNALS_ELSEWHERE)])
async def test_ctrl_c_leaves_at_once(chat: OpenTerminal, program: Sequence[str]) -> None:
    async with chat(program=program) as shown:
        await shown.until(">")
        shown.type("\x03")
        await shown.end()
    assert "Traceback" not in shown.text


async def test_commands_are_those_of_the_chat(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("# Lamp\n\nThe lamp was lit in 1911.\n", encoding="utf-8")
    typed = [
        "/kb create notes",
        "/kb add lamp.md notes",
        "/kb list",
        "/kb export notes",
        "/kb remove notes lamp.md",
        "2",
    ]
    typed += [
        "/kb show notes",
        "/kb remove notes",
        "1",
        "/kb list",
        "/lits",
        "/kb lst",
        "/etc/lamp: when was it lit?",
    ]
    done = await footnote("chat", stdin="\n".join(typed) + "\n")
    assert done.code == 0, done.err
    at = 0
    for expected in (
        "I created `notes`",
        "lamp.md: 1 passage, searchable",
        "- `notes`: 1 document, searched here",
        "Saved as notes.zip.",
        "Remove `lamp.md` from `notes`? It cannot be undone.",
        "1  Remove   2  Cancel",
        "- `lamp.md`: 1 passage",
        "Remove the knowledge base `notes` with 1 document? It cannot be undone.",
        "Removed the knowledge base `notes`",
        "There is no knowledge base here yet",
        "There is no command /lits. Did you mean /kb list?",
        "Did you mean `/kb list`?",
        "There is nothing to look in yet",
    ):
        assert expected in done.out[at:]
        at = done.out.index(expected, at)
    assert (tmp_path / "notes.zip").stat().st_mode & 0o077 == 0


async def test_an_unknown_command_is_refused_with_the_nearest(chat: OpenTerminal) -> None:
    async with chat() as shown:
        await shown.until(">")
        shown.type("/address of the harbour office?\n")
        await shown.until("There is no command /address. Did you mean /add?")
