"""Small programs in their own processes: to be killed, to fail, to write concurrently."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import TYPE_CHECKING

from tests.doubles import commands

if TYPE_CHECKING:
    from tests.doubles.commands import Command


async def start(source: str, *arguments: object) -> Command:
    """Runs the source with the arguments; input and output are pipes."""
    words = [str(argument) for argument in arguments]
    return await commands.start(
        *words, source=source, environment=os.environ, folder=Path.cwd(), stdin=PIPE, stdout=PIPE, stderr=PIPE
    )


async def line(process: Command) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        return (await process.stdout.readline()).decode().rstrip("\n")


async def end(process: Command) -> tuple[str, str]:
    """Waits for the end; returns output and errors."""
    async with asyncio.timeout(120):
        out, complaints = await process.communicate()
    return out.decode(), complaints.decode()


async def kill(process: Command) -> None:
    """kill -9, then wait."""
    process.kill()
    await end(process)
