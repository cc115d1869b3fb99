"""Who may do what, where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.access.permissions import Permissions
from bot.messages import CATALOG, LANGUAGES, say
from bot.messages.errors import sentence_of
from bot.port import Person
from bot.settings import AccessSettings
from rag_engine.errors import NotAllowed
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, place, town

if TYPE_CHECKING:
    from bot.access.permissions import Act
    from bot.messages.names import Sentence
    from bot.port import Place


def access(**settings: object) -> Permissions:
    return Permissions(settings=AccessSettings.model_validate(settings))


async def allowed(rules: Permissions, person: Person, where: Place, act: Act, *, asker: str = "") -> bool:
    try:
        await rules.check(person, where, town(), act=act, asker=asker)
    except NotAllowed:
        return False
    return True


@pytest.mark.parametrize("act", ["administer", "add", "stop"])
async def test_in_a_channel_admins_may_and_others_may_not(act: Act) -> None:
    assert await allowed(access(), ANN, place(), act)
    assert not await allowed(access(), BEN, place(), act)
    assert not await allowed(access(), EVE, place(), act)


async def test_roles_of_the_settings_administer_whatever_their_case() -> None:
    made = town()
    made.roles["BEN"] = frozenset({"KB Admins"})
    await access(roles=("kb admins",)).check(BEN, place(), made, act="administer")
    with pytest.raises(NotAllowed, match="role others"):
        await access(roles=("others",)).check(BEN, place(), made, act="administer")


async def test_everyone_adds_to_threads_and_to_channels_only_when_that_is_set() -> None:
    assert await allowed(access(), EVE, place(thread="1"), "add")
    assert not await allowed(access(), EVE, place(), "add")
    assert await allowed(access(add="everyone"), EVE, place(), "add")
    assert not await allowed(access(), EVE, place(thread="1"), "administer")


@pytest.mark.parametrize("act", ["administer", "add", "stop"])
async def test_anyone_in_a_direct_message_administers_it(act: Act) -> None:
    assert await allowed(access(), BEN, place("DM_BEN"), act)
    assert await allowed(access(), BEN, place("TRIO"), act)


async def test_askers_stop_their_own_answers() -> None:
    assert await allowed(access(), EVE, place(), "stop", asker="EVE")
    assert not await allowed(access(), EVE, place(), "stop", asker="BEN")
    assert await allowed(access(), ANN, place(), "stop", asker="BEN")


@pytest.mark.parametrize("act", ["administer", "add", "stop"])
async def test_in_a_workspace_that_is_not_served_nobody_may_anything(act: Act) -> None:
    rules = access(workspaces=("T2",), add="everyone")
    assert not await allowed(rules, ANN, place(thread="1"), act, asker="ANN")
    assert await allowed(rules, ANN, place(workspace="T2"), act)
    with pytest.raises(NotAllowed, match="FOOTNOTE_ACCESS__WORKSPACES"):
        rules.admit(place())


async def test_what_the_platform_does_not_confirm_is_not_allowed() -> None:
    made = town()
    made.silent = {"ANN", "DM_BEN"}
    for person, where in ((ANN, place()), (BEN, place("DM_BEN"))):
        with pytest.raises(NotAllowed, match=r"could not check your permissions|Only an admin"):
            await access().check(person, where, made, act="administer")


REFUSALS: list[tuple[dict[str, object], Person, Place, Act, str]] = [
    ({}, BEN, place(), "administer", "administer_refused"),
    ({}, BEN, place(), "add", "add_refused"),
    ({}, BEN, place(), "stop", "stop_refused"),
    ({"roles": ("{who} admins", "owners")}, BEN, place(), "stop", "stop_refused"),
    ({"workspaces": ("T2",)}, ANN, place(), "stop", "not_served"),
    ({"workspaces": ("T2",)}, ANN, place(workspace=""), "stop", "not_served_here"),
    ({}, Person(id="NOBODY"), place(), "add", "rights_unknown"),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("settings", "person", "where", "act", "name"), REFUSALS)
async def test_refusals_are_reported_in_every_language_and_are_english_as_text(
    settings: dict[str, object], person: Person, where: Place, act: Act, name: Sentence, language: str
) -> None:
    made = town()
    made.silent = {"NOBODY"}
    with pytest.raises(NotAllowed) as refused:
        await access(**settings).check(person, where, made, act=act)
    told = sentence_of(refused.value, language)
    assert told.startswith(str(CATALOG.sentences(language)[name]).partition("{")[0])
    assert (told == str(refused.value)) == (language == "en")
    if name.endswith("refused"):
        admin = "an_admin_or_role" if settings else "an_admin"
        assert say(admin, language, roles="{who} admins, owners") in told
    assert "{workspace}" not in told
    assert ("T1" in told) == (name == "not_served")
    assert sentence_of(refused.value, "fi") == str(refused.value)
