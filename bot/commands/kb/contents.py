from __future__ import annotations

import asyncio
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.access import document_lookup
from bot.access.permissions import answer_or_none
from bot.commands.context import code, reply
from bot.commands.kb.source import add_source
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Invalid
from bot.port import ChatError, File, Option, Reply
from rag_engine.errors import UnknownKnowledgeBase, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.commands.dependencies import Show
    from bot.port import Attachment, Room
    from rag_engine.types import DocumentRecord, KnowledgeBaseId

EXPORT_BYTES = 8 << 20
"""Discord accepts 10 MiB."""
_EXPORT_CHUNKS = 8_000
_FETCH_SECONDS = 30.0
_CHAT = re.compile(
    r"https?://(?:[\w-]+\.)*(?:slack|slack-gov|discord|discordapp)\.com(?:[:/]|\Z)", re.IGNORECASE
)
_FILE_NAME = re.compile(r"[^\w.-]+")


async def add(use: CommandContext) -> Reply:
    target = await _to_add_to(use)
    link = use.values.get("link", "")
    found = await _linked(use, link) if link else ()
    if found is None:
        return await _page(use, link)
    attachments = [*use.attachments, *found]
    if not attachments:
        raise Invalid("add_what")
    use.audit("add")
    return await use.dependencies.receive(
        attachments,
        place=use.place,
        person=use.person,
        knowledge_base=target,
        show=use.show,
        language=use.language,
    )


async def _to_add_to(use: CommandContext) -> KnowledgeBaseId:
    label = use.values.get("name", "")
    if label:
        known = await use.known(label)
        own_here = known.audience and not known.audience.label and known.audience.place == use.place
        if not own_here:
            await use.check_administers(known)
            return known.knowledge_base.id
    await use.dependencies.access.check(use.person, use.place, use.directory, act="add")
    return (await use.dependencies.audiences.own(use.place)).id


async def _page(use: CommandContext, link: str) -> Reply:
    known = await use.known(use.values.get("name", ""))
    await use.check_administers(known)
    return await add_source(use, known, link)


async def _linked(use: CommandContext, link: str) -> Sequence[Attachment] | None:
    try:
        async with asyncio.timeout(_FETCH_SECONDS):
            message = await use.room.fetch(link)
    except (ChatError, TimeoutError) as error:
        raise Invalid(use.sentence_here("message_unreadable")) from error
    if message is None:
        if use.dependencies.sources is not None and not _CHAT.match(link):
            return None
        raise Invalid(use.sentence_here("message_unreadable"))
    here, there = use.place, message.place
    if (here.platform, here.workspace) != (there.platform, there.workspace):
        raise Invalid(use.sentence_here("message_unreadable"))
    if here.channel != there.channel and not await answer_or_none(
        use.directory.may_read(there.channel, person=use.person.id)
    ):
        raise Invalid(use.sentence_here("message_unreadable"))
    if not message.attachments:
        raise Invalid("message_without_files")
    return message.attachments


