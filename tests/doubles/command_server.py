"""Forks the command line from a process that has imported it; `tests.doubles.commands` is the client.

A request is one message on a connection: JSON of the fields of `Command`, and with it the descriptors of standard input,
output and error. Replies are lines of JSON: {"pid"}, then {"code"} when the command has ended. The server ends with its standard input, and its commands
with it.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import termios
import threading
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from types import FrameType

LARGEST_REQUEST: Final = 1 << 20
PROJECT: Final = Path(__file__).parents[2]
_PACKAGES: Final = ("rag_engine", "bot", "adapters")
_NOT_IMPORTED: Final = (
    *("rag_engine.parsers", "rag_engine.parsing.page_images", "rag_engine.parsing.requests"),
    *(
        "rag_engine.indexes.elasticsearch",
        "rag_engine.embedders.sentence_transformers",
        "rag_engine.rerankers.sentence_transformers",
    ),
    "rag_engine.sources._host_keys",
)
_LIBRARIES: Final = ("tokenizers", "tiktoken_ext.openai_public")
_VOCABULARY: Final = "TIKTOKEN_CACHE_DIR"
_THREADED: Final = "onnxruntime"
"""It starts a thread, which does not survive a fork, and aborts at the end without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    terminal: bool
    """Make standard input the controlling terminal."""
    source: str | None = None
    """A program to run instead of the command line, as `python -W error -c` would."""


def import_all() -> None:
    """Everything that a command may import, but for what only the process that reads files imports, and what needs ONNX Runtime."""
    modules = cast("dict[str, object]", sys.modules)
    modules[_THREADED] = None
    for package in _PACKAGES:
        for path in sorted((PROJECT / package).rglob("*.py")):
            name = ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")
            if not name.startswith(_NOT_IMPORTED):
                try:
                    importlib.import_module(name)
                except ImportError as error:
                    if error.name != _THREADED:
                        raise
    del modules[_THREADED]
    for name in _LIBRARIES:
        importlib.import_module(name)


def prepare_all() -> None:
    """What a command computes at its start or for its first question, whatever its settings."""
    from rag_engine.parsing.formats import formats
    from rag_engine.text import tokens
    from rag_engine.text.lazy_pattern import _LazyPattern
    from rag_engine.text.messages.message_catalog import MessageCatalog

    if _VOCABULARY in os.environ:
        tokens.prepare()
    formats()
    for each in gc.get_objects():
        if isinstance(each, MessageCatalog):
            each.sentences("en")
        elif isinstance(each, _LazyPattern):
            assert each.pattern


def serve(listener: socket.socket) -> Command:
    """Fork a process for each request. Returns in such a process."""
    running: dict[int, socket.socket] = {}
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, _ignore)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    with selectors.DefaultSelector() as selector:
        for ready in (listener, woken, sys.stdin):
            selector.register(ready, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    _end(running)
                elif key.fileobj is woken:
                    _report(woken, running)
                elif command := _fork(listener, running):
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for each in (listener, waking, woken, *running.values()):
                        each.close()
                    return command


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """The wake-up descriptor is read instead; a signal without a handler writes nothing to it."""


def _fork(listener: socket.socket, running: dict[int, socket.socket]) -> Command | None:
    """The command, in its new process."""
    connection, _ = listener.accept()
    message, descriptors, _, _ = socket.recv_fds(connection, LARGEST_REQUEST, 3)
    while not message.endswith(b"\n"):
        message += connection.recv(LARGEST_REQUEST)
    command = Command(**cast("dict[str, Any]", json.loads(message)))
    if (child := os.fork()) == 0:
        connection.close()
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        return command
    for descriptor in descriptors:
        os.close(descriptor)
    running[child] = connection
    connection.sendall(json.dumps({"pid": child}).encode() + b"\n")
    return None


def _report(woken: socket.socket, running: dict[int, socket.socket]) -> None:
    with suppress(BlockingIOError):
        woken.recv(1 << 12)
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        with running.pop(child) as connection, suppress(BrokenPipeError):
            connection.sendall(json.dumps({"code": os.waitstatus_to_exitcode(status)}).encode() + b"\n")


def _end(running: dict[int, socket.socket]) -> None:
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os._exit(0)


def become(command: Command) -> None:
    """Make this process look as if it had just been started as `python -m bot`."""
    if command.terminal:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(command.folder)
    if command.environment.get(_VOCABULARY) != os.environ.get(_VOCABULARY):
        _forget_the_vocabulary()
    os.environ.clear()
    os.environ.update(command.environment)
    first = [command.folder, *filter(None, command.environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:] = [*first, *(entry for entry in sys.path[1:] if entry not in first)]
    importlib.invalidate_caches()
    sys.argv = [str(sys.modules["bot.__main__"].__file__), *command.arguments]
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )


def _forget_the_vocabulary() -> None:
    from rag_engine.text import tokens

    for each in (tokens._encoding, tokens._load_once):
        each.cache_clear()


def main() -> int:
    descriptor = int(sys.argv[1])
    import_all()
    prepare_all()
    if threading.active_count() > 1:
        raise RuntimeError(f"a thread would not survive the fork: {threading.enumerate()}")
    gc.collect()
    gc.freeze()
    command = serve(socket.socket(fileno=descriptor))
    become(command)
    if command.source is not None:
        sys.argv[0] = "-c"
        warnings.simplefilter("error")
        exec(compile(command.source, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - a test's own
        return 0
    from bot.__main__ import main as command_line

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
