"""Logs, and what is said about an error nobody expected.

No line holds what anybody wrote, nor a secret, at any level: `debug` tells more of what is done, not more of what was said. Our own code
keeps to it; what libraries log, and what errors say, is let through only as far as it is their own words (`_of_library`, and
`rag_engine.tracebacks`).

Every line carries the ids of what it belongs to: `turn` (or `command`, `action`) and `platform`, `job` for a file. They
go along into tasks and `asyncio.to_thread`, as context variables do, so that the engine knows nothing of them.

The standard library does it all: a formatter, a context variable. structlog would be one more dependency for the same line, and
the lines of libraries come by `logging` in any case.
"""

from __future__ import annotations

import inspect
import json
import logging
import secrets
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from bot.port import ChatError
from rag_engine import tracebacks
from rag_engine.surrogates import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TextIO

_LOGGER = logging.getLogger("footnote")
_OURS = {"footnote", "bot", "rag_engine", "adapters"}
_REPEATING = {"elastic_transport", "elasticsearch"}
"""Libraries that warn with a traceback of every attempt that they repeat by themselves; how it ended is for us to say."""
_HARMLESS: Final = (ChatError,)
"""Errors of the chat side that hold no text, beside those of the engine."""
_HIDDEN: Final = "…"
_DIGITS: Final = 4
"""Of an id that a person is told: enough to find the line that has the whole one."""

_ids: ContextVar[Mapping[str, str]] = ContextVar("ids", default=MappingProxyType({}))


def configure(level: str, *, service: bool) -> None:
    """Send logs to standard error: JSON lines for a service, short plain lines (warnings and up) for a command."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if service else _PlainLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries log requests and payloads at INFO and DEBUG: only our own loggers follow the setting.
    root.setLevel(logging.WARNING)
    for name in _REPEATING:
        logging.getLogger(name).setLevel(logging.WARNING if level == "debug" else logging.ERROR)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper() if service or level == "debug" else logging.WARNING)
    if service:
        # What else Python would print to standard error, with the words of the error or of the line.
        logging.raiseExceptions = False
        sys.unraisablehook = _log_unraisable
        threading.excepthook = _log_thread
        warnings.showwarning = _log_warning


@contextmanager
def within(**ids: str) -> Generator[None]:
    """Lines that are logged in the block, and in the tasks and threads that begin there, carry these ids too."""
    token = _ids.set({**_ids.get(), **ids})
    try:
        yield
    finally:
        _ids.reset(token)


def event(name: str, **fields: object) -> None:
    """One structured log line, e.g. `event("ready", platform="console")`."""
    _LOGGER.info(name, extra={"fields": fields})


def unwrapped(error: BaseException) -> BaseException:
    """The error inside groups of one, which task groups wrap round it."""
    if isinstance(error, BaseExceptionGroup):
        return unwrapped(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return error


def new_id() -> str:
    """An id for something that has none of its own: a command, a button."""
    return secrets.token_hex(8)


def told_id() -> str:
    """A short id for what a person is told of a failure: the first digits of the turn's, so that it finds all lines of it."""
    ids = _ids.get()
    whole = next((ids[name] for name in ("turn", "command", "action") if name in ids), "")
    return (whole or new_id())[:_DIGITS]


def record(error: BaseException) -> str:
    """Log an error nobody expected with its traceback; returns its id."""
    error_id = told_id()
    _LOGGER.error("unexpected error %s", error_id, exc_info=error)
    return error_id


def report(error: BaseException) -> str:
    """Log an error nobody expected with its traceback; returns the sentence, with an id, that a person is shown."""
    return f"Something broke (id {record(error)}); the log says more."


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, object] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _message(record),
            **_ids.get(),
            **getattr(record, "fields", {}),
        }
        if traceback := _traceback(record):
            line["traceback"] = traceback
        return encodable(json.dumps(line, ensure_ascii=False, default=_shown))


class _PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(filter(None, [f"footnote: {_message(record)}", _traceback(record)]))


def _traceback(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return tracebacks.formatted(error, harmless=_HARMLESS) if error is not None else ""


def _message(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] not in _OURS:
        return _of_library(record)
    return _filled(record, lambda value: _shown(value) if isinstance(value, BaseException) else value)


def _of_library(record: logging.LogRecord) -> str:
    """As much of the line as stands in the library's code: what was put into it may be what somebody wrote, or a key."""
    if not _is_written_in_code(record):
        return f"{record.module}.{record.funcName}, line {record.lineno}"
    return _filled(record, _masked)


def _is_written_in_code(record: logging.LogRecord) -> bool:
    """Whether the line, before anything is put into it, is a constant of the function that logs it: it is still running."""
    frame = inspect.currentframe()
    while frame is not None:
        code = frame.f_code
        if code.co_filename == record.pathname and code.co_name == record.funcName:
            return record.msg in code.co_consts
        frame = frame.f_back
    return False


def _filled(record: logging.LogRecord, shown: Callable[[object], object]) -> str:
    arguments = record.args
    if not arguments:
        return str(record.msg)
    try:
        if isinstance(arguments, Mapping):
            return str(record.msg) % {name: shown(value) for name, value in arguments.items()}
        return str(record.msg) % tuple(map(shown, arguments))
    except (TypeError, ValueError):
        return str(record.msg)


def _masked(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    return _shown(value) if isinstance(value, BaseException) else _HIDDEN


def _shown(value: object) -> object:
    """A value that JSON does not know."""
    return tracebacks.told(value, harmless=_HARMLESS) if isinstance(value, BaseException) else str(value)


def _log_unraisable(raised: sys.UnraisableHookArgs) -> None:
    _LOGGER.error("an error that nobody could be told of", exc_info=raised.exc_value)


def _log_thread(raised: threading.ExceptHookArgs) -> None:
    _LOGGER.error("a thread ended by an error", exc_info=raised.exc_value)


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    _LOGGER.warning("a warning of Python: %s in %s, line %d", category.__name__, filename, lineno)
