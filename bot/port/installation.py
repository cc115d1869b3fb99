from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A secret to type; `looks` says in words what `pattern` takes."""

    setting: str
    name: str
    where: str
    pattern: re.Pattern[str]
    looks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """`file` gets what `setup` prints before `first` is shown; without one it is shown after the credentials."""

    first: str
    credentials: tuple[Credential, ...]
    file: str = ""
