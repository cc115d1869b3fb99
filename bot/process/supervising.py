"""The platforms side by side: each in a task of its own, so that what troubles one is nothing to the other; and their end."""

from __future__ import annotations

import asyncio
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

from bot import telemetry
from bot.port import Refused
from rag_engine.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bot.parts import Platform
    from bot.port import ChatService
    from bot.process.closing import ClosableService
    from bot.process.stopping import Stopping
    from bot.process.watching import Watch

_PAUSES: Final = (5.0, 30.0, 300.0)
"""Seconds before an adapter that ended by a bug begins anew."""
_ENDING_SECONDS: Final = 7.0
"""How long adapters may take for last words (five seconds at most) and to hang up: with the time that answers have to finish,
less than a service manager waits before it kills."""
_BROKEN_OFF_SECONDS: Final = 1.0


async def serve(
    platforms: Mapping[Platform, Watch],
    service: ClosableService,
    stopping: Stopping,
    *,
    grace_seconds: float,
    on_stopping: Callable[[], None],
) -> None:
    """Serve until told to stop: then what is inside may finish. What ends one platform ends no other; the last one ends this."""
    running = {
        asyncio.create_task(_serve(platform, service, watch), name=f"platform-{platform.name}")
        for platform, watch in platforms.items()
    }
    asked = asyncio.create_task(stopping.asked.wait(), name="told to stop")
    try:
        with stopping.patiently():
            while running and not stopping.asked.is_set():
                ended, _ = await asyncio.wait({*running, asked}, return_when=asyncio.FIRST_COMPLETED)
                for task in ended - {asked}:
                    running.discard(task)
                    error = task.exception()
                    if isinstance(error, _NeverReady):
                        raise error.sentence
                    if error is not None and not running:
                        raise error
            if running:
                on_stopping()
                await _finish(service, grace_seconds)
    finally:
        asked.cancel()
        await _end(running)
        for watch in platforms.values():
            watch.close()


async def _finish(service: ClosableService, seconds: float) -> None:
    """Nothing new is let in; what is inside has its time."""
    telemetry.event("stopping", inside=service.inside)
    try:
        async with asyncio.timeout(seconds):
            await service.close()
    except TimeoutError:
        telemetry.event("broken_off", inside=service.inside)


async def _end(running: set[asyncio.Task[None]]) -> None:
    """Cancel them; what then takes too long is cancelled out of that, too."""
    for seconds in (_ENDING_SECONDS, _BROKEN_OFF_SECONDS):
        for task in running:
            task.cancel()
        if running:
            _, running = await asyncio.wait(running, timeout=seconds)
    for task in running:
        telemetry.event("did_not_end", task=task.get_name())


class _NeverReady(Exception):
    """A platform would not let us in at the start: whoever starts the program is there to mend it."""

    def __init__(self, sentence: Misconfigured) -> None:
        super().__init__(str(sentence))
        self.sentence = sentence


async def _serve(platform: Platform, service: ChatService, watch: Watch) -> None:
    """Serve the platform; a bug that ends its adapter is logged, and the adapter begins anew after a while."""
    pauses = chain(_PAUSES, repeat(_PAUSES[-1]))
    while True:
        try:
            return await platform.module.run(platform.settings, service, signals=watch)
        except Refused as error:
            watch.ended(str(error))
            sentence = Misconfigured(str(error))
            if watch.was_ready:
                raise sentence from error
            raise _NeverReady(sentence) from error
        except Exception as error:  # the edge of an adapter: it must not take the other platform with it
            watch.broken()
            telemetry.record(telemetry.unwrapped(error))
            await asyncio.sleep(next(pauses))
