"""Whether all who can see one channel can read another, from roles and overwrites.

Discord applies server permissions of @everyone and roles; the channel's overwrites of @everyone, then of roles (denials
before grants), then of the person. Administrators and the owner may do everything. Roles of people are unknown: True
must hold for every combination.
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
class VisibilityRules:
    roles: Mapping[str, int]
    role_overwrites: Mapping[str, Overwrite] = field(default_factory=dict[str, Overwrite])
    member_overwrites: Mapping[str, Overwrite] = field(default_factory=dict[str, Overwrite])
    voice: bool = False
    """Reading needs the permission to connect."""
    restricted: bool = False

    @property
    def reading(self) -> tuple[int, ...]:
        return (VIEW, HISTORY, CONNECT) if self.voice else (VIEW, HISTORY)

    @property
    def everyone(self) -> Overwrite:
        return self.role_overwrites.get(EVERYONE, Overwrite())


def open_to_all(rules: VisibilityRules) -> bool:
    if rules.restricted or any(_denies(rules.member_overwrites.values(), bit) for bit in rules.reading):
        return False
    return all(_everyone_may(rules, bit) for bit in rules.reading)


def is_within(source: VisibilityRules, target: VisibilityRules) -> bool:
    if target.restricted and not source.restricted:
        return False
    if not _people_denied_reading(target) <= _people_denied_viewing(source):
        return False
    by_role = _viewing_roles(source)
    by_member = {person for person, overwrite in source.member_overwrites.items() if overwrite.allow & VIEW}
    return all(
        all(_role_may(target, role, bit) for role in by_role)
        and all(_member_may(target, person, bit) for person in by_member)
        for bit in target.reading
    )


def _viewing_roles(rules: VisibilityRules) -> set[str]:
    roles = {role for role, overwrite in rules.role_overwrites.items() if overwrite.allow & VIEW}
    if not rules.everyone.deny & VIEW:
        roles |= {role for role, granted in rules.roles.items() if granted & VIEW}
    # administrators read every channel
    return {role for role in roles if not rules.roles.get(role, 0) & _ADMINISTRATOR}


def _role_may(rules: VisibilityRules, role: str, bit: int) -> bool:
    if role != EVERYONE and rules.role_overwrites.get(role, Overwrite()).allow & bit:
        return True
    given = rules.roles.get(role, 0) | rules.roles.get(EVERYONE, 0)
    return _not_denied_role_may(rules, bit) and bool(rules.everyone.allow & bit or given & bit)


def _member_may(rules: VisibilityRules, person: str, bit: int) -> bool:
    own = rules.member_overwrites.get(person, Overwrite())
    return bool(own.allow & bit) or (not own.deny & bit and _everyone_may(rules, bit))


def _everyone_may(rules: VisibilityRules, bit: int) -> bool:
    return _role_may(rules, EVERYONE, bit)


def _not_denied_role_may(rules: VisibilityRules, bit: int) -> bool:
    others = (overwrite for role, overwrite in rules.role_overwrites.items() if role != EVERYONE)
    taken_from_all = rules.everyone.deny & bit and not rules.everyone.allow & bit
    return not taken_from_all and not _denies(others, bit)


def _denies(overwrites: Iterable[Overwrite], bit: int) -> bool:
    return any(overwrite.deny & bit and not overwrite.allow & bit for overwrite in overwrites)


def _people_denied_reading(rules: VisibilityRules) -> set[str]:
    return {
        person
        for person, overwrite in rules.member_overwrites.items()
        if any(_denies([overwrite], bit) for bit in rules.reading)
    }


def _people_denied_viewing(rules: VisibilityRules) -> set[str]:
    return {person for person, overwrite in rules.member_overwrites.items() if _denies([overwrite], VIEW)}
