from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bot.port.places import Person, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """`joined`: we were added to the channel or server. `opened`: somebody opened a conversation."""

    kind: Literal["joined", "opened"]
    id: str
    """The same for each delivery."""
    place: Place
    person: Person
    """Without an id if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    greeting: str
    heading: str = ""
    knowledge_bases: tuple[str, ...] = ()
    how_to_add: str = ""
    prompts_heading: str = ""
    prompts: tuple[str, ...] = ()
    """Questions to suggest."""
