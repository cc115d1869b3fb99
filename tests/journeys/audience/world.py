"""A world in which everybody holds a secret of their own, asked about in the same words; and who may learn which.

Ids are the same on purpose wherever platforms let them be: channel C1 is on two platforms and in two workspaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.port import NO_WORKSPACE, Person, Place
from tests.doubles.town import Town

if TYPE_CHECKING:
    from bot.port import ChannelKind

QUESTION = "What is the launch code of the harbour project?"

ANN, BEN, EVE = Person(id="UA", name="Ann"), Person(id="UB", name="Ben"), Person(id="UE", name="Eve")
XAN = Person(id="UX", name="Xan")
"""An admin of everything, a member, a guest, and somebody of another organisation."""


def _place(channel: str, thread: str = "", *, workspace: str = "T1", platform: str = "slack") -> Place:
    return Place(platform=platform, workspace=workspace, channel=channel, thread=thread)


PLACES: dict[str, Place] = {
    "public": _place("C1"),
    "second_public": _place("C2"),
    "private": _place("P1"),
    "group": _place("G1"),
    "dm_of_ann": _place("DA"),
    "dm_of_ben": _place("DB"),
    "thread": _place("C1", "100.1"),
    "second_thread": _place("C1", "100.2"),
    "external": _place("X1"),
    "second_workspace": _place("C1", workspace="T2"),
    "second_platform": _place("C1", platform="discord"),
    "dm_of_eve": _place("DE"),
    "dm_of_xan": _place("DX"),
    "dm_on_discord": _place("DD", workspace=NO_WORKSPACE, platform="discord"),
    "external_group": _place("G2"),
}
OPERATOR = "operator"
HOLDERS = (*PLACES, OPERATOR)

SECRETS = dict(
    zip(
        HOLDERS,
        (
            "zanthorp",
            "quibberly",
            "mordwick",
            "fenlarch",
            "ostrivel",
            "drumbelk",
            "yarrowex",
            "plimsoth",
            "gravendi",
            "kestrumo",
            "wolfjard",
            "nettlque",
            "hobblenk",
            "virquist",
            "tamberol",
            "sorvachk",
        ),
        strict=True,
    )
)
"""One word for each holder, only in its document."""
TITLES = {holder: f"{word[::-1]}.txt" for holder, word in SECRETS.items()}
"""What the documents are called: words of their own, too."""

CHANNELS: dict[tuple[str, str, str], tuple[str, ChannelKind, tuple[str, ...]]] = {
    ("slack", "T1", "C1"): ("atrium", "public", ("UA", "UB", "UE")),
    ("slack", "T1", "C2"): ("bazaar", "public", ("UA", "UB")),
    ("slack", "T1", "P1"): ("cellar", "private", ("UA",)),
    ("slack", "T1", "G1"): ("ann--ben--eve", "group", ("UA", "UB", "UE")),
    ("slack", "T1", "DA"): ("", "direct", ("UA",)),
    ("slack", "T1", "DB"): ("", "direct", ("UB",)),
    ("slack", "T1", "X1"): ("dockyard", "public", ("UA", "UB", "UE", "UX")),
    ("slack", "T1", "G2"): ("ann--ben--eve--xan", "group", ("UA", "UB", "UE", "UX")),
    ("slack", "T2", "C1"): ("embassy", "public", ("UA", "UB")),
    ("discord", "T1", "C1"): ("forum", "public", ("UA", "UB")),
    ("slack", "T1", "DE"): ("", "direct", ("UE",)),
    ("slack", "T1", "DX"): ("", "direct", ("UX",)),
    ("discord", NO_WORKSPACE, "DD"): ("", "direct", ("UB",)),
}
EXTERNAL = ("X1", "G2")
"""With somebody of another organisation in it."""
HOMES = {"slack": "T1", "discord": ""}
"""The workspace that the bot's token was made for: there alone the operator's is read."""
MEMBERS = {"slack": {"UA", "UB", "UC"}, "discord": {"UA", "UB", "UC"}}

ASKERS: dict[str, tuple[Person, ...]] = {
    "public": (ANN, BEN, EVE),
    "second_public": (ANN, BEN),
    "private": (ANN,),
    "group": (ANN, BEN, EVE),
    "dm_of_ann": (ANN,),
    "dm_of_ben": (BEN,),
    "thread": (ANN, BEN, EVE),
    "second_thread": (ANN, BEN, EVE),
    "external": (ANN, BEN, EVE, XAN),
    "external_group": (ANN, BEN, EVE, XAN),
    "second_workspace": (ANN, BEN),
    "second_platform": (ANN, BEN),
    "dm_of_eve": (EVE,),
    "dm_of_xan": (XAN,),
    "dm_on_discord": (BEN,),
}


def towns() -> dict[tuple[str, str], Town]:
    """A directory for each workspace of each platform."""
    made: dict[tuple[str, str], Town] = {}
    for (platform, workspace, channel), (name, kind, inside) in CHANNELS.items():
        town = made.setdefault(
            (platform, workspace),
            Town(
                members=set(MEMBERS[platform]),
                admins={"UA"},
                guests={"UE"},
                home=HOMES[platform],
            ),
        )
        town.add(channel, kind, *inside, external=channel in EXTERNAL, name=name)
    made["discord", NO_WORKSPACE].others = {"T1": made["discord", "T1"]}
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Eyes:
    """Who reads something: one person, or (None) everyone who can read the place."""

    place: str
    person: Person | None = None


def readers_of(place: Place) -> set[str]:
    _, kind, inside = CHANNELS[place.platform, place.workspace, place.channel]
    return set(inside) | (MEMBERS[place.platform] if kind == "public" else set())


def reads(person: Person, name: str) -> bool:
    """Whether the person can read what is written in the place."""
    return person.id in readers_of(PLACES[name])


def may_learn(eyes: Eyes, holder: str, *, bound: bool) -> bool:
    """The rule, written down a second time: whether a question with these readers may be answered from what the holder holds.

    `bound`: every channel is bound to everything.
    """
    asked_in = PLACES[eyes.place]
    readers = {eyes.person.id} if eyes.person else readers_of(asked_in)
    if _kind(asked_in) != "direct":
        return _may_learn_in(asked_in, readers, holder, bound=bound)
    return any(_may_learn_in(place, readers, holder, bound=bound) for place in _asked_from(asked_in, readers))


def _asked_from(direct: Place, readers: set[str]) -> list[Place]:
    """In a direct message its person asks in all of their channels."""
    channels = [
        place
        for place in PLACES.values()
        if not place.thread
        and _kind(place) in ("public", "private")
        and place.platform == direct.platform
        and direct.workspace in (place.workspace, NO_WORKSPACE)
        and readers <= set(CHANNELS[place.platform, place.workspace, place.channel][2])
    ]
    return [direct, *channels]


def _kind(place: Place) -> ChannelKind:
    return CHANNELS[place.platform, place.workspace, place.channel][1]


def _may_learn_in(asked_in: Place, readers: set[str], holder: str, *, bound: bool) -> bool:
    external = asked_in.channel in EXTERNAL
    if holder == OPERATOR:
        at_home = asked_in.workspace == HOMES[asked_in.platform]
        return bound and at_home and not external and readers <= MEMBERS[asked_in.platform]
    held_by = PLACES[holder]
    if held_by in (asked_in, asked_in.parent):
        return True
    same = (held_by.platform, held_by.workspace) == (asked_in.platform, asked_in.workspace)
    if not bound or not same or held_by.thread or external:
        return False
    return _kind(held_by) not in ("direct", "group") and readers <= readers_of(held_by)


def asked_by() -> list[tuple[str, Person]]:
    """Every place with everybody who can ask there."""
    return [(name, person) for name, people in ASKERS.items() for person in people]


def may_know(eyes: Eyes, holder: str, *, bound: bool) -> bool:
    """Whether somebody may be shown, by a command, that the holder's knowledge base exists and what its documents are called."""
    if may_learn(eyes, holder, bound=bound):
        return True
    assert eyes.person is not None
    if holder == OPERATOR:
        return eyes.person == ANN and PLACES[eyes.place].workspace == HOMES[PLACES[eyes.place].platform]
    held_by, asked_in = PLACES[holder], PLACES[eyes.place]
    return (
        not held_by.thread and may_learn(eyes, holder, bound=True) and asked_in.platform == held_by.platform
    )
