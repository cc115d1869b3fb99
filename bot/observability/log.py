"""No line holds a secret or user text: of libraries and errors only constant text (`_of_library`,
`rag_engine.parsing.safe_tracebacks`). Context variables pass the ids to tasks and threads.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
import secrets
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from bot.observability.library_text import constant_text
from bot.port import ChatError
from rag_engine.errors import first_of
from rag_engine.parsing import safe_tracebacks
from rag_engine.text.surrogates import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TextIO

_LOGGER = logging.getLogger("footnote")
_OURS = {"footnote", "bot", "rag_engine", "adapters"}
_REPEATING = {"elastic_transport", "elasticsearch"}
"""They log a traceback per retry."""
_NOT_FOR_PEOPLE: Final = "rag_engine.text.tokens"
"""The doctor says that tokens are estimated."""
_HARMLESS: Final = (ChatError,)
_HIDDEN: Final = "…"
_DIGITS: Final = 4

_ids: ContextVar[Mapping[str, str]] = ContextVar("ids", default=MappingProxyType({}))


def configure(level: str, *, service: bool) -> None:
    """To standard error: JSON lines for a service, readable ones in a terminal; warnings and errors for a command."""
    handler = logging.StreamHandler(sys.stderr)
    in_terminal = sys.stderr.isatty()
    for_service = _ReadableLines() if in_terminal else _JsonLines()
    handler.setFormatter(for_service if service else _PlainLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries log requests and payloads at INFO and DEBUG.
    root.setLevel(logging.WARNING)
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # its own handler announces each try
    for name in _REPEATING:
        logging.getLogger(name).setLevel(logging.WARNING if level == "debug" else logging.ERROR)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper() if service or level == "debug" else logging.WARNING)
    for_people = level != "debug" and (in_terminal or not service)
    logging.getLogger(_NOT_FOR_PEOPLE).setLevel(logging.ERROR if for_people else logging.NOTSET)
    if service:
        logging.raiseExceptions = False
        sys.unraisablehook = _log_unraisable
        threading.excepthook = _log_thread
        warnings.showwarning = _log_warning


@contextmanager
def within(**ids: str) -> Generator[None]:
    """In the block, its tasks and threads."""
    token = _ids.set({**_ids.get(), **ids})
    try:
        yield
    finally:
        _ids.reset(token)


def event(name: str, **fields: object) -> None:
    _LOGGER.info(name, extra={"fields": fields})


def unwrapped(error: BaseException) -> BaseException:
    return first_of(error)


def new_id() -> str:
    return secrets.token_hex(8)


def current_work() -> tuple[str, str]:
    """Kind and id of the turn, command or action, else empty."""
    ids = _ids.get()
    return next(((name, ids[name]) for name in ("turn", "command", "action") if name in ids), ("", ""))


def error_id() -> str:
    _, whole = current_work()
    return (whole or new_id())[:_DIGITS]


def record(error: BaseException) -> str:
    identity = error_id()
    _LOGGER.error("unexpected error %s", identity, exc_info=error)
    return identity


def report(error: BaseException) -> str:
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


class _ReadableLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = {**_ids.get(), **getattr(record, "fields", {})}
        words = [
            time.strftime("%H:%M:%S", time.localtime(record.created)),
            *([record.levelname] if record.levelno >= logging.WARNING else []),
            _message(record),
            *(f"{name}={value}" for name, value in fields.items() if value not in ("", None)),
        ]
        return encodable("\n".join(filter(None, [" ".join(words), _traceback(record)])))


class _PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(filter(None, [f"footnote: {_message(record)}", _traceback(record)]))


def _traceback(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return safe_tracebacks.formatted(error, harmless=_HARMLESS) if error is not None else ""


def _message(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] not in _OURS:
        return _of_library(record)
    return _filled(record, lambda value: _shown(value) if isinstance(value, BaseException) else value)


def _of_library(record: logging.LogRecord) -> str:
    """Values may be user text or keys."""
    if not _is_written_in_code(record):
        return constant_text(record) or f"{record.module}.{record.funcName}, line {record.lineno}"
    return _filled(record, _masked)


def _is_written_in_code(record: logging.LogRecord) -> bool:
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
    return (
        safe_tracebacks.loggable_text(value, harmless=_HARMLESS)
        if isinstance(value, BaseException)
        else str(value)
    )


def _log_unraisable(raised: sys.UnraisableHookArgs) -> None:
    _LOGGER.error("an error that could not be reported", exc_info=raised.exc_value)


def _log_thread(raised: threading.ExceptHookArgs) -> None:
    _LOGGER.error("a thread ended with an error", exc_info=raised.exc_value)


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    _LOGGER.warning("Python warning: %s in %s, line %d", category.__name__, filename, lineno)
