"""Small programs run as processes of their own: to be killed, to fail, to write at the same time."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process


async def start(source: str, *arguments: object) -> Process:
    """Run the source with the arguments; its input and outputs are pipes."""
    words = [str(argument) for argument in arguments]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", source, *words, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )


async def line(process: Process) -> str:
    """The next line it prints."""
    assert process.stdout is not None
    async with asyncio.timeout(60):
        return (await process.stdout.readline()).decode().rstrip("\n")


async def end(process: Process) -> tuple[str, str]:
    """Wait until it ends; what it printed, and what it complained about."""
    async with asyncio.timeout(120):
        out, complaints = await process.communicate()
    return out.decode(), complaints.decode()


async def kill(process: Process) -> None:
    """kill -9, and wait for the end."""
    process.kill()
    await end(process)
