"""What reaches the log, and what does not."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from bot import telemetry

if TYPE_CHECKING:
    from collections.abc import Generator

LOGGERS = ("", "footnote", "bot", "rag_engine", "adapters", "elastic_transport", "elasticsearch")


@pytest.fixture(autouse=True)
def restored() -> Generator[None]:
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    yield
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


@pytest.mark.parametrize("service", [True, False])
@pytest.mark.parametrize("level", ["info", "debug"])
def test_what_a_client_repeats_by_itself_is_told_only_for_debugging(
    capsys: pytest.CaptureFixture[str], service: bool, level: str
) -> None:
    telemetry.configure(level, service=service)
    logging.getLogger("elastic_transport.transport").warning("Retrying request after failure")
    logging.getLogger("elasticsearch").warning("a deprecated parameter")
    assert ("Retrying" in capsys.readouterr().err) == (level == "debug")


def test_an_event_of_a_service_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure("info", service=True)
    telemetry.event("waiting", backend="elasticsearch", reason="unreachable")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["backend"], line["reason"]) == ("waiting", "elasticsearch", "unreachable")


def test_a_command_says_nothing_of_what_goes_as_it_should(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure("info", service=False)
    telemetry.event("ready", platform="console")
    assert capsys.readouterr().err == ""
