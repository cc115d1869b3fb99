"""Reactions, the assistant's pane, the home tab."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from slack_sdk.errors import SlackApiError

from adapters.slack.api import call_api, error_code
from bot.port import ChatError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slack_sdk.web.async_slack_response import AsyncSlackResponse

_log = logging.getLogger(__name__)
_REFUSED_SECONDS: Final = 3600.0
_MOST_REMEMBERED: Final = 2000
_LASTING: Final = frozenset(
    {
        "access_denied",
        "feature_not_enabled",
        "missing_scope",
        "not_allowed",
        "not_allowed_token_type",
        "unknown_method",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalCalls:
    """Remembers for an hour what the app may not call."""

    now: Callable[[], float] = time.monotonic
    _titled: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    _refused_at: dict[str, float] = field(default_factory=dict[str, float])
    _paused_until: dict[str, float] = field(default_factory=dict[str, float])

    def is_offered(self, method: str) -> bool:
        since = self._refused_at.get(method)
        return since is None or self.now() - since >= _REFUSED_SECONDS

    def refused(self, method: str, error: ChatError) -> str:
        cause = error.__cause__
        code = error_code(cause) if isinstance(cause, SlackApiError) else ""
        if code in _LASTING:
            self._refused_at[method] = self.now()
        _log.info("%s was left out: %s", method, error)
        return code

    def pause(self, method: str, seconds: float) -> None:
        self._paused_until[method] = self.now() + seconds

    def pause_of(self, method: str) -> float:
        """Seconds that are left of it."""
        return self._paused_until.get(method, 0.0) - self.now()

    def first_time(self, thread: str) -> bool:
        is_new = thread not in self._titled
        self._titled[thread] = None
        while len(self._titled) > _MOST_REMEMBERED:
            self._titled.popitem(last=False)
        return is_new

    async def try_to_call(self, method: str, call: Callable[[], Awaitable[AsyncSlackResponse]]) -> None:
        if not self.is_offered(method):
            return
        try:
            await call_api(method, call())
        except ChatError as error:
            self.refused(method, error)
