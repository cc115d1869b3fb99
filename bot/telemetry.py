"""Logs, and what is said about an error nobody expected. Message text, prompts and secrets never reach a log at INFO."""

from __future__ import annotations

import json
import logging
import secrets
import sys
import time
from typing import cast

_LOGGER = logging.getLogger("footnote")
_OURS = {"footnote", "bot", "rag_engine", "adapters"}
_REPEATING = {"elastic_transport", "elasticsearch"}
"""Libraries that warn with a traceback of every attempt that they repeat by themselves; how it ended is for us to say."""


def configure(level: str, *, service: bool) -> None:
    """Send logs to standard error: JSON lines for a service, short plain lines (warnings and up) for a command."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if service else logging.Formatter("footnote: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries log requests and payloads at INFO and DEBUG: only our own loggers follow the setting.
    root.setLevel(logging.WARNING)
    for name in _REPEATING:
        logging.getLogger(name).setLevel(logging.WARNING if level == "debug" else logging.ERROR)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper() if service or level == "debug" else logging.WARNING)


def event(name: str, **fields: object) -> None:
    """One structured log line, e.g. `event("ready", platform="console")`."""
    _LOGGER.info(name, extra={"fields": fields})


def unwrapped(error: BaseException) -> BaseException:
    """The error inside groups of one, which task groups wrap round it."""
    if isinstance(error, BaseExceptionGroup):
        return unwrapped(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return error


def record(error: BaseException) -> str:
    """Log an error nobody expected with its traceback; returns its id."""
    error_id = secrets.token_hex(2)
    _LOGGER.error("unexpected error %s", error_id, exc_info=error)
    return error_id


def report(error: BaseException) -> str:
    """Log an error nobody expected with its traceback; returns the sentence, with an id, that a person is shown."""
    return f"Something broke (id {record(error)}); the log says more."


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)
