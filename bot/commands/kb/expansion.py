from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.commands.context import code, reply
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Invalid
from bot.messages.translation import in_language
from bot.port import Option
from rag_engine.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.commands.dependencies import Show
    from bot.port import Reply, Room
    from rag_engine.types import Expansion

_KINDS: Final[Mapping[Expansion, str]] = {"summary": "summaries", "question": "questions"}
_MOST_FAILURES: Final = 10


async def expand(use: CommandContext) -> Reply:
    known = await use.known(use.values.get("name", ""))
    changes = {name: use.values[name] for name in _KINDS.values() if name in use.values}
    if not changes:
        return reply(await _state(use, known))
    await use.check_administers(known)
    base = known.knowledge_base.id
    before = {*await use.dependencies.expansions.enabled([base])}
    wanted: set[Expansion] = set()
    for kind, name in _KINDS.items():
        if changes.get(name, "on" if kind in before else "off") == "on":
            wanted.add(kind)
    if not wanted - before:
        return await _switched(use, known, wanted)
    try:
        cost = await use.dependencies.expansion_cost(base, tuple(wanted))
    except BadSettings as error:
        raise Invalid("expand_needs_model") from error

    async def confirmed(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.check_administers(known)
        return await _switched(again, known, wanted)

    tokens = cost.prompt_tokens + cost.reply_tokens
    question = use.say("expand_question", name=use.called(known), calls=cost.calls, tokens=tokens)
    return use.ask(question, label=use.say("expand_make"), confirmed=confirmed)


async def _switched(use: CommandContext, known: NamedKnowledgeBase, kinds: set[Expansion]) -> Reply:
    await use.dependencies.expansions.switch(known.knowledge_base.id, kinds)
    use.audit("expand", known)
    state = await _state(use, known)
    return reply(f"{state}\n\n{use.say('expand_started')}")


async def _state(use: CommandContext, known: NamedKnowledgeBase) -> str:
    base = known.knowledge_base.id
    enabled = await use.dependencies.expansions.enabled([base])
    counts = await use.dependencies.expansions.counts(base)
    states = {name: "on" if kind in enabled else "off" for kind, name in _KINDS.items()}
    made, failed = (sum(each) for each in zip(*counts.values(), strict=True)) if counts else (0, 0)
    lines = [use.say("expand_state", name=use.called(known), **states, made=made, failed=failed)]
    for record, one in (await use.dependencies.expansions.failures(base))[:_MOST_FAILURES]:
        place = f"{code(record.document.title)} ({one.passage + 1})"
        lines.append(f"- {use.say('fact', fact=place, value=in_language(one.failure, use.language))}")
    return "\n".join(lines)


COMMANDS = (
    kb_command(
        "expand",
        "Summaries of passages and questions they answer, to find them by: show them, or switch them",
        *(
            Option(name=name, description=f"Whether there are {name}", choices=("on", "off"))
            for name in _KINDS.values()
        ),
        replace(KNOWLEDGE_BASE, named=True),
        position=187,
        summary="command_kb_expand",
        execute=expand,
        admin=True,
    ),
)
