from __future__ import annotations

import asyncio
import bisect
from types import SimpleNamespace
from typing import Any

import yarl

from adapters.discord.api import rate_limit_trace

DISCORD_CALLS_PER_SECOND = 50
NETWORK_JITTER_SECONDS = 0.05


async def _start_times(path: str, calls: int) -> list[float]:
    wait: Any = rate_limit_trace().on_request_start[0]
    request, loop, starts = (
        SimpleNamespace(url=yarl.URL(f"https://discord.com/api/v10{path}")),
        asyncio.get_running_loop(),
        [],
    )

    async def call() -> None:
        await wait(None, None, request)
        starts.append(loop.time())

    await asyncio.gather(*(call() for _ in range(calls)))
    return starts


async def test_no_second_has_more_calls_than_discord_allows() -> None:
    starts = await _start_times("/channels/1/messages", 80)
    busiest = max(
        bisect.bisect_left(starts, start + 1.0 + NETWORK_JITTER_SECONDS) - place
        for place, start in enumerate(starts)
    )
    assert busiest <= DISCORD_CALLS_PER_SECOND
    assert starts[-1] - starts[0] < 3.0


async def test_answers_to_interactions_never_wait() -> None:
    starts = await _start_times("/webhooks/1/token/messages/@original", 80)
    assert starts[-1] - starts[0] < 0.5
