from __future__ import annotations

from typing import TYPE_CHECKING

from bot.streaming.rate_limiter import GOOD_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Budget, Route
    from bot.streaming.rate_limiter import RateLimiter


def choose(routes: Sequence[Route], limiter: RateLimiter) -> Route:
    """The first with frequent edits, else the most frequent."""
    *others, last = routes
    candidates = [route for route in others if _fits(route, limiter)] + [last]
    return min(candidates, key=lambda route: max(_seconds_between_edits(route, limiter), GOOD_SECONDS))


def _fits(route: Route, limiter: RateLimiter) -> bool:
    return limiter.room(route.create) > 0 and limiter.room(route.finish, finals=True) > 0


def _seconds_between_edits(route: Route, limiter: RateLimiter) -> float:
    return limiter.interval(route.edit, more=1, more_finals=route.finish.name == route.edit.name)


class RouteState:
    def __init__(self, route: Route) -> None:
        self.route = route
        self._created: float | None = None
        self._left: Route | None = None
        """The next route's first write closes it."""

    def created(self, at: float) -> None:
        self._created = at

    def current(self, routes: Sequence[Route], now: float) -> Route:
        """Replaces an expired or removed one."""
        known = {route.name: route for route in routes}
        if self.route.name in known:
            self.route = known[self.route.name]
            if self._created is not None and now - self._created >= self.route.lifetime:
                self.leave(routes)
        else:
            self.drop(routes)
        return self.route

    def leave(self, routes: Sequence[Route]) -> None:
        if self._left is None and self._created is not None:
            self._left = self.route
        self.route = _after(self.route, routes)

    def drop(self, routes: Sequence[Route]) -> None:
        self._left = None
        self.route = _after(self.route, routes)

    @property
    def leaving(self) -> bool:
        return self._left is not None

    def written(self) -> None:
        self._left = None

    def cost(self, budget: Budget) -> tuple[Budget, ...]:
        """Includes closing the previous route."""
        return (budget,) if self._left is None else (budget, self._left.finish)


def _after(route: Route, routes: Sequence[Route]) -> Route:
    names = [other.name for other in routes]
    if route.name not in names:
        return routes[-1]
    return routes[min(names.index(route.name) + 1, len(routes) - 1)]
