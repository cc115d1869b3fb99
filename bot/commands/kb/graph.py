from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.commands.context import reply
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.port import Option

if TYPE_CHECKING:
    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.commands.dependencies import Show
    from bot.port import Reply, Room
    from rag_engine.graph.types import GraphSource


async def graph(use: CommandContext) -> Reply:
    known = await use.known(use.values.get("name", ""))
    action = use.values.get("action", "status")
    if action == "status":
        return reply(await _state(use, known))
    await use.check_administers(known)
    if action == "off":
        return await _switched(use, known, None)
    base = known.knowledge_base.id
    cost = await use.dependencies.graph_cost(base)
    if cost is None or await use.dependencies.graph.source(base) == "model":
        return await _switched(use, known, "rules" if cost is None else "model")

    async def confirmed(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.check_administers(known)
        return await _switched(again, known, "model")

    tokens = cost.prompt_tokens + cost.reply_tokens
    question = use.say("graph_question", name=use.called(known), calls=cost.calls, tokens=tokens)
    return use.ask(question, label=use.say("graph_build"), confirmed=confirmed)


async def _switched(use: CommandContext, known: NamedKnowledgeBase, source: GraphSource | None) -> Reply:
    await use.dependencies.graph.switch(known.knowledge_base.id, source)
    use.audit("graph", known)
    state = await _state(use, known)
    return reply(f"{state}\n\n{use.say('graph_started')}" if source else state)


async def _state(use: CommandContext, known: NamedKnowledgeBase) -> str:
    base = known.knowledge_base.id
    counts = await use.dependencies.graph.counts(base)
    return use.say(
        "graph_state",
        name=use.called(known),
        state="on" if await use.dependencies.graph.source(base) else "off",
        passages=counts.passages,
        entities=counts.entities,
        waiting=counts.waiting,
        failed=counts.failed,
    )


COMMANDS = (
    kb_command(
        "graph",
        "Names and terms that files share, to find passages by one another: show the graph, or switch it",
        Option(name="action", description="Empty: how far it is", choices=("on", "off", "status")),
        replace(KNOWLEDGE_BASE, named=True),
        position=188,
        summary="command_kb_graph",
        execute=graph,
        admin=True,
    ),
)
