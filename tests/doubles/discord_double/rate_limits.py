"""Discord's rate limits: fixed windows with headers, the global one, and hidden ones."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

GLOBAL_CALLS, GLOBAL_SECONDS = 50, 1.0


class Limited(Exception):
    """Too many calls."""

    def __init__(self, seconds: float, *, scope: str, code: int = 0, **headers: str) -> None:
        super().__init__(f"{seconds:.3f}")
        self.body: dict[str, Any] = {
            "message": "You are being rate limited.",
            "retry_after": seconds,
            "global": scope == "global",
            **({"code": code} if code else {}),
        }
        self.headers = {
            "Via": "1.1 google",
            "Retry-After": f"{seconds:.3f}",
            "X-RateLimit-Scope": scope,
            **({"X-RateLimit-Global": "true"} if scope == "global" else {}),
            **headers,
        }


class Buckets:
    """A window starts with its first call."""

    def __init__(self, now: Callable[[], float], violations: list[tuple[str, ...]]) -> None:
        self.enabled = True
        self._now = now
        self._violations = violations
        self._windows: dict[tuple[str, ...], tuple[float, int]] = {}

    def take(self, key: tuple[str, ...], calls: int, seconds: float) -> dict[str, str]:
        """Count a call; returns the headers. Raises `Limited`."""
        taken, ends = self._count(key, calls, seconds)
        headers = {
            "X-RateLimit-Bucket": hashlib.sha256(key[0].encode()).hexdigest()[:32],
            "X-RateLimit-Limit": str(calls),
            "X-RateLimit-Remaining": str(max(calls - taken, 0)),
            "X-RateLimit-Reset-After": f"{ends:.3f}",
            "X-RateLimit-Reset": f"{self._now() + ends:.3f}",
        }
        if taken > calls:
            self._violations.append(key)
            raise Limited(ends, scope="user", **headers)
        return headers

    def count_global(self) -> None:
        taken, ends = self._count(("global",), GLOBAL_CALLS, GLOBAL_SECONDS)
        if taken > GLOBAL_CALLS:
            self._violations.append(("global",))
            raise Limited(ends, scope="global")

    def count_sub_limit(self, key: tuple[str, ...], calls: int, seconds: float, *, code: int) -> None:
        """A limit without headers."""
        taken, ends = self._count(key, calls, seconds)
        if taken > calls:
            self._violations.append(key)
            raise Limited(ends, scope="user", code=code)

    def _count(self, key: tuple[str, ...], calls: int, seconds: float) -> tuple[int, float]:
        """Calls in the window with this one, and the seconds left. Refused calls do not count."""
        now = self._now()
        opened, taken = self._windows.get(key, (now, 0))
        if now >= opened + seconds or not self.enabled:
            opened, taken = now, 0
        self._windows[key] = (opened, min(taken + 1, calls))
        return taken + 1, opened + seconds - now
