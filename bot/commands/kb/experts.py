"""Who answers what the files do not: channels, groups, people."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.access.expert_names import MOST_PEOPLE, channel_of, label_of, named_experts
from bot.access.permissions import answer_or_none
from bot.commands.context import code, reply
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Invalid, Refusal
from bot.port import Option

if TYPE_CHECKING:
    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.port import Reply

_USAGE: Final = "/kb experts add #help"


async def experts(use: CommandContext) -> Reply:
    action, named = use.values.get("action", ""), use.values.get("channel", "").strip()
    known = await use.known(use.values.get("name", ""))
    if action and named:
        await use.check_administers(known)
        identity = named_experts(named)
        if action == "add":
            check = _check_channel if channel_of(named) else _check_people
            await check(use, named, identity)
        await use.dependencies.experts.name_experts(
            known.knowledge_base.id, use.place, identity, add=action == "add"
        )
        use.audit(f"{action} experts", known)
    return await _listed(use, known)


async def _check_channel(use: CommandContext, named: str, channel: str) -> None:
    if not await answer_or_none(use.directory.may_read(channel, person=use.person.id)):
        _check_picked(named)
        raise Refusal("channel_unknown", reason=use.cause)


async def _check_people(use: CommandContext, named: str, mention: str) -> None:
    people = await answer_or_none(use.directory.people(mention))
    if people is None or not people.members:
        _check_picked(named)
        raise Refusal("experts_unknown", name=people.name if people else mention, reason=use.cause)
    if len(people.members) > MOST_PEOPLE:
        raise Refusal("experts_too_many", name=people.name, most=MOST_PEOPLE)


def _check_picked(named: str) -> None:
    """Platforms turn a name from their list into a mention."""
    if not named.startswith("<"):
        raise Invalid("name_unpicked", name=code(named))


async def _listed(use: CommandContext, known: NamedKnowledgeBase) -> Reply:
    listed = await use.dependencies.experts.experts({known.knowledge_base.id}, use.place)
    if not listed:
        return reply(use.say("experts_none", name=use.called(known), usage=_USAGE))
    names = [code(await label_of(identity, use.directory) or identity) for _, identity in listed]
    return reply(use.say("experts_listed", name=use.called(known), channels=", ".join(names)))


COMMANDS = (
    kb_command(
        "experts",
        "Who answers what the files do not: channels, groups or people",
        Option(
            name="action", description="Add or remove experts; empty: list them", choices=("add", "remove")
        ),
        Option(name="channel", description="A channel, group or person, as #help, @support or @ann"),
        replace(KNOWLEDGE_BASE, named=True),
        position=189,
        summary="command_kb_experts",
        execute=experts,
    ),
)
