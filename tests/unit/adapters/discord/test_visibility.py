"""Comparisons of two channels against Discord's own algorithm, for every possible person."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

import pytest

from adapters.discord.visibility import (
    CONNECT,
    EVERYONE,
    HISTORY,
    VIEW,
    Overwrite,
    VisibilityRules,
    is_within,
    open_to_all,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ADMINISTRATOR = 1 << 3
BITS = (VIEW, HISTORY, CONNECT)
ROLES = ("red", "blue", "green")
PEOPLE = ("ann", "ben", "somebody")


def _granted(access: VisibilityRules, person: str, roles: tuple[str, ...]) -> int:
    """As Discord documents it."""
    granted = access.roles.get(EVERYONE, 0)
    for role in roles:
        granted |= access.roles.get(role, 0)
    if granted & ADMINISTRATOR:
        return ~0
    everyone = access.role_overwrites.get(EVERYONE, Overwrite())
    granted = granted & ~everyone.deny | everyone.allow
    allow = deny = 0
    for role in roles:
        overwrite = access.role_overwrites.get(role, Overwrite())
        allow, deny = allow | overwrite.allow, deny | overwrite.deny
    granted = granted & ~deny | allow
    own = access.member_overwrites.get(person, Overwrite())
    return granted & ~own.deny | own.allow


def _everybody() -> Iterator[tuple[str, tuple[str, ...]]]:
    for person in PEOPLE:
        for count in range(len(ROLES) + 1):
            for roles in combinations(ROLES, count):
                yield person, roles


def _reads(access: VisibilityRules, person: str, roles: tuple[str, ...]) -> bool:
    granted = _granted(access, person, roles)
    return all(granted & bit for bit in access.reading)


def _bits(chance: Random) -> int:
    return sum(bit for bit in BITS if chance.random() < 0.4)


def _overwrite(chance: Random) -> Overwrite:
    allow = _bits(chance)
    return Overwrite(allow=allow, deny=_bits(chance) & ~allow)


def _server(chance: Random) -> dict[str, int]:
    everyone = chance.choice([0, VIEW, VIEW | HISTORY, VIEW | HISTORY | CONNECT])
    return {EVERYONE: everyone} | {
        role: chance.choice([0, 0, VIEW, VIEW | HISTORY, ADMINISTRATOR]) for role in ROLES
    }


def _channel(roles: Mapping[str, int], chance: Random) -> VisibilityRules:
    return VisibilityRules(
        roles=roles,
        role_overwrites={role: _overwrite(chance) for role in (EVERYONE, *ROLES) if chance.random() < 0.35},
        member_overwrites={person: _overwrite(chance) for person in PEOPLE[:2] if chance.random() < 0.25},
        voice=chance.random() < 0.3,
    )


@pytest.mark.parametrize("seed", range(4))
def test_true_means_that_everyone_can_read(seed: int) -> None:
    chance = Random(seed)
    said_yes = 0
    for _ in range(2_000):
        roles = _server(chance)
        source, target = _channel(roles, chance), _channel(roles, chance)
        said_yes += is_within(source, target)
        for person, worn in _everybody() if is_within(source, target) else ():
            if _granted(source, person, worn) & VIEW:
                assert _reads(target, person, worn), (source, target, person, worn)
        if open_to_all(target):
            assert all(_reads(target, person, worn) for person, worn in _everybody()), target
    assert said_yes > 300


ALL = {EVERYONE: VIEW | HISTORY, "red": 0}
OPEN = VisibilityRules(roles=ALL)
HIDDEN = Overwrite(deny=VIEW)
LET_IN = Overwrite(allow=VIEW | HISTORY)
RED = VisibilityRules(roles=ALL, role_overwrites={EVERYONE: HIDDEN, "red": LET_IN})


def test_plain_cases_are_true() -> None:
    """Always False would be safe but useless."""
    ann = VisibilityRules(roles=ALL, role_overwrites={EVERYONE: HIDDEN}, member_overwrites={"ann": LET_IN})
    both = VisibilityRules(
        roles=ALL, role_overwrites={EVERYONE: HIDDEN, "red": LET_IN}, member_overwrites={"ann": LET_IN}
    )
    assert open_to_all(OPEN)
    for source, target in ((OPEN, OPEN), (RED, OPEN), (RED, RED), (ann, OPEN), (RED, both), (ann, both)):
        assert is_within(source, target)
    for source, target in ((OPEN, RED), (both, RED), (ann, RED), (RED, ann)):
        assert not is_within(source, target)


def test_voice_and_age() -> None:
    voice = VisibilityRules(roles=ALL, voice=True)
    assert not open_to_all(voice)
    assert open_to_all(VisibilityRules(roles={EVERYONE: VIEW | HISTORY | CONNECT}, voice=True))
    adults = VisibilityRules(roles=ALL, restricted=True)
    assert not open_to_all(adults)
    assert not is_within(OPEN, adults)
    assert is_within(adults, OPEN)
    assert is_within(adults, adults)
