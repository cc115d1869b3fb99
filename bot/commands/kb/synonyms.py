from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.commands.context import code, known_by_id, paged, reply
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Invalid, NameList, PlaceName
from bot.port import Option
from rag_engine.retrieval.queries.synonyms import entry_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.port import Reply

_EXAMPLE = "/kb synonyms add PTO = paid leave, vacation"


async def synonyms(use: CommandContext) -> Reply:
    action, terms = use.values.get("action", ""), use.values.get("terms", "")
    known = await use.known(use.values.get("name", ""))
    if not action and not terms:
        return await _listed(use, known, page=1)
    await use.check_administers(known)
    base = known.knowledge_base.id
    if action == "remove":
        if not await use.dependencies.synonyms.remove(base, terms):
            raise Invalid("synonym_unknown", names=code(terms), name=use.called(known))
        use.audit("remove synonyms", known)
        return reply(use.say("synonyms_removed", names=code(terms), name=use.called(known)))
    entry = entry_of(terms)
    await use.dependencies.synonyms.add(base, [entry])
    use.audit("add synonyms", known)
    return reply(use.say("synonyms_added", names=_names(use, entry), name=use.called(known)))


async def _listed(use: CommandContext, known: NamedKnowledgeBase, *, page: int) -> Reply:
    base = known.knowledge_base.id
    entries = (await use.dependencies.synonyms.read({base})).get(base, ())
    if not entries:
        return reply(use.say("synonyms_none", name=use.called(known), usage=_EXAMPLE))
    lines = [f"- {code(entry[0])} = {', '.join(map(code, entry[1:]))}" for entry in entries]
    heading = use.say("synonyms_heading", name=use.called(known))
    return paged(use, heading, lines, page=page, value=f"synonyms:{base}")


async def turn_page(use: CommandContext, identity: str, page: int) -> Reply:
    return await _listed(use, await known_by_id(use, identity), page=page)


def _names(use: CommandContext, terms: Sequence[str]) -> str:
    return NameList(tuple(PlaceName(code(term)) for term in terms), len(terms)).in_language(use.language)


COMMANDS = (
    kb_command(
        "synonyms",
        "Words that mean the same in a knowledge base: list, add or remove them",
        Option(
            name="action",
            description="Add an entry, or remove an entry or a word; empty: list them",
            choices=("add", "remove"),
        ),
        Option(name="terms", description="The words: PTO = paid leave, vacation"),
        replace(KNOWLEDGE_BASE, named=True),
        position=185,
        summary="command_kb_synonyms",
        execute=synonyms,
        turn_page=turn_page,
    ),
)
