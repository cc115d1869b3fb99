"""Names are looked up where nothing else waits: a name server that does not answer stops neither work nor the end of the program."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from bot.process.dns import EventLoop

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator


def run(main: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=EventLoop) as runner:
        runner.run(main)


@contextmanager
def lost(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A name server that never answers: the event is set once a look-up has begun."""
    begun, released = threading.Event(), threading.Event()

    def look(*arguments: object) -> object:
        begun.set()
        released.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", look)
    try:
        yield begun
    finally:
        released.set()


def test_names_are_found_as_ever() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)
        assert found == socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)

    run(main())


def test_a_failure_is_raised_where_it_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    async def main() -> None:
        with pytest.raises(socket.gaierror):
            await asyncio.open_connection("nobody.example", 80)

    run(main())


def test_forty_names_that_are_not_found_keep_no_other_work_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        looking = [asyncio.create_task(loop.getaddrinfo(f"{number}.example", 80)) for number in range(40)]
        async with asyncio.timeout(5):
            await asyncio.to_thread(begun.wait)
            assert await asyncio.to_thread(lambda: "done") == "done"
        for each in looking:
            each.cancel()
        await asyncio.gather(*looking, return_exceptions=True)

    with lost(monkeypatch) as begun:
        run(main())


def test_the_program_ends_without_waiting_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        looking = asyncio.create_task(asyncio.get_running_loop().getaddrinfo("lost.example", 80))
        async with asyncio.timeout(5):
            await asyncio.to_thread(begun.wait)
        looking.cancel()

    started = time.monotonic()
    with lost(monkeypatch) as begun:
        run(main())
        assert time.monotonic() - started < 10


def test_what_comes_when_nobody_waits_any_more_harms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither while the loop runs nor after it is closed; an error in a thread would fail this test."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await loop.getaddrinfo("lost.example", 80)

    with lost(monkeypatch):
        run(main())
    for thread in threading.enumerate():
        if thread.name == "look-up":
            thread.join(5)
            assert not thread.is_alive()
