"""What Slack refused to do at all, remembered so that it is not asked of it with every answer."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
_SECONDS = 3600.0
_REMEMBERED = 2000
_EVERYWHERE = ""
_OF_THE_WORKSPACE = frozenset(
    {
        "access_denied",
        "accesslimited",
        "deprecated_endpoint",
        "enterprise_is_restricted",
        "feature_not_enabled",
        "method_deprecated",
        "missing_scope",
        "no_permission",
        "not_allowed",
        "not_allowed_token_type",
        "team_access_not_granted",
        "unknown_method",
    }
)
_OF_THE_CHANNEL = frozenset(
    {
        "channel_type_not_supported",
        "method_not_supported_for_channel_type",
        "not_supported",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
        "team_not_found",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streaming:
    """Whether Slack lets messages grow by itself: asked anew an hour after it refused."""

    now: Callable[[], float] = time.monotonic
    _refused: dict[str, float] = field(default_factory=dict[str, float])
    """When, by channel; the empty one is the whole workspace."""

    def offered(self, channel: str) -> bool:
        """Whether it is worth asking in that channel."""
        return not any(self._lately(where) for where in (_EVERYWHERE, channel))

    def refused(self, channel: str, code: str) -> None:
        """Slack answered with that word. What it says of one message alone is not remembered."""
        if code in _OF_THE_WORKSPACE:
            self._remember(_EVERYWHERE, code)
        elif code in _OF_THE_CHANNEL:
            self._remember(channel, code)

    def _lately(self, where: str) -> bool:
        since = self._refused.get(where)
        return since is not None and self.now() - since < _SECONDS

    def _remember(self, where: str, code: str) -> None:
        _log.warning("Slack does not stream messages here (%s): for an hour they are edited instead", code)
        while len(self._refused) >= _REMEMBERED:
            del self._refused[next(iter(self._refused))]
        self._refused[where] = self.now()
