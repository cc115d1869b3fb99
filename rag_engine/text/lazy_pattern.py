"""Regular expressions compiled at first use, to start faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_Pattern = TypeVar("_Pattern")


def lazy(build: Callable[[], _Pattern]) -> _Pattern:
    """Functions of `re` do not accept it; its own methods work."""
    return cast("_Pattern", _LazyPattern(build))


class _LazyPattern:
    def __init__(self, build: Callable[[], object]) -> None:
        self._build = build

    def __getattr__(self, name: str) -> Any:
        if "_pattern" not in self.__dict__:
            self._pattern = self._build()
        found = getattr(self._pattern, name)
        setattr(self, name, found)
        return found
