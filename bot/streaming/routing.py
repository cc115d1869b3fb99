"""Routing: by which of an outlet's ways a message is written, and when it goes on by the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.streaming.pacing import GOOD_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Budget, Route
    from bot.streaming.pacing import Pacer


def choose(routes: Sequence[Route], pacer: Pacer) -> Route:
    """The way for one more message: the first where it grows often enough, else the one where it grows oftenest."""
    *others, last = routes
    ways = [route for route in others if _fits(route, pacer)] + [last]
    return min(ways, key=lambda route: max(_seconds_between_edits(route, pacer), GOOD_SECONDS))


def _fits(route: Route, pacer: Pacer) -> bool:
    """Whether it can be begun now, and would be ended in time if every message ended at once."""
    return pacer.room(route.create) > 0 and pacer.room(route.finish, finals=True) > 0


def _seconds_between_edits(route: Route, pacer: Pacer) -> float:
    return pacer.interval(route.edit, more=1, more_finals=route.finish.name == route.edit.name)


class Way:
    """How the first message of an answer is written, from its creation on."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self._created: float | None = None
        self._left: Route | None = None
        """The route that we left while it was open, until a write by the next one has closed it."""

    def created(self, at: float) -> None:
        """The message was created by this way at that time."""
        self._created = at

    def look(self, routes: Sequence[Route], now: float) -> Route:
        """The route of the next write, as the outlet has them now: one that has run its time is left, one that is gone is gone."""
        known = {route.name: route for route in routes}
        if self.route.name in known:
            self.route = known[self.route.name]
            if self._created is not None and now - self._created >= self.route.lifetime:
                self.leave(routes)
        else:
            self.lost(routes)
        return self.route

    def leave(self, routes: Sequence[Route]) -> None:
        """Go on by the next route; the write that does so closes this one too."""
        if self._left is None and self._created is not None:
            self._left = self.route
        self.route = _after(self.route, routes)

    def lost(self, routes: Sequence[Route]) -> None:
        """Go on by the next route: this one is closed already."""
        self._left = None
        self.route = _after(self.route, routes)

    @property
    def leaving(self) -> bool:
        """Whether a route of ours is still open that is not written by any longer."""
        return self._left is not None

    def written(self) -> None:
        """A write by the route has been done."""
        self._left = None

    def cost(self, budget: Budget) -> tuple[Budget, ...]:
        """What a write costs that takes a call of this budget: closing the route that was left is a call as well."""
        return (budget,) if self._left is None else (budget, self._left.finish)


def _after(route: Route, routes: Sequence[Route]) -> Route:
    names = [other.name for other in routes]
    if route.name not in names:
        return routes[-1]
    return routes[min(names.index(route.name) + 1, len(routes) - 1)]
