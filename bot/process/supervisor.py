from __future__ import annotations

import asyncio
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

from bot.observability import log
from bot.port import WriteRefused
from rag_engine.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bot.composition.loader import Platform
    from bot.port import ChatService
    from bot.process.graceful_shutdown import ClosableService
    from bot.process.termination_signal import TerminationSignal
    from bot.process.watchdog import Watch

_PAUSES: Final = (5.0, 30.0, 300.0)
_ENDING_SECONDS: Final = 7.0
"""For last words and disconnecting; with the answers' grace less than a service manager's timeout."""
_BROKEN_OFF_SECONDS: Final = 1.0


async def serve(
    platforms: Mapping[Platform, Watch],
    service: ClosableService,
    stopping: TerminationSignal,
    *,
    grace_seconds: float,
    on_stopping: Callable[[], None],
) -> None:
    running = {
        asyncio.create_task(_serve(platform, service, watch), name=f"platform-{platform.name}")
        for platform, watch in platforms.items()
    }
    requested = asyncio.create_task(stopping.requested.wait(), name="stop request")
    try:
        with stopping.patiently():
            while running and not stopping.requested.is_set():
                ended, _ = await asyncio.wait({*running, requested}, return_when=asyncio.FIRST_COMPLETED)
                for task in ended - {requested}:
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
        requested.cancel()
        await _end(running)
        for watch in platforms.values():
            watch.close()


async def _finish(service: ClosableService, seconds: float) -> None:
    log.event("stopping", inside=service.inside)
    try:
        async with asyncio.timeout(seconds):
            await service.close()
    except TimeoutError:
        log.event("broken_off", inside=service.inside)


async def _end(running: set[asyncio.Task[None]]) -> None:
    for seconds in (_ENDING_SECONDS, _BROKEN_OFF_SECONDS):
        for task in running:
            task.cancel()
        if running:
            _, running = await asyncio.wait(running, timeout=seconds)
    for task in running:
        log.event("did_not_end", task=task.get_name())


class _NeverReady(Exception):
    def __init__(self, sentence: Misconfigured) -> None:
        super().__init__(str(sentence))
        self.sentence = sentence


async def _serve(platform: Platform, service: ChatService, watch: Watch) -> None:
    pauses = chain(_PAUSES, repeat(_PAUSES[-1]))
    while True:
        try:
            return await platform.module.run(platform.settings, service, signals=watch)
        except WriteRefused as error:
            watch.ended(str(error))
            sentence = Misconfigured(str(error))
            if watch.was_ready:
                raise sentence from error
            raise _NeverReady(sentence) from error
        except Exception as error:
            watch.broken()
            log.record(log.unwrapped(error))
            await asyncio.sleep(next(pauses))
