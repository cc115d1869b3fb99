"""What reaches the log, and what does not."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from bot.observability import log
from bot.port import WriteRefused
from rag_engine.errors import IndexUnavailable, UnknownDocument

if TYPE_CHECKING:
    from collections.abc import Generator

WORD = "zebrafinch"
LOGGERS = ("", "footnote", "bot", "rag_engine", "adapters", "elastic_transport", "elasticsearch")


@pytest.fixture(autouse=True)
def restored() -> Generator[None]:
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    hooks = sys.unraisablehook, threading.excepthook, warnings.showwarning
    raising = logging.raiseExceptions
    yield
    logging.raiseExceptions = raising
    sys.unraisablehook, threading.excepthook, warnings.showwarning = hooks
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


@pytest.mark.parametrize("service", [True, False])
@pytest.mark.parametrize("level", ["info", "debug"])
def test_what_a_client_repeats_by_itself_is_reported_only_for_debugging(
    capsys: pytest.CaptureFixture[str], service: bool, level: str
) -> None:
    log.configure(level, service=service)
    logging.getLogger("elastic_transport.transport").warning("Retrying request after failure")
    logging.getLogger("elasticsearch").warning("a deprecated parameter")
    assert ("Retrying" in capsys.readouterr().err) == (level == "debug")


def test_an_event_of_a_service_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", service=True)
    log.event("waiting", backend="elasticsearch", reason="unreachable")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["backend"], line["reason"]) == ("waiting", "elasticsearch", "unreachable")


def test_a_command_says_nothing_of_what_goes_as_it_should(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", service=False)
    log.event("ready", platform="console")
    assert capsys.readouterr().err == ""


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What was logged since the last look; the word is in none of it."""
    text = capsys.readouterr().err
    assert WORD not in text
    return [json.loads(line) for line in text.splitlines()]


async def test_ids_go_along_into_tasks_and_threads_and_no_further(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure("debug", service=True)
    engine = logging.getLogger("rag_engine.steps.retrieve")

    async def answer(turn: str) -> None:
        with log.within(turn=turn, platform="slack"):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(asyncio.to_thread(engine.warning, "in a thread"))
                tasks.create_task(asyncio.sleep(0))
            with log.within(job="j"):
                engine.warning("a file")
        engine.warning("afterwards")

    await asyncio.gather(answer("one"), answer("other"))
    found = {
        (each["event"], each.get("turn"), each.get("platform"), each.get("job")) for each in lines(capsys)
    }
    assert found == {
        ("in a thread", "one", "slack", None),
        ("in a thread", "other", "slack", None),
        ("a file", "one", "slack", "j"),
        ("a file", "other", "slack", "j"),
        ("afterwards", None, None, None),
    }


def test_the_id_shown_to_a_person_begins_the_one_in_the_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure("debug", service=True)
    with log.within(action="0123456789abcdef"), log.within(turn="7f3a456789abcdef"):
        assert log.error_id() == "7f3a"
        assert log.record(ValueError(WORD)) == "7f3a"
    with log.within(command="0123456789abcdef"):
        assert log.error_id() == "0123"
    assert log.error_id() != log.error_id()
    (line,) = lines(capsys)
    assert (line["event"], line["turn"]) == ("unexpected error 7f3a", "7f3a456789abcdef")


def test_only_constant_text_of_a_library_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("debug", service=True)
    library = logging.getLogger("slack_sdk.web")
    word = WORD
    library.warning("Received %s after %d attempts in %.1f s", word, 3, 2.5)
    library.error(f"Failed to parse {word}")
    library.error("Retrying %(what)s: %(error)r", {"what": word, "error": ValueError(word)})
    library.error(word, exc_info=LookupError(word))
    library.warning("%d", word)
    here = "test_log.test_only_constant_text_of_a_library_is_reported, line "
    events = [each["event"] for each in lines(capsys)]
    assert events[0] == "Received … after 3 attempts in 2.5 s"
    assert events[1] == "Failed to parse …"
    assert events[2] == "Retrying …: 'ValueError'"
    assert events[3].startswith(here)
    assert events[4] == "%d"


def test_our_own_lines_are_reported_with_what_errors_may_say(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("debug", service=True)
    own = logging.getLogger("bot.conversation.turn.runner")
    own.warning("first: %s", IndexUnavailable("It is away."))
    own.warning("second: %s", WriteRefused("The thread is locked."))
    own.warning("third: %s", ValueError(WORD))
    own.warning("fourth: %s", UnknownDocument(f"There is no {WORD}."))
    own.warning("fifth: \ud800 %d", "no number")
    log.event("sixth", error=ValueError(WORD))
    told = lines(capsys)
    assert [each["event"] for each in told[:-1]] == [
        "first: It is away.",
        "second: The thread is locked.",
        "third: ValueError",
        "fourth: UnknownDocument",
        "fifth: ? %d",
    ]
    assert told[-1]["error"] == "ValueError"


def test_what_python_itself_would_print_is_a_line_without_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure("debug", service=True)

    def fail() -> None:
        raise ValueError(WORD)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    warnings.showwarning(UserWarning(WORD), UserWarning, "library.py", 7)
    first, second = lines(capsys)
    assert first["event"] == "a thread ended with an error"
    assert first["traceback"].endswith("ValueError")
    assert second["event"] == "Python warning: UserWarning in library.py, line 7"


@pytest.mark.process
def test_tries_of_a_download_are_not_announced() -> None:
    """By no handler; the error that ends them is."""
    said = subprocess.run(
        [sys.executable, "-c", _RETRIES], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stderr == ""


_RETRIES = """
from bot.observability import log
log.configure("info", service=False)
from huggingface_hub.utils import logging
logging.get_logger("huggingface_hub.utils._http").warning("Retrying in 1s [Retry 1/5].")
"""
