"""Taking our messages away again."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from bot.port import ChatError, Gone, Refused, Throttled, Write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Outlet

_ATTEMPTS: Final = 5
_CALL_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE: Final = 60.0

_log = logging.getLogger(__name__)


async def withdraw(outlet: Outlet, messages: Sequence[str]) -> None:
    """Take all of them away, the last one first. What the platform will not take away stays, and the log says so."""
    for part in reversed(range(len(messages))):
        write = Write(part=part, page=None, route=outlet.routes[-1].name, final=True)
        try:
            await _written(outlet, write)
        except Gone:
            continue
        except (ChatError, TimeoutError) as error:
            _log.warning("a message of ours could not be taken away: %s", str(error) or "no answer")


async def _written(outlet: Outlet, write: Write) -> None:
    """Done, however often it takes within reason."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                await outlet.write(write)
        except (Gone, Refused):
            raise
        except (ChatError, TimeoutError) as error:
            if attempt == _ATTEMPTS:
                raise
            pause = error.seconds if isinstance(error, Throttled) else _PAUSE_SECONDS
            await asyncio.sleep(min(pause, _LONGEST_PAUSE))
        else:
            return
