"""Runs a command in a pseudo-terminal and shows its screen."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import termios
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyte

from tests.doubles import commands
from tests.doubles.commands import COMMAND

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

SECONDS = 60
"""Long enough for a busy machine."""


class Terminal:
    """The screen of a running command; `frames` keeps every change."""

    def __init__(self, controller: int, *, columns: int, rows: int) -> None:
        self._controller = controller
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._changed = asyncio.Event()
        self.frames: list[str] = []
        self._ended = asyncio.Event()

    @property
    def text(self) -> str:
        """The screen without trailing blanks."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    async def until(self, seen: str | Callable[[str], bool]) -> str:
        """The screen, once it shows this text or passes this test."""
        fits = (lambda screen: seen in screen) if isinstance(seen, str) else seen
        try:
            async with asyncio.timeout(SECONDS):
                while not fits(self.text):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"the screen never showed {seen!r}; it shows:\n{self.text}") from None
        return self.text

    def type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    async def end(self) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                await self._ended.wait()
        except TimeoutError:
            raise AssertionError(f"the command did not end; the screen shows:\n{self.text}") from None

    def read(self) -> None:
        with suppress(OSError):  # the command has closed its side
            self._stream.feed(os.read(self._controller, 1 << 16))
            if not self.frames or self.frames[-1] != self.text:
                self.frames.append(self.text)
            self._changed.set()
            return
        asyncio.get_running_loop().remove_reader(self._controller)
        self._ended.set()


@asynccontextmanager
async def running(
    command: Sequence[str], *, environment: Mapping[str, str], columns: int = 100, rows: int = 40
) -> AsyncGenerator[Terminal]:
    """The command in a terminal of that size; killed at the end."""
    controller, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    terminal = Terminal(controller, columns=columns, rows=rows)
    own = {**environment, "TERM": "xterm-256color"}
    if tuple(command[: len(COMMAND)]) == COMMAND:
        process = await commands.start(
            *command[len(COMMAND) :],
            environment=own,
            folder=Path.cwd(),
            terminal=True,
            stdin=side,
            stdout=side,
            stderr=side,
        )
    else:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=side, stdout=side, stderr=side, env=own, preexec_fn=commands.take_terminal
        )
    os.close(side)
    loop = asyncio.get_running_loop()
    loop.add_reader(controller, terminal.read)
    try:
        yield terminal
    finally:
        loop.remove_reader(controller)
        if process.returncode is None:
            # `process.kill` could reap a process that others wait for
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        os.close(controller)
