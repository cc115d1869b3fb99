from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Turn


def merged(history: Sequence[Turn], others: Sequence[Turn], *, most: int) -> tuple[Turn, ...]:
    """By time, but what others said before an answer comes after it."""
    turns = sorted(others, key=lambda turn: turn.at)
    merged: list[Turn] = []
    for turn in history:
        while turns and turn.role == "user" and turns[0].at < turn.at:
            merged.append(turns.pop(0))
        merged.append(turn)
    merged += turns
    return tuple(merged[-most:] if most else ())
