from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.commands.context import code, known_by_id, paged, reply
from bot.commands.dependencies import MODEL_SEPARATOR, QUOTING
from bot.commands.kb.source import source_lines
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.translation import in_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.messages.names import Sentence
    from bot.port import Reply
    from rag_engine.types import DocumentRecord

_WAITING = ("queued", "parsing", "embedding")
_MOST_FAILED = 10
_FACTS: Mapping[str, Sentence] = {
    "index": "fact_index",
    "embedder": "fact_embedder",
    "language model": "fact_model",
}


async def list_all(use: CommandContext, *, page: int = 1) -> Reply:
    known = await use.readable()
    notes = await use.hints_on_access()
    if not known:
        text = "bases_unchecked" if use.failures else "bases_none"
        return reply("\n\n".join((use.say(text, reason=use.cause.in_language(use.language)), *notes)))
    lines = [await _base_line(use, one) for one in known]
    if use.failures:
        notes.append(use.say("bases_left_out", reason=use.cause.in_language(use.language)))
    shown = paged(use, use.say("bases_heading"), lines, page=page, value="list")
    return replace(shown, text="\n\n".join((shown.text, *notes)))


async def list_page(use: CommandContext, subject: str, page: int) -> Reply:
    return await list_all(use, page=page)


async def show(use: CommandContext) -> Reply:
    return await _contents(use, await use.known(use.values.get("name", "")), page=1)


async def show_page(use: CommandContext, subject: str, page: int) -> Reply:
    return await _contents(use, await known_by_id(use, subject), page=page)


async def status(use: CommandContext) -> Reply:
    facts = (await use.dependencies.facts()).items()
    lines = [
        f"- {use.say('fact', fact=_fact(use, name), value=_fact_value(use, name, value))}"
        for name, value in facts
    ]
    bases = await use.readable(others=())
    records = [(known, record) for known in bases for record in await _records(use, known)]
    ready = sum(record.state == "ready" for _, record in records)
    waiting = sum(record.state in _WAITING for _, record in records)
    failed = [(known, record) for known, record in records if record.state == "failed"]
    searched = use.say(
        "status_searched",
        bases=use.say("bases", count=len(bases)),
        documents=use.say("documents", count=ready),
    )
    lines.append(f"- {searched}")
    lines.append(f"- {use.say('status_waiting', files=use.say('files', count=waiting))}")
    lines.append(f"- {use.say('status_failed', files=use.say('files', count=len(failed)))}")
    lines += [f"  - {_failure(use, known, record)}" for known, record in failed[:_MOST_FAILED]]
    if len(failed) > _MOST_FAILED:
        lines.append(f"  - {use.say('status_more', count=len(failed) - _MOST_FAILED)}")
    return reply("\n".join(lines))


async def _records(use: CommandContext, known: NamedKnowledgeBase) -> Sequence[DocumentRecord]:
    return await use.dependencies.library.records(known.knowledge_base.id)


def _fact(use: CommandContext, name: str) -> str:
    return use.say(_FACTS[name]) if name in _FACTS else name


def _fact_value(use: CommandContext, name: str, value: str) -> str:
    if name != "language model":
        return value
    models = value.split(MODEL_SEPARATOR)
    if models == [QUOTING]:
        return use.say("fact_no_model")
    return MODEL_SEPARATOR.join(use.say("fact_quotes") if model == QUOTING else model for model in models)


def _failure(use: CommandContext, known: NamedKnowledgeBase, record: DocumentRecord) -> str:
    title, reason = code(record.document.title), in_language(record.reason, use.language)
    return use.say("status_failure", title=title, name=use.called(known), reason=reason)


async def _base_line(use: CommandContext, known: NamedKnowledgeBase) -> str:
    records = await _records(use, known)
    ready = sum(record.state == "ready" for record in records)
    failed = sum(record.state == "failed" for record in records)
    parts = [
        use.say("documents", count=ready),
        *([use.say("documents_failed", count=failed)] if failed else []),
        *(use.say(name) for name in _usage(use, known)),
    ]
    text = parts[0]
    for part in parts[1:]:
        text = use.say("list_comma", names=text, last=part)
    return f"- {use.say('fact', fact=use.called(known), value=text)}"


def _usage(use: CommandContext, known: NamedKnowledgeBase) -> list[Sentence]:
    names: list[Sentence] = []
    if known.audience is None:
        names.append("made_by_operator")
    elif known.audience.everyone:
        names.append(use.sentence_here("read_by_workspace"))
    if known.seen:
        names.append("searched_here")
    else:
        names.append("searched_privately" if known.seen_privately else "not_searched")
    return names


async def _contents(use: CommandContext, known: NamedKnowledgeBase, *, page: int) -> Reply:
    records = await _records(use, known)
    sources = await source_lines(use, known)
    if not records:
        return reply("\n".join((use.say("base_empty", name=use.called(known)), *sources)))
    heading = use.say("base_contents", count=len(records), name=use.called(known))
    if sources:
        heading = "\n".join((use.say("synced_heading", name=use.called(known)), *sources, "", heading))
    lines = [f"- {_document(use, record)}" for record in records]
    return paged(use, heading, lines, page=page, value=f"show:{known.knowledge_base.id}")


def _document(use: CommandContext, record: DocumentRecord) -> str:
    title, reason = code(record.document.title), in_language(record.reason, use.language)
    if record.state == "failed":
        return use.say("document_failed", title=title, reason=reason)
    if record.state != "ready":
        line = use.say("document_reading", title=title)
    else:
        passages = use.say("passages", count=record.chunks)
        line = use.say("fact", fact=title, value=passages)
        if record.pages:
            pages = use.say("pages", count=record.pages)
            line = use.say("document_ready_pages", title=title, passages=passages, pages=pages)
    return use.say("sentences_joined", first=line, second=reason) if reason else line


COMMANDS = (
    kb_command(
        "list",
        "The knowledge bases that you can use here",
        position=100,
        summary="command_kb_list",
        execute=list_all,
        turn_page=list_page,
    ),
    kb_command(
        "show",
        "The documents of a knowledge base",
        KNOWLEDGE_BASE,
        position=110,
        summary="command_kb_show",
        execute=show,
        turn_page=show_page,
    ),
    kb_command(
        "status",
        "Index, models, and files that wait or failed",
        position=180,
        summary="command_kb_status",
        execute=status,
    ),
)
