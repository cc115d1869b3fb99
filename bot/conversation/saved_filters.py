from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.conditions import filter_of

if TYPE_CHECKING:
    from bot.store.places import PlaceSettings
    from rag_engine.metadata.filter_types import Filter


def saved_filters(settings: PlaceSettings) -> tuple[Filter, ...]:
    found: list[Filter] = []
    for line in settings.filter.splitlines():
        with suppress(InvalidFilter):
            found.append(filter_of(line))
    return tuple(found)


def broken_filters(settings: PlaceSettings) -> list[str]:
    """Of an edited or older database."""
    broken: list[str] = []
    for line in settings.filter.splitlines():
        try:
            filter_of(line)
        except InvalidFilter:
            broken.append(line)
    return broken
