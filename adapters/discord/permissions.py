"""Pure: whether everyone who can see one channel can also read another, from roles and overwrites alone.

Discord grants in this order: what @everyone and all roles of a person give in the server; the channel's overwrite of @everyone;
its overwrites of the person's roles, first all that they deny and then all that they allow; its overwrite of the person. Whoever may
administrate, and the owner, have everything. Nobody's list of roles is known here, so a person may have any of them: a comparison is
True only when it holds for each such person.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EVERYONE = "everyone"
VIEW = 1 << 10
HISTORY = 1 << 16
CONNECT = 1 << 20
_ADMINISTRATOR = 1 << 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    allow: int = 0
    deny: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What decides who may do what in one channel; role `EVERYONE` is @everyone."""

    roles: Mapping[str, int]
    """What each role of the server gives, as bits."""
    role_overwrites: Mapping[str, Overwrite] = field(default_factory=dict[str, Overwrite])
    member_overwrites: Mapping[str, Overwrite] = field(default_factory=dict[str, Overwrite])
    voice: bool = False
    """What stands in a voice channel can only be read by those who may join it."""
    restricted: bool = False
    """For adults only."""

    @property
    def reading(self) -> tuple[int, ...]:
        """The permissions that together let a person read all that ever stood in it."""
        return (VIEW, HISTORY, CONNECT) if self.voice else (VIEW, HISTORY)

    @property
    def everyone(self) -> Overwrite:
        return self.role_overwrites.get(EVERYONE, Overwrite())


def open_to_all(access: Access) -> bool:
    """Whether every member of the server can read it, whatever roles they have."""
    if access.restricted or any(_denies(access.member_overwrites.values(), bit) for bit in access.reading):
        return False
    return all(_by_everyone(access, bit) for bit in access.reading)


def within(source: Access, target: Access) -> bool:
    """Whether everyone who can see `source` can read `target`; False when that is not certain."""
    if target.restricted and not source.restricted:
        return False
    if not _denied(target) <= _hidden_from(source):
        return False
    by_role = _seen_by_role(source)
    by_member = {person for person, overwrite in source.member_overwrites.items() if overwrite.allow & VIEW}
    return all(
        all(_by_role(target, role, bit) for role in by_role)
        and all(_by_member(target, person, bit) for person in by_member)
        for bit in target.reading
    )


def _seen_by_role(access: Access) -> set[str]:
    """Roles of which each person who can see the channel has one, unless an overwrite of their own lets them in."""
    roles = {role for role, overwrite in access.role_overwrites.items() if overwrite.allow & VIEW}
    if not access.everyone.deny & VIEW:
        roles |= {role for role, granted in access.roles.items() if granted & VIEW}
    # Whoever may administrate reads every channel.
    return {role for role in roles if not access.roles.get(role, 0) & _ADMINISTRATOR}


def _by_role(access: Access, role: str, bit: int) -> bool:
    """Whether each person with the role has the permission; what a single person is denied is compared elsewhere."""
    if role != EVERYONE and access.role_overwrites.get(role, Overwrite()).allow & bit:
        return True
    given = access.roles.get(role, 0) | access.roles.get(EVERYONE, 0)
    return _kept(access, bit) and bool(access.everyone.allow & bit or given & bit)


def _by_member(access: Access, person: str, bit: int) -> bool:
    own = access.member_overwrites.get(person, Overwrite())
    return bool(own.allow & bit) or (not own.deny & bit and _by_everyone(access, bit))


def _by_everyone(access: Access, bit: int) -> bool:
    return _by_role(access, EVERYONE, bit)


def _kept(access: Access, bit: int) -> bool:
    """Whether no overwrite of a role takes the permission away from somebody who has it by the server."""
    others = (overwrite for role, overwrite in access.role_overwrites.items() if role != EVERYONE)
    taken_from_all = access.everyone.deny & bit and not access.everyone.allow & bit
    return not taken_from_all and not _denies(others, bit)


def _denies(overwrites: Iterable[Overwrite], bit: int) -> bool:
    return any(overwrite.deny & bit and not overwrite.allow & bit for overwrite in overwrites)


def _denied(access: Access) -> set[str]:
    """People whom an overwrite of their own keeps from reading."""
    return {
        person
        for person, overwrite in access.member_overwrites.items()
        if any(_denies([overwrite], bit) for bit in access.reading)
    }


def _hidden_from(access: Access) -> set[str]:
    return {person for person, overwrite in access.member_overwrites.items() if _denies([overwrite], VIEW)}
