from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """`looks`: the pattern in words."""

    setting: str
    name: str
    where: str
    pattern: re.Pattern[str]
    looks: str
    unless: str = ""
    """Another setting suffices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """`file` gets what `setup` prints, else it is shown last."""

    first: str
    credentials: tuple[Credential, ...]
    file: str = ""
