from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.port import Page, Reply
from bot.rendering.markdown.widths import width
from bot.streaming.rate_limiter import Needs, Urgency
from bot.streaming.routes import RouteState, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.port import Budget, Outlet, Route
    from bot.streaming.rate_limiter import RateLimiter

_MOST_MISMATCHES: Final = 3
"""After so many renderings that do not continue the text, an append-only route is left."""
_FULL: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    part: int
    page: Page | None
    creates: bool
    final: bool
    route: Route
    budgets: tuple[Budget, ...]
    urgency: Urgency


class ShownPages:
    def __init__(
        self, outlet: Outlet, limiter: RateLimiter, *, now: Callable[[], float], posted: Sequence[str]
    ) -> None:
        self.has_text = False
        self._outlet = outlet
        self._limiter = limiter
        self._now = now
        self._parts: list[tuple[str, Page | None]] = [(message, None) for message in posted]
        """None: unknown, from an earlier process."""
        self._route: RouteState | None = None
        self._mismatches = 0

    @property
    def messages(self) -> tuple[str, ...]:
        return tuple(message for message, _ in self._parts)

    @property
    def needs(self) -> Needs | None:
        """None before there is a route."""
        if self._route is None:
            return None
        route, last = self._route.route, self._outlet.routes[-1]
        if len(self._parts) > 1:
            return Needs(
                grows=last.edit, finals=(route.finish, last.finish) if route.grows else (last.finish,)
            )
        if route.name != last.name and self._filled() > _FULL:
            return Needs(grows=route.edit, finals=(route.finish, last.finish))
        return Needs(grows=route.edit, finals=(route.finish,))

    def expected(self, *, text: bool) -> Change:
        """Without rendering: more of the last message."""
        change = self._change(max(len(self._parts) - 1, 0), None)
        if self.has_text or change.urgency != Urgency.GROW:
            return change
        return replace(change, urgency=Urgency.FIRST if text else Urgency.STATUS)

    def growing_changes(self, pages: Sequence[Page], *, text: bool = False) -> list[Change]:
        if text and self._parts and not any(page.text for page in pages):
            return []
        return [change for change in self._changes(pages, final=False) if self._possible(change)]

    def final_changes(self, pages: Sequence[Page], *, first_written: bool) -> list[Change]:
        """And the first if its route must be finished."""
        changes = self._changes(pages, final=True)
        if not pages or first_written or (changes and changes[0].part == 0):
            return changes
        first = self._change(0, pages[0], final=True)
        return [first, *changes] if len(pages) == 1 or first.route.grows else changes

    def is_outdated(self, change: Change) -> bool:
        return change != self._change(change.part, change.page, final=change.final)

    def written(self, change: Change, message: str, *, began: float) -> None:
        """`began`: the start of the call."""
        if change.part == 0 and self._route is not None:
            self._route.written()
            if change.creates:
                self._route.created(began)
            if change.final:
                self._route = RouteState(self._outlet.routes[-1])
        if change.page is None:
            self._parts.pop()
            return
        self.has_text = self.has_text or bool(change.page.text)
        self._parts[change.part : change.part + 1] = [(message, _visible(change.page))]

    def refused(self, change: Change) -> bool:
        routes = self._outlet.routes
        if change.part or self._route is None or self._route.route.name == routes[-1].name:
            return False
        self._route.drop(routes)
        return True

    def _filled(self) -> float:
        page = self._parts[0][1] if self._parts else None
        return 0.0 if page is None else width(page.text) / self._outlet.limits.characters

    def _changes(self, pages: Sequence[Page], *, final: bool) -> list[Change]:
        known = len(self._parts)
        changed = [
            self._change(part, page, final=final)
            for part, page in enumerate(pages)
            if part >= known or self._parts[part][1] != _visible(page)
        ]
        return changed + [
            self._change(part, None, final=final) for part in reversed(range(len(pages), known))
        ]

    def _change(self, part: int, page: Page | None, *, final: bool = False) -> Change:
        creates = part >= len(self._parts)
        route = self._outlet.routes[-1] if part else self._first_route(page, final=final)
        budget = route.create if creates else route.finish if final and page is not None else route.edit
        urgency = Urgency.CREATE if creates else Urgency.GROW
        budgets: tuple[Budget, ...] = (budget,)
        if part == 0 and self._route is not None and self._route.leaving:
            budgets, urgency = self._route.cost(budget), min(urgency, Urgency.FIRST)
        return Change(
            part=part,
            page=page,
            creates=creates,
            final=final,
            route=route,
            budgets=budgets,
            urgency=Urgency.FINAL if final else urgency,
        )

    def _first_route(self, page: Page | None, *, final: bool) -> Route:
        routes = self._outlet.routes
        if self._route is None or (final and not self._parts):
            # For an existing message, or one written once.
            is_plain = final or bool(self._parts)
            self._route = RouteState(routes[-1] if is_plain else choose(routes, self._limiter))
        route = self._route.current(routes, self._now())
        while page is not None and route is not routes[-1] and not self._carries(route, page, final=final):
            self._route.leave(routes)
            route = self._route.route
        return route

    def _carries(self, route: Route, page: Page, *, final: bool) -> bool:
        if width(page.text) + width(page.footer) + width(page.status) > route.characters:
            return False
        return not route.grows or self._continues(page) or (not final and self._mismatches < _MOST_MISMATCHES)

    def _continues(self, page: Page) -> bool:
        shown = self._parts[0][1] if self._parts else None
        return shown is None or page.text.startswith(shown.text)

    def _possible(self, change: Change) -> bool:
        if change.creates or change.page is None or not change.route.grows:
            return True
        if not self._continues(change.page):
            self._mismatches += 1
            return False
        self._mismatches = 0
        shown = self._parts[0][1]
        return shown is None or (change.page.text, change.page.status) != (shown.text, shown.status)


def _visible(page: Page) -> Page:
    return replace(page, reply=_NOTHING)


_NOTHING: Final = Reply()
