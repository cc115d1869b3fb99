from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asyncio.subprocess import Process

_BLOCK: Final = 65_536


def send(process: Process, sign: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, sign)


def kill(process: Process) -> None:
    send(process, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


async def ended(process: Process) -> int:
    """asyncio reports no end while output is unread."""
    for stream in filter(None, (process.stdout, process.stderr)):
        while await stream.read(_BLOCK):
            pass
    return await process.wait()


async def end(process: Process, *, seconds: float) -> None:
    if process.returncode is None:
        kill(process)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ended(process)
