"""Lines of libraries keep their own words, and nothing else."""

from __future__ import annotations

import importlib
import io
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from discord import gateway
from slack_sdk.socket_mode import aiohttp as socket_mode

from adapters.slack.api import sdk_logger
from bot.observability import log

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "xoxb-secret and what somebody wrote"
LIBRARY = """
import logging

BLOCKED = "Shard ID %s heartbeat blocked for more than %s seconds."

def by_attribute(logger, *values):
    logger.warning(BLOCKED, *values)

def by_f_string(logger, reason, tries):
    logger.warning(f"Failed to send ({reason}) after {tries} tries: {reason}")

def by_variable(logger, reason):
    message = f"The session ({reason}) seems to be already closed"
    logger.error(message)

def by_value(logger, text):
    logger.warning(text)

def short(logger, text):
    logger.warning(f"{text}: {text}")
"""


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    root, written = logging.getLogger(), io.StringIO()
    handlers = list(root.handlers)
    monkeypatch.setattr("sys.stderr", written)
    log.configure("info", service=False)
    yield written
    root.handlers[:] = handlers


def test_formats_and_f_strings_of_a_module_are_shown_without_their_values(
    lines: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some_library.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(tmp_path))
    library, logger = importlib.import_module("some_library"), logging.getLogger("some_library")
    library.by_attribute(logger, SECRET, 10)
    library.by_f_string(logger, SECRET, 3)
    library.by_variable(logger, SECRET)
    library.by_value(logger, SECRET)
    library.short(logger, SECRET)
    library.by_value(logger, "Failed to send " * 1000)
    assert SECRET not in lines.getvalue()
    assert [each.removeprefix("footnote: ") for each in lines.getvalue().splitlines()] == [
        "Shard ID … heartbeat blocked for more than 10 seconds.",
        "Failed to send (…) after 3 tries: …",
        "The session (…) seems to be already closed",
        "some_library.by_value, line 17",
        "some_library.short, line 20",
        "some_library.by_value, line 17",
    ]


def told(lines: io.StringIO, logger: logging.Logger, module: object, message: str, *values: object) -> str:
    """The line of a message that this module of an SDK logs."""
    path = str(Path(str(getattr(module, "__file__", ""))))
    record = logger.makeRecord(logger.name, logging.WARNING, path, 1, message, values, None, "function")
    logger.handle(record)
    return lines.getvalue().splitlines()[-1].removeprefix("footnote: ")


def test_gateway_warnings_of_the_sdks_keep_their_text(lines: io.StringIO) -> None:
    discord_logger = logging.getLogger("discord.gateway")
    blocked = "Shard ID %s heartbeat blocked for more than %s seconds."
    assert blocked in Path(gateway.__file__).read_text(encoding="utf-8")
    assert told(lines, discord_logger, gateway, blocked, None, 20) == blocked.replace("%s", "…", 1) % 20
    source = Path(str(socket_mode.__file__)).read_text(encoding="utf-8")
    assert "seems to be already closed. Reconnecting..." in source
    filled = f"The session ({SECRET}) seems to be already closed. Reconnecting..."
    line = told(lines, sdk_logger(), socket_mode, filled)
    assert line.endswith("seems to be already closed. Reconnecting...")
    assert SECRET not in lines.getvalue()
    assert json.dumps(line)
