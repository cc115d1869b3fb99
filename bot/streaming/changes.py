"""Changes: the writes that lead from what our messages show to what they should."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.port import Page, Reply
from bot.rendering.widths import width
from bot.streaming.pacing import Needs, Urgency
from bot.streaming.routing import Way, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.port import Budget, Outlet, Route
    from bot.streaming.pacing import Pacer

_ASTRAY: Final = 3
"""After so many renderings that do not continue what is shown, a route that can only add text is left."""
_FULL: Final = 0.8
"""A message that is taken so far will be followed by another before long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A write that is due: part number `part` is to show the page, or to go."""

    part: int
    page: Page | None
    creates: bool
    final: bool
    route: Route
    budgets: tuple[Budget, ...]
    urgency: Urgency


class Shown:
    """The messages of one answer, what each shows, and the route that the first one goes by."""

    def __init__(
        self, outlet: Outlet, pacer: Pacer, *, now: Callable[[], float], posted: Sequence[str]
    ) -> None:
        self.has_text = False
        self._outlet = outlet
        self._pacer = pacer
        self._now = now
        self._parts: list[tuple[str, Page | None]] = [(message, None) for message in posted]
        """Id and page of each; the page of one that was there before is not known."""
        self._way: Way | None = None
        self._astray = 0

    @property
    def messages(self) -> tuple[str, ...]:
        """The platform's ids of the messages, in order."""
        return tuple(message for message, _ in self._parts)

    @property
    def needs(self) -> Needs | None:
        """What the answer will cost from now on; None before it has a route."""
        if self._way is None:
            return None
        route, last = self._way.route, self._outlet.routes[-1]
        if len(self._parts) > 1:
            # Of a message that another follows, only a route that grows wants a last word.
            return Needs(
                grows=last.edit, finals=(route.finish, last.finish) if route.grows else (last.finish,)
            )
        if route.name != last.name and self._filled() > _FULL:
            return Needs(grows=route.edit, finals=(route.finish, last.finish))  # another will follow
        return Needs(grows=route.edit, finals=(route.finish,))

    def expected(self, *, text: bool) -> Change:
        """What the next write most likely is, told without rendering: more of the last message, its first text when `text`."""
        change = self._change(max(len(self._parts) - 1, 0), None)
        if self.has_text or change.urgency != Urgency.GROW:
            return change
        return replace(change, urgency=Urgency.FIRST if text else Urgency.STATUS)

    def growing(self, pages: Sequence[Page], *, text: bool = False) -> list[Change]:
        """The writes that are due while the text still grows, in the order in which they are done; `text`: there is some."""
        if text and self._parts and not any(page.text for page in pages):
            return []  # none of it is decided yet: whatever is shown stays until it is
        return [change for change in self._changes(pages, final=False) if self._possible(change)]

    def last(self, pages: Sequence[Page], *, first_written: bool) -> list[Change]:
        """The writes that the last word takes: each part that differs; the first, too, where only that ends the message."""
        changes = self._changes(pages, final=True)
        if not pages or first_written or (changes and changes[0].part == 0):
            return changes
        first = self._change(0, pages[0], final=True)
        return [first, *changes] if len(pages) == 1 or first.route.grows else changes

    def otherwise(self, change: Change) -> bool:
        """Whether it would be done otherwise now, e.g. because its route has run its time while it waited."""
        return change != self._change(change.part, change.page, final=change.final)

    def written(self, change: Change, message: str, *, began: float) -> None:
        """The change has been made, by a call that began at that time."""
        if change.part == 0 and self._way is not None:
            self._way.written()
            if change.creates:
                self._way.created(began)
            if change.final:
                self._way = Way(self._outlet.routes[-1])  # the others are closed by a final write
        if change.page is None:
            self._parts.pop()
            return
        self.has_text = self.has_text or bool(change.page.text)
        self._parts[change.part : change.part + 1] = [(message, _seen(change.page))]

    def refused(self, change: Change) -> bool:
        """The outlet will not have it: whether there is another route to try."""
        routes = self._outlet.routes
        if change.part or self._way is None or self._way.route.name == routes[-1].name:
            return False
        self._way.lost(routes)
        return True

    # --- inside

    def _filled(self) -> float:
        """How much of the first message is taken, from 0 to 1."""
        page = self._parts[0][1] if self._parts else None
        return 0.0 if page is None else width(page.text) / self._outlet.limits.characters

    def _changes(self, pages: Sequence[Page], *, final: bool) -> list[Change]:
        known = len(self._parts)
        changed = [
            self._change(part, page, final=final)
            for part, page in enumerate(pages)
            if part >= known or self._parts[part][1] != _seen(page)
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
        if part == 0 and self._way is not None and self._way.leaving:
            budgets, urgency = self._way.cost(budget), min(urgency, Urgency.FIRST)
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
        """The route of the next write of the first message, which is left where it cannot carry the page."""
        routes = self._outlet.routes
        if self._way is None or (final and not self._parts):
            # What exists already, and what is written only once, goes by the plainest way.
            plain = final or bool(self._parts)
            self._way = Way(routes[-1] if plain else choose(routes, self._pacer))
        route = self._way.look(routes, self._now())
        while page is not None and route is not routes[-1] and not self._carries(route, page, final=final):
            self._way.leave(routes)
            route = self._way.route
        return route

    def _carries(self, route: Route, page: Page, *, final: bool) -> bool:
        if width(page.text) + width(page.footer) + width(page.status) > route.characters:
            return False
        return not route.grows or self._continues(page) or (not final and self._astray < _ASTRAY)

    def _continues(self, page: Page) -> bool:
        shown = self._parts[0][1] if self._parts else None
        return shown is None or page.text.startswith(shown.text)

    def _possible(self, change: Change) -> bool:
        """Whether the route can show it before the last word: one that only grows takes more text, or another status."""
        if change.creates or change.page is None or not change.route.grows:
            return True
        if not self._continues(change.page):
            self._astray += 1
            return False
        self._astray = 0
        shown = self._parts[0][1]
        return shown is None or (change.page.text, change.page.status) != (shown.text, shown.status)


def _seen(page: Page) -> Page:
    """What of a page is seen: two of them are compared, and the reply behind them need not be kept."""
    return replace(page, reply=_NOTHING)


_NOTHING: Final = Reply()
