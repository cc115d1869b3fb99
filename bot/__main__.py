"""The command line: `footnote`, or `python -m bot`. Imports only what the chosen command needs."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from bot.cli import arguments

if TYPE_CHECKING:
    import argparse
    import asyncio
    from collections.abc import Generator, Sequence

_COMMAND_MODULES = {"kb": "knowledge_bases", "eval": "evaluate"}
EXIT_FAILED, EXIT_MISCONFIGURED, EXIT_INTERRUPTED = 1, 78, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0 done, 1 failed, 2 wrong usage, 78 bad settings, 130 interrupted."""
    parser = arguments.build()
    chosen = parser.parse_args(argv)
    if chosen.version:
        print(f"footnote {_version()}")
        return 0
    if not chosen.command:
        parser.print_help()
        return 0
    try:
        return _run(chosen)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _run(chosen: argparse.Namespace) -> int:
    import asyncio
    import importlib

    from bot import settings, telemetry
    from bot.process import lookups
    from rag_engine.errors import Misconfigured, RagError

    try:
        read = settings.read()
        telemetry.configure(read.log_level, service=chosen.command == "run")
        module = importlib.import_module(f"bot.cli.{_COMMAND_MODULES.get(chosen.command, chosen.command)}")
        with asyncio.Runner(loop_factory=lookups.EventLoop) as runner, _woken_by_signals(runner.get_loop()):
            return runner.run(module.run(chosen, read))
    except BrokenPipeError:
        # The reader of our output has gone, e.g. `| head`. What is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except Exception as error:  # the outermost edge: every error becomes one sentence and an exit code here
        cause = telemetry.unwrapped(error)
        if isinstance(cause, RagError):
            print(f"footnote: {cause}", file=sys.stderr)
            return EXIT_MISCONFIGURED if isinstance(cause, Misconfigured) else EXIT_FAILED
        print(f"footnote: {telemetry.report(cause)}", file=sys.stderr)
        return EXIT_FAILED


@contextlib.contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """A signal ends the event loop's wait.

    What asyncio does at Ctrl-C waits until the main thread runs Python again. A signal that comes just before the loop goes
    to sleep, or that the system hands to another thread, interrupts no sleep: without this, Ctrl-C would be lost.
    """
    import signal
    import socket

    if sys.platform == "win32":  # the loop of Windows does so itself
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