async def remove(use: CommandContext) -> Reply:
    known, reference = await _to_remove(use)
    await use.check_administers(known)
    records = await use.dependencies.library.records(known.knowledge_base.id)
    record = _document(use, records, reference, known) if reference else None
    documents = use.say("documents", count=len(records))
    values = {"name": use.called(known), "documents": documents}
    if record is not None:
        values = {"name": use.called(known), "title": code(record.document.title)}

    async def confirmed(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.check_administers(known)
        done = await again.dependencies.forget(
            known.knowledge_base.id, record.document.id if record else None
        )
        if record is None:
            await again.dependencies.places.forget(known.knowledge_base.id)
        again.audit("remove document" if record else "remove", known)
        removed = use.say("document_removed" if record else "base_removed", **values)
        return reply(removed if done else f"{removed} {use.say('removed_later')}")

    question = use.say("remove_document_question" if record else "remove_base_question", **values)
    return use.ask(question, label=use.say("remove"), confirmed=confirmed)


async def _to_remove(use: CommandContext) -> tuple[NamedKnowledgeBase, str]:
    name, document = use.values.get("name", ""), use.values.get("document", "")
    if not name and not document:
        raise Invalid("remove_what")
    try:
        return await use.known(name), document
    except UnknownKnowledgeBase:
        if name and document:
            return await use.known(f"{name} {document}"), ""
        own = await _own_with(use, name)
        if own is None:
            raise
        return own, name


async def _own_with(use: CommandContext, title: str) -> NamedKnowledgeBase | None:
    try:
        own = await use.known("")
        _document(use, await use.dependencies.library.records(own.knowledge_base.id), title, own)
    except UserError:
        return None
    return own


async def reindex(use: CommandContext) -> Reply:
    known = await use.known(use.values.get("name", ""))
    await use.check_administers(known)
    records = await use.dependencies.library.records(known.knowledge_base.id)

    async def confirmed(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.check_administers(known)
        done = 0

        def progress(record: DocumentRecord) -> None:
            nonlocal done
            done += 1
            show(Reply(status=use.say("reindex_progress", number=done, count=len(records))))

        show(Reply(status=use.say("reindexing", count=len(records))))
        again.audit("reindex", known)
        number = await again.dependencies.reindex(known.knowledge_base, progress)
        return reply(use.say("reindexed", count=number, name=use.called(known)))

    question = use.say("reindex_question", count=len(records), name=use.called(known))
    return use.ask(question, label=use.say("reindex"), confirmed=confirmed)


async def export(use: CommandContext) -> Reply:
    known = await use.known(use.values.get("name", ""))
    await use.check_administers(known)
    records = await use.dependencies.library.records(known.knowledge_base.id)
    if sum(record.chunks for record in records) > _EXPORT_CHUNKS:
        return reply(_too_large(use, known))
    use.show(Reply(status=use.say("exporting")))
    use.audit("export", known)
    with tempfile.TemporaryDirectory(prefix="footnote-export-") as folder:
        path = Path(folder) / "export.zip"
        contents = await use.dependencies.export(known.knowledge_base, path)
        if (await asyncio.to_thread(path.stat)).st_size > EXPORT_BYTES:
            return reply(_too_large(use, known))
        content = await asyncio.to_thread(path.read_bytes)
    name = _FILE_NAME.sub("-", known.name.in_language(use.language)).strip("-.") or "knowledge-base"
    text = use.say(
        "exported",
        name=use.called(known),
        documents=use.say("documents", count=contents.documents),
        passages=use.say("passages", count=contents.chunks),
    )
    if contents.left_out:
        text += f" {use.say('exported_partly', count=len(contents.left_out))}"
    file = File(
        name=f"{name}.zip",
        media_type="application/zip",
        content=content,
        description=use.say("export_described"),
    )
    return replace(reply(text), files=(file,))


def _too_large(use: CommandContext, known: NamedKnowledgeBase) -> str:
    command = f'footnote kb export "{known.knowledge_base.name}" FILE.zip'
    return use.say("export_too_large", name=use.called(known), most=EXPORT_BYTES >> 20, command=command)


def _document(
    use: CommandContext, records: Sequence[DocumentRecord], reference: str, known: NamedKnowledgeBase
) -> DocumentRecord:
    return document_lookup.find(records, reference, base=use.called(known), show="/kb show", quoted=code)


COMMANDS = (
    kb_command(
        "add",
        "Add a file, the files of a message, or a web page, to a knowledge base",
        Option(name="file", description="The file to add", kind="file"),
        Option(name="link", description="A link to a message that has files, or to a web page"),
        KNOWLEDGE_BASE,
        position=150,
        summary="command_kb_add",
        execute=add,
    ),
    kb_command(
        "remove",
        "Remove a document, or a whole knowledge base",
        KNOWLEDGE_BASE,
        Option(name="document", description="The document: its title or id; empty: all of them"),
        position=160,
        summary="command_kb_remove",
        execute=remove,
        admin=True,
    ),
    kb_command(
        "reindex",
        "Split and embed all documents again",
        KNOWLEDGE_BASE,
        position=170,
        summary="command_kb_reindex",
        execute=reindex,
        admin=True,
    ),
    kb_command(
        "export",
        "A knowledge base as one zip file",
        KNOWLEDGE_BASE,
        position=200,
        summary="command_kb_export",
        execute=export,
        admin=True,
    ),
)
