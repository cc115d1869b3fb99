"""A language model behind a real server: a cited answer when it works, one plain sentence when it does not."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers import openai_server
from tests.doubles.model_servers.openai_server import CUT, Reply, chunk, refused, streamed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.doubles.model_servers.openai_server import OpenAIServer
    from tests.journeys.conftest import Finished, Footnote

QUESTION = "In what wind do we put off a field trip?"


@pytest.fixture
async def server() -> AsyncGenerator[OpenAIServer]:
    async with openai_server.serve() as running:
        yield running


@pytest.fixture
def asking(footnote: Footnote, hashed_samples_dir: Path, server: OpenAIServer) -> Footnote:
    """Commands over the samples with the server as their model; the patience is for a machine that others use too."""

    async def run(*arguments: str, stdin: str = "", **more: str) -> Finished:
        settings = {
            "FOOTNOTE_DATA_DIR": str(hashed_samples_dir),
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-test",
            "FOOTNOTE_MODEL__NAME": "scripted",
            "FOOTNOTE_MODEL__FIRST_TOKEN_SECONDS": "60",
            "FOOTNOTE_MODEL__BETWEEN_TOKENS_SECONDS": "60",
            "FOOTNOTE_MODEL__BACK_OFF_SECONDS": "0.01",
        }
        return await footnote(*arguments, stdin=stdin, **{**settings, **more})

    return run


async def test_markers_become_clean_numbers_with_their_sources(
    asking: Footnote, server: OpenAIServer
) -> None:
    server.on(streamed("Above 6 Beau", "fort 【", "1】. Unknown ", "[77]."))
    answer = json.loads((await asking("ask", QUESTION, "--json")).out)
    assert answer["answer"] == "Above 6 Beaufort [1]. Unknown."
    assert [citation["title"] for citation in answer["citations"]] == ["handbook.pdf"]
    assert answer["citations"][0]["anchor"] == "p. 7"
    request = await server.arrival()
    assert request.task == "answer"
    assert request.text.count(QUESTION) == 1


async def test_an_answer_without_markers_is_cited_by_meaning(
    asking: Footnote, server: OpenAIServer, samples_dir: Path
) -> None:
    server.on(streamed("A field trip is put off when the wind is above 6 Beaufort."))
    real = {"FOOTNOTE_DATA_DIR": str(samples_dir), "FOOTNOTE_EMBEDDER__KIND": "local"}
    answer = json.loads((await asking("ask", QUESTION, "--json", **real)).out)
    assert answer["answer"] == "A field trip is put off when the wind is above 6 Beaufort [1]."
    assert answer["citations"][0]["title"] == "handbook.pdf"


async def test_a_follow_up_sees_the_conversation(asking: Footnote, server: OpenAIServer) -> None:
    server.on(streamed('{"question": "In what waves is a field trip put off?"}'), task="understand")
    server.on(streamed("Above 6 Beaufort [1]."), task="answer", times=1)
    server.on(streamed("Above 1.2 metres [1]."), task="answer")
    finished = await asking("chat", stdin=f"{QUESTION}\nAnd in what waves?\n")
    assert "1.2 metres [1]" in finished.out
    second = await server.arrival(2)
    assert second.task == "understand"
    last = await server.arrival(3)
    assert "Above 6 Beaufort" in last.text
    assert QUESTION in last.text


FAULTS = {
    "refuses the key": (refused(401), "OPENAI_API_KEY"),
    "knows no such model": (refused(404), "FOOTNOTE_MODEL__NAME"),
    "is broken": (refused(500), "quoted instead"),
    "has too much to do": (refused(429, headers={"Retry-After": "0"}), "quoted instead"),
    "answers with a web page": (
        Reply(parts=[b"<html>Bad gateway</html>"], headers={"Content-Type": "text/html"}),
        "quoted instead",
    ),
    "answers nonsense": (Reply(parts=[b"data: {nonsense\n\n"]), "quoted instead"),
    "answers nothing": (streamed(""), "quoted instead"),
    "stalls": (Reply(parts=[asyncio.Event()]), "quoted instead"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_server_that_fails_is_replaced_and_named(
    asking: Footnote, server: OpenAIServer, fault: str
) -> None:
    reply, expected = FAULTS[fault]
    server.on(reply)
    impatient = {"FOOTNOTE_MODEL__FIRST_TOKEN_SECONDS": "1"} if fault == "stalls" else {}
    finished = await asking("ask", QUESTION, "--json", **impatient)
    assert finished.code == 0, finished.err
    answer = json.loads(finished.out)
    assert "6 Beaufort" in answer["answer"]
    assert answer["citations"]
    (notice,) = answer["notices"]
    assert expected in notice
    assert "sk-test" not in finished.out + finished.err


SECOND = {"FOOTNOTE_MODEL__FALLBACKS__1__NAME": "second"}


async def test_where_one_model_fails_the_next_one_answers_and_is_named(
    asking: Footnote, server: OpenAIServer
) -> None:
    server.on(refused(503), matching='"model": "scripted"')
    server.on(streamed("Above 6 Beaufort [1]."), matching='"model": "second"')
    answer = json.loads((await asking("ask", QUESTION, "--json", **SECOND)).out)
    assert answer["answer"] == "Above 6 Beaufort [1]."
    assert answer["notices"] == [
        "The language model is out of order; try again in a moment. second answered instead."
    ]


async def test_the_doctor_asks_every_model(asking: Footnote, server: OpenAIServer) -> None:
    async def language_model(**settings: str) -> dict[str, str]:
        listed = json.loads((await asking("doctor", "--json", **SECOND, **settings)).out)
        return next(each for each in listed if each["check"] == "language model")

    well = await language_model()
    assert well["state"] == "ok"
    assert "scripted answers in" in well["detail"]
    assert "second answers in" in well["detail"]
    assert well["detail"].endswith("which is assumed")
    known = await language_model(FOOTNOTE_MODEL__NAME="gpt-4")
    assert "8,192" in known["detail"]
    assert "assumed" not in known["detail"]
    server.on(refused(401), matching='"model": "second"')
    ill = await language_model()
    assert ill["state"] == "bad"
    assert ill["detail"].startswith("second, a fallback: The language model refuses our key")
    assert "FOOTNOTE_MODEL__FALLBACKS__" in ill["fix"]


async def test_a_server_that_is_not_there(asking: Footnote) -> None:
    finished = await asking("ask", QUESTION, "--json", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    (notice,) = json.loads(finished.out)["notices"]
    assert "quoted instead" in notice


@pytest.mark.parametrize("end", [[CUT], [asyncio.Event()]], ids=["cut", "stalled"])
async def test_what_was_said_before_the_stream_broke_off_stays(
    asking: Footnote, server: OpenAIServer, end: list[object]
) -> None:
    begun = chunk({"content": "Above 6 Beaufort [1]. And when the"})
    server.on(Reply(parts=[begun, *end]))
    impatient = {"FOOTNOTE_MODEL__BETWEEN_TOKENS_SECONDS": "1"} if end != [CUT] else {}
    answer = json.loads((await asking("ask", QUESTION, "--json", **impatient)).out)
    assert answer["answer"].startswith("Above 6 Beaufort [1]. And when the")
    (notice,) = answer["notices"]
    assert "broke off" in notice


async def test_a_reply_that_was_cut_at_its_limit_is_marked(asking: Footnote, server: OpenAIServer) -> None:
    server.on(streamed("Above 6 Beaufort [1]. And th", finish="length"))
    answer = json.loads((await asking("ask", QUESTION, "--json")).out)
    (notice,) = answer["notices"]
    assert "REPLY_TOKENS" in notice


async def test_what_a_terminal_would_obey_is_left_out(asking: Footnote, server: OpenAIServer) -> None:
    server.on(streamed("\x1b[Above 6 Beaufort\x07 [1]."))
    answer = json.loads((await asking("ask", QUESTION, "--json")).out)
    assert answer["answer"] == "[Above 6 Beaufort [1]."
