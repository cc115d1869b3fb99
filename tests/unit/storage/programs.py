"""Small programs in their own processes: to be killed, to fail, to write concurrently."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process


async def start(source: str, *arguments: object) -> Process:
    """Runs the source with the arguments; input and output are pipes."""
    words = [str(argument) for argument in arguments]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", source, *words, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )


async def line(process: Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        return (await process.stdout.readline()).decode().rstrip("\n")


async def end(process: Process) -> tuple[str, str]:
    """Waits for the end; returns output and errors."""
    async with asyncio.timeout(120):
        out, complaints = await process.communicate()
    return out.decode(), complaints.decode()


async def kill(process: Process) -> None:
    """kill -9, then wait."""
    process.kill()
    await end(process)
