"""Events by Socket Mode: several connections, each watched, because some die without a word and some live without delivering."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from adapters.slack.link import Link

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.wire import Wire
    from bot.port import Signals

_LOOK_SECONDS = 0.25
_PASSED_OVER = 12
"""Each event goes to one of the connections. That one of them is left out so often times their number, by chance, happens once in
100,000 times; then it is renewed for nothing."""


@asynccontextmanager
async def connections(app: AsyncApp, wire: Wire, signals: Signals) -> AsyncIterator[dict[str, str]]:
    """Take events while the context is open, from the first connection on. Raises `Refused` for a bad app token."""
    links: list[Link] = []

    def heard(over: Link) -> None:
        for link in links:
            link.passed_over += link is not over

    wanted = wire.settings.connections
    links += [Link(app, wire, signals=signals, on_event=heard) for _ in range(wanted)]
    tasks: list[asyncio.Task[None]] = []
    try:
        await links[0].open()
        most = _PASSED_OVER * wanted
        tasks += [
            asyncio.create_task(link.keep(most_passed_over=most), name="slack connection") for link in links
        ]
        tasks.append(asyncio.create_task(_tell(links, signals), name="slack connections"))
        yield {"events": "Socket Mode", "connections": str(wanted)}
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(link.close() for link in links))


async def _tell(links: Sequence[Link], signals: Signals) -> None:
    """How many connections there are, whenever that changes."""
    told = -1
    while True:
        live = sum(link.live for link in links)
        if live != told:
            told = live
            signals.connections(live=live, wanted=len(links))
        await asyncio.sleep(_LOOK_SECONDS)
