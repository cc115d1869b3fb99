from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.access.permissions import answer_or_none
from bot.commands.context import known_by_id, reply
from bot.commands.specs import REQUIRED_KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Invalid, NoSuchKnowledgeBase, Refusal
from bot.port import Option

if TYPE_CHECKING:
    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.commands.dependencies import Show
    from bot.messages.names import Sentence
    from bot.port import Reply, Room

_PRIVATE_KINDS = ("direct", "group")


async def create(use: CommandContext) -> Reply:
    label, everyone = use.values["name"], use.values.get("readers") == "workspace"
    access = use.dependencies.access
    await access.check(use.person, use.place, use.directory, act="administer")
    searched = not everyone or await _all_may_read_for_all(use)
    base = await use.dependencies.audiences.create(use.place, label, everyone=everyone)
    if searched:
        await use.dependencies.places.bind(use.place, base.id)
    known = await known_by_id(use, base.id)
    use.audit("create", known)
    created: Sentence = "base_created"
    if everyone:
        created = use.sentence_here("base_created_for_all" if searched else "base_created_unsearched")
    return reply(use.say(created, name=use.called(known)))


async def _all_may_read_for_all(use: CommandContext) -> bool:
    channel = await use.channel()
    if channel.kind in _PRIVATE_KINDS or channel.external:
        raise Refusal(use.sentence_here("base_for_all_elsewhere"))
    await use.dependencies.access.check_administers(use.person, use.place, use.directory)
    members = await answer_or_none(use.directory.are_members(everyone_in=use.place.channel))
    if members is None:
        raise Refusal("channel_unknown", reason=use.cause)
    return members


async def bind(use: CommandContext) -> Reply:
    await use.dependencies.access.check(use.person, use.place, use.directory, act="administer")
    try:
        known = await use.known(use.values["name"])
    except NoSuchKnowledgeBase as absent:
        if hints := await use.hints_on_access():
            return reply("\n\n".join((absent.in_language(use.language), *hints)))
        raise
    name = use.called(known)
    if known.audience and not known.audience.label and known.audience.place in (use.place, use.place.parent):
        return reply(use.say("binding_needless", name=name))
    if known.audience is None:
        await use.dependencies.access.check_administers(use.person, use.place, use.directory)
    channel = await use.channel()
    if channel.kind == "direct" and known.seen and not known.bound:
        return reply(use.say("binding_needless_direct", name=name))
    of_here = known.audience is not None and known.audience.place == use.place.parent
    if not of_here and channel.external:
        raise Refusal("binding_external")
    await _check_all_may_read(use, known)
    new = await use.dependencies.places.bind(use.place, known.knowledge_base.id)
    use.audit("bind", known)
    return reply(use.say("bound" if new else "bound_already", name=name))


async def _check_all_may_read(use: CommandContext, known: NamedKnowledgeBase) -> None:
    verdict = await use.dependencies.audiences.everyone_may_read(
        known.knowledge_base.id, use.place, use.directory, use.person
    )
    if verdict == "unknown":
        raise Refusal("channel_unknown", reason=use.cause)
    if verdict == "closed":
        raise Refusal("binding_not_for_all", name=use.called(known))


async def unbind(use: CommandContext) -> Reply:
    """Asks first if it is the last."""
    await use.dependencies.access.check(use.person, use.place, use.directory, act="administer")
    known = await use.known(use.values["name"])
    if not known.bound:
        raise Invalid(_not_bound(known), name=use.called(known))
    scope = await use.dependencies.audiences.scope(use.place, use.directory)
    if scope.knowledge_bases - {known.knowledge_base.id}:
        return await _unbound(use, known)

    async def confirmed(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.dependencies.access.check(again.person, again.place, again.directory, act="administer")
        return await _unbound(again, known)

    question = use.say("unbind_question", name=use.called(known))
    return use.ask(question, label=use.say("unbind"), confirmed=confirmed)


async def _unbound(use: CommandContext, known: NamedKnowledgeBase) -> Reply:
    await use.dependencies.places.unbind(use.place, known.knowledge_base.id)
    use.audit("unbind", known)
    return reply(use.say("unbound", name=use.called(known)))


def _not_bound(known: NamedKnowledgeBase) -> Sentence:
    if not known.seen:
        return "unbind_unbound"
    return "unbind_everywhere" if known.audience is None else "unbind_own"


COMMANDS = (
    kb_command(
        "create",
        "Make a knowledge base, and use it here",
        Option(name="name", description="What it is called", required=True),
        Option(
            name="readers",
            description="Who may read it: everyone in this channel, or the whole workspace",
            choices=("channel", "workspace"),
        ),
        position=120,
        summary="command_kb_create",
        execute=create,
        admin=True,
    ),
    kb_command(
        "bind",
        "Let questions in this channel look in a knowledge base",
        REQUIRED_KNOWLEDGE_BASE,
        position=130,
        summary="command_kb_bind",
        execute=bind,
        admin=True,
    ),
    kb_command(
        "unbind",
        "Let questions in this channel look in it no longer",
        REQUIRED_KNOWLEDGE_BASE,
        position=140,
        summary="command_kb_unbind",
        execute=unbind,
        admin=True,
    ),
)
