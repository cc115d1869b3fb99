"""The command line as a process that is forked, ready imported, from `tests.doubles.command_server`: a tenth of the processor time of a new one.

With `TEST_COMMANDS=started` in the environment every command is a new process (`python -m bot`), as in `make soak`.
"""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import termios
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from tests.conftest import PROJECT, VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND: Final = (sys.executable, "-m", "bot")
_LIMIT: Final = 1 << 16
_STARTING_SECONDS: Final = 120.0


class Command(asyncio.Protocol):
    """A running command, as `asyncio.subprocess.Process`."""

    def __init__(self) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._received = b""
        self._started = asyncio.Event()
        self._ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._received += data
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            reply = json.loads(line)
            if "pid" in reply:
                self.pid = reply["pid"]
                self._started.set()
            else:
                self.returncode = reply["code"]

    def connection_lost(self, exc: Exception | None) -> None:
        if self.returncode is None:
            self.returncode = -signal.SIGKILL
        self._started.set()
        self._ended.set()

    async def started(self) -> None:
        await self._started.wait()

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    async def communicate(self, content: bytes | None = None) -> tuple[bytes, bytes]:
        async def read(stream: asyncio.StreamReader | None) -> bytes:
            return b"" if stream is None else await stream.read()

        reading = asyncio.gather(read(self.stdout), read(self.stderr))
        if self.stdin is not None:
            with suppress(BrokenPipeError, ConnectionResetError):
                self.stdin.write(content or b"")
                await self.stdin.drain()
            self.stdin.close()
        out, err = await reading
        await self.wait()
        return out, err

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it may have ended just now
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


async def start(
    *arguments: str,
    environment: Mapping[str, str],
    folder: Path,
    stdin: int = DEVNULL,
    stdout: int = PIPE,
    stderr: int = PIPE,
    limit: int = _LIMIT,
    terminal: bool = False,
    source: str | None = None,
) -> Command:
    """`footnote`, or the program `source`, with these arguments. Each stream is `PIPE`, `DEVNULL` or a descriptor; `stderr` may be `STDOUT`."""
    # Another path may hold a `sitecustomize`, which only a new process reads.
    if os.environ.get("TEST_COMMANDS") == "started" or environment.get("PYTHONPATH", str(PROJECT)) != str(
        PROJECT
    ):
        process = await asyncio.create_subprocess_exec(
            *(COMMAND if source is None else (sys.executable, "-W", "error", "-c", source)),
            *arguments,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            limit=limit,
            cwd=folder,
            env=environment,
            preexec_fn=take_terminal if terminal else None,
        )
        return cast("Command", process)
    sys.audit("subprocess.Popen", "footnote", list(arguments), str(folder), None)
    command, loop = Command(), asyncio.get_running_loop()
    ours, theirs = _ends(stdin, stdout, stderr)
    request = {
        "arguments": arguments,
        "environment": dict(environment),
        "folder": str(folder),
        "terminal": terminal,
        "source": source,
    }
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(prepare())
        socket.send_fds(connection, [json.dumps(request).encode() + b"\n"], theirs)
    finally:
        for descriptor in {*theirs} - {stdin, stdout, stderr}:
            os.close(descriptor)
    connection.setblocking(False)
    await loop.create_unix_connection(lambda: command, sock=connection)
    if ours[0] is not None:
        protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
        transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(ours[0], "wb", 0))
        command.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
    command.stdout, command.stderr = [await _reader(end, limit) for end in ours[1:]]
    async with asyncio.timeout(_STARTING_SECONDS):
        await command.started()
    return command


def module(name: str) -> str:
    """The program that runs a module, as `python -m` would."""
    return f"import runpy; runpy.run_module({name!r}, run_name='__main__')"


def _ends(*streams: int) -> tuple[list[int | None], list[int]]:
    """Our end of each pipe, and the three descriptors of the command."""
    ours: list[int | None] = []
    theirs: list[int] = []
    for number, stream in enumerate(streams):
        if stream == PIPE:
            readable, writable = os.pipe()
            ours.append(writable if number == 0 else readable)
            theirs.append(readable if number == 0 else writable)
        else:
            ours.append(None)
            if stream == STDOUT:
                theirs.append(theirs[1])
            else:
                theirs.append(os.open(os.devnull, os.O_RDWR) if stream == DEVNULL else stream)
    return ours, theirs


async def _reader(descriptor: int | None, limit: int) -> asyncio.StreamReader | None:
    if descriptor is None:
        return None
    reader = asyncio.StreamReader(limit=limit)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    return reader


def take_terminal() -> None:
    """In the new process: make its standard input the controlling terminal, and allow Ctrl-C."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # a test run in the background of a script ignores Ctrl-C, and so would its children
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@cache
def prepare() -> str:
    """Start the server, which imports for seconds, and return the path of its socket. It ends with this process; what is forked from it shares it."""
    folder = tempfile.TemporaryDirectory(prefix="footnote-commands-")
    path = str(Path(folder.name) / "socket")
    names = ("PATH", "LANG", "TMPDIR", "HOME")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    if VOCABULARY.is_dir():
        environment["TIKTOKEN_CACHE_DIR"] = str(VOCABULARY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.doubles.command_server", str(listener.fileno())],
            cwd=PROJECT,
            env={**environment, "PYTHONPATH": str(PROJECT), "PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )

    def end() -> None:
        with folder, server:
            pass

    atexit.register(end)
    return path
