"""The channels of the people who answer what the files do not."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.access.permissions import answer_or_none
from bot.commands.context import code, reply
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Refusal
from bot.port import Option

if TYPE_CHECKING:
    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.port import Reply

_USAGE: Final = "/kb experts add #help"
_MENTION: Final = re.compile(r"<#([^|>\s]+)(?:\|[^>]*)?>")


async def experts(use: CommandContext) -> Reply:
    action, channel = use.values.get("action", ""), use.values.get("channel", "").strip()
    known = await use.known(use.values.get("name", ""))
    if action and channel:
        await use.check_administers(known)
        mention = _MENTION.fullmatch(channel)
        identity = mention[1] if mention else channel
        may_read = await answer_or_none(use.directory.may_read(identity, person=use.person.id))
        if action == "add" and not may_read:
            raise Refusal("channel_unknown", reason=use.cause)
        await use.desk.experts.name_experts(known.knowledge_base.id, use.place, identity, add=action == "add")
        use.audit(f"{action} experts", known)
    return await _listed(use, known)


async def _listed(use: CommandContext, known: NamedKnowledgeBase) -> Reply:
    listed = await use.desk.experts.experts({known.knowledge_base.id}, use.place)
    if not listed:
        return reply(use.say("experts_none", name=use.called(known), usage=_USAGE))
    names: list[str] = []
    for _, identity in listed:
        channel = await answer_or_none(use.directory.channel(identity))
        names.append(code(f"#{channel.name.removeprefix('#')}" if channel and channel.name else identity))
    return reply(use.say("experts_listed", name=use.called(known), channels=", ".join(names)))


COMMANDS = (
    kb_command(
        "experts",
        "Who answers what the files do not: the channels of experts",
        Option(
            name="action", description="Add or remove a channel; empty: list them", choices=("add", "remove")
        ),
        Option(name="channel", description="The channel of the experts, as #help"),
        replace(KNOWLEDGE_BASE, named=True),
        position=189,
        summary="command_kb_experts",
        execute=experts,
    ),
)
