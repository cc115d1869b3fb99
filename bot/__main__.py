"""The command line: `footnote`, or `python -m bot`. Imports only what the chosen command needs."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import TYPE_CHECKING

from bot.cli import _parser

if TYPE_CHECKING:
    import argparse
    import asyncio
    from collections.abc import Generator, Sequence

    from bot.cli._parser import CommandModule

EXIT_FAILED, EXIT_MISCONFIGURED, EXIT_INTERRUPTED = 1, 78, 130
_UMASK = 0o077
_BEFORE_THE_START = frozenset({"doctor", "setup", "upgrade"})


def main(argv: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong usage, 78 bad settings, 130 interrupted."""
    before = os.umask(_UMASK)
    _open_closed_streams()
    try:
        return _main(argv)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        return _unwritable(error)
    finally:
        os.umask(before)


def _main(argv: Sequence[str] | None) -> int:
    try:
        with _without_collection():
            arguments, command = _parser.parse(sys.argv[1:] if argv is None else argv)
        if arguments.version:
            print(f"footnote {_version()}")
    finally:
        sys.stdout.flush()
    return 0 if command is None or arguments.version else _run(command, arguments)


def _unwritable(error: OSError) -> int:
    """Raises any other."""
    from rag_engine.errors import DISK_FULL

    _drop_output()
    if error.errno in DISK_FULL:
        print("footnote: The disk is full: make room, then try again.", file=sys.stderr)
    elif not isinstance(error, BrokenPipeError):
        raise error
    return EXIT_FAILED


def _run(command: CommandModule, arguments: argparse.Namespace) -> int:
    import asyncio

    from bot import settings
    from bot.cli._shared import terminal
    from bot.data_directory import data_version, private_directory
    from bot.observability import log
    from bot.process import dns
    from rag_engine.errors import DISK_FULL, Misconfigured, RagError

    try:
        read = settings.read()
        log.configure(read.log_level, service=arguments.command == "run")
        if arguments.command != "doctor":
            private_directory.restrict(read.data_dir)
        if arguments.command not in _BEFORE_THE_START and read.data_dir.is_dir():
            data_version.note(read.data_dir, _version())
        with asyncio.Runner(loop_factory=dns.EventLoop) as runner, _wake_on_signals(runner.get_loop()):
            code = runner.run(command.run(arguments, read))
            sys.stdout.flush()
            return code
    except Exception as error:
        cause = log.unwrapped(error)
        if isinstance(cause, OSError) and (isinstance(cause, BrokenPipeError) or cause.errno in DISK_FULL):
            return _unwritable(cause)
        if isinstance(cause, RagError):
            print(terminal.wrapped(f"footnote: {cause}", sys.stderr), file=sys.stderr)
            return EXIT_MISCONFIGURED if isinstance(cause, Misconfigured) else EXIT_FAILED
        print(f"footnote: {log.report(cause)}", file=sys.stderr)
        return EXIT_FAILED


def _open_closed_streams() -> None:
    """`>&-` leaves None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _drop_output() -> None:
    """Flushing at exit must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _without_collection() -> Generator[None]:
    """What is imported stays: looking for garbage in it takes a twentieth of a start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def _wake_on_signals(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """Else a signal just before the loop sleeps, or in another thread, waits until Python runs again."""
    import signal
    import socket

    if sys.platform == "win32":
        yield
        return
    receiving, sending = socket.socketpair()
    with receiving, sending:
        receiving.setblocking(False)
        sending.setblocking(False)
        loop.add_reader(receiving, receiving.recv, 4096)
        before = signal.set_wakeup_fd(sending.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(receiving)


def _version() -> str:
    from importlib.metadata import version

    return version("footnote-bot")


if __name__ == "__main__":
    sys.exit(main())
