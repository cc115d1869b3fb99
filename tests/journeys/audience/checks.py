"""What somebody saw, against what they may learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.audience.world import (
    CHANNELS,
    HOLDERS,
    PLACES,
    SECRETS,
    TITLES,
    Eyes,
    asked_by,
    may_know,
    may_learn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tests.journeys.audience.stage import Shown, Stage


everybody = pytest.mark.parametrize(
    ("name", "person"), asked_by(), ids=[f"{name}-{person.name}" for name, person in asked_by()]
)


def leaks(shown: Collection[Shown], may: Callable[[Eyes, str], bool], *, asked: str = "") -> list[str]:
    """Holders whose words somebody sees who may not; words that the person typed are theirs already."""
    return [
        f"{holder} to {message.eyes}"
        for message in shown
        for everything in (message.everything,)
        for holder in HOLDERS
        for word in (SECRETS[holder], TITLES[holder].removesuffix(".txt"))
        if word not in asked and word in everything and not may(message.eyes, holder)
    ]


def learns(stage: Stage) -> Callable[[Eyes, str], bool]:
    return lambda eyes, holder: may_learn(eyes, holder, bound=stage.bound)


def knows(stage: Stage) -> Callable[[Eyes, str], bool]:
    return lambda eyes, holder: may_know(eyes, holder, bound=stage.bound)


def check(stage: Stage, shown: Collection[Shown], eyes: Eyes) -> None:
    """An answer: it was searched for in exactly what its readers may learn, shows nothing else, and shows the place's own."""
    allowed = {holder for holder in HOLDERS if may_learn(eyes, holder, bound=stage.bound)}
    assert stage.engine.queries[-1].knowledge_bases == {stage.held[holder] for holder in allowed}
    assert shown
    assert {message.eyes for message in shown} == {eyes}
    assert not leaks(shown, learns(stage))
    text = "\n".join(message.everything for message in shown)
    assert SECRETS[eyes.place] in text
    for (platform, workspace, channel), (title, *_) in CHANNELS.items():
        of = next(
            key
            for key, place in PLACES.items()
            if (place.platform, place.workspace, place.channel) == (platform, workspace, channel)
        )
        if title and title in text:
            assert of in allowed, f"{title} is named"


def labels(holder: str) -> list[str]:
    """What somebody might call it who has heard of it, or guessed."""
    place = PLACES.get(holder)
    if place is None:
        return [f"{SECRETS[holder]} handbook"]
    title = CHANNELS[place.platform, place.workspace, place.channel][0] or place.channel
    return [f"#{title}", f"<#{place.channel}|{title}>"]
