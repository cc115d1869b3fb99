from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    Properties: TypeAlias = Mapping[str, tuple[str, ...]]

Operator = Literal[
    "=", "≠", ">", "≥", "<", "≤", "contains", "not contains", "in", "not in",
    "starts with", "ends with", "empty", "not empty",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`in` and `not in` take a list with commas."""

    key: str
    operator: Operator
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    conditions: tuple[Condition, ...]
    any_of: bool = False
    """One condition suffices."""
