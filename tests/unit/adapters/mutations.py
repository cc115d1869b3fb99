"""Every answer with one field removed, null, or of another type."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]
_REMOVED = object()
_UNCHECKED = frozenset({"ok", "error"})


def mutated(answer: Any) -> Iterator[tuple[str, Any]]:
    """Each mutation with its name."""
    for path in _paths(answer):
        for name, value in (("removed", _REMOVED), ("null", None), ("other type", _REMOVED)):
            changed = copy.deepcopy(answer)
            parent = changed
            for step in path[:-1]:
                parent = parent[step]
            if name == "removed":
                del parent[path[-1]]
            else:
                parent[path[-1]] = value if value is None else _other(parent[path[-1]])
            yield f"{'.'.join(map(str, path))} {name}", changed


def _other(value: Any) -> Any:
    return "a text" if isinstance(value, dict | list | int | float) and not isinstance(value, bool) else [7]


def _paths(answer: Any, at: Path = ()) -> Iterator[Path]:
    """The first element represents a list."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(answer, dict):
        items = [(name, value) for name, value in answer.items() if at or name not in _UNCHECKED]  # pyright: ignore[reportUnknownVariableType]
    elif isinstance(answer, list):
        items = list(enumerate(answer[:1]))  # pyright: ignore[reportUnknownArgumentType]
    for name, value in items:
        yield (*at, name)
        yield from _paths(value, (*at, name))
