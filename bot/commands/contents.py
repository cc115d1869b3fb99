"""`/kb add`, `remove`, `reindex`, `export`: what is in a knowledge base."""

from __future__ import annotations

import asyncio
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot import documents
from bot.access import told
from bot.commands.using import code, count, reply
from bot.port import ChatError, File, Reply
from rag_engine.errors import UnknownKnowledgeBase, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.audience import Known
    from bot.commands.desk import Show
    from bot.commands.using import Use
    from bot.port import Attachment, Room
    from rag_engine.types import DocumentRecord, KnowledgeBaseId

EXPORT_BYTES = 8 << 20
"""The largest zip that is sent into a chat; Discord takes 10 MiB."""
_EXPORT_CHUNKS = 8_000
_FETCH_SECONDS = 30.0
_FILE_NAME = re.compile(r"[^\w.-]+")
_NO_SUCH_MESSAGE = (
    "I cannot read that message, or you cannot: copy the link of a message in this workspace that has files."
)


async def add(use: Use) -> Reply:
    """The files of the command, or of the message that a link leads to."""
    target = await _to_add_to(use)
    link = use.values.get("link", "")
    attachments = [*use.attachments, *(await _linked(use, link) if link else ())]
    if not attachments:
        raise UserError(
            "Say which files: attach one to the command where the platform lets you, or give the link to a message that has files."
        )
    use.audit("add")
    return await use.desk.receive(
        attachments, place=use.place, person=use.person, knowledge_base=target, show=use.show
    )


async def _to_add_to(use: Use) -> KnowledgeBaseId:
    label = use.values.get("name", "")
    if label:
        known = await use.known(label)
        own_here = known.audience and not known.audience.label and known.audience.place == use.place
        if not own_here:
            await use.check_administers(known)
            return known.knowledge_base.id
    await use.desk.access.check(use.person, use.place, use.directory, act="add")
    return (await use.desk.audiences.own(use.place)).id


async def _linked(use: Use, link: str) -> Sequence[Attachment]:
    """The files of a message that the person can read: that the bot can is not enough."""
    try:
        async with asyncio.timeout(_FETCH_SECONDS):
            message = await use.room.fetch(link)
    except (ChatError, TimeoutError) as error:
        raise UserError(_NO_SUCH_MESSAGE) from error
    if message is None:
        raise UserError(_NO_SUCH_MESSAGE)
    here, there = use.place, message.place
    if (here.platform, here.workspace) != (there.platform, there.workspace):
        raise UserError(_NO_SUCH_MESSAGE)
    if here.channel != there.channel and not await told(
        use.directory.may_read(there.channel, person=use.person.id)
    ):
        raise UserError(_NO_SUCH_MESSAGE)
    if not message.attachments:
        raise UserError("That message has no files.")
    return message.attachments


async def remove(use: Use) -> Reply:
    """A document, or all of a knowledge base; asks first."""
    known, wanted = await _to_remove(use)
    await use.check_administers(known)
    records = await use.desk.library.records(known.knowledge_base.id)
    record = _document(records, wanted, known) if wanted else None
    if record is not None:
        what = f"{code(record.document.title)} from {code(known.name)}"
    else:
        what = f"the knowledge base {code(known.name)} with {count(len(records), 'document')}"

    async def carry(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.check_administers(known)
        done = await again.desk.forget(known.knowledge_base.id, record.document.id if record else None)
        if record is None:
            await again.desk.places.forget(known.knowledge_base.id)
        again.audit("remove document" if record else "remove", known)
        later = " The index does not answer: no question finds it any more, and it is gone when the index is back."
        return reply(f"Removed {what}.{'' if done else later}")

    return use.ask(f"Remove {what}? It cannot be undone.", label="Remove", carry=carry)


async def _to_remove(use: Use) -> tuple[Known, str]:
    """The knowledge base and the document that are meant: one word may be either, and a name may be two words."""
    name, document = use.values.get("name", ""), use.values.get("document", "")
    if not name and not document:
        raise UserError(
            "Say what to remove: `/kb remove NAME`, `/kb remove NAME DOCUMENT`, or a document of this place's own."
        )
    try:
        return await use.known(name), document
    except UnknownKnowledgeBase:
        if name and document:
            return await use.known(f"{name} {document}"), ""
        own = await _own_with(use, name)
        if own is None:
            raise
        return own, name


async def _own_with(use: Use, title: str) -> Known | None:
    """This place's own knowledge base, if it has such a document."""
    try:
        own = await use.known("")
        _document(await use.desk.library.records(own.knowledge_base.id), title, own)
    except UserError:
        return None
    return own


async def reindex(use: Use) -> Reply:
    """Split and embed everything in it again; asks first, for it takes a while."""
    known = await use.known(use.values.get("name", ""))
    await use.check_administers(known)
    records = await use.desk.library.records(known.knowledge_base.id)

    async def carry(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.check_administers(known)
        done = 0

        def progress(record: DocumentRecord) -> None:
            nonlocal done
            done += 1
            show(Reply(status=f"{done} of {count(len(records), 'document')} done…"))

        show(Reply(status=f"Splitting and embedding {count(len(records), 'document')} again…"))
        again.audit("reindex", known)
        number = await again.desk.reindex(known.knowledge_base, progress)
        return reply(f"{count(number, 'document')} of {code(known.name)} split and embedded again.")

    question = (
        f"Split and embed {count(len(records), 'document')} of {code(known.name)} again? It can take a while; "
        "questions are answered meanwhile."
    )
    return use.ask(question, label="Reindex", carry=carry)


async def export(use: Use) -> Reply:
    """The zip of a knowledge base, when it is small enough for a chat."""
    known = await use.known(use.values.get("name", ""))
    await use.check_administers(known)
    records = await use.desk.library.records(known.knowledge_base.id)
    if sum(record.chunks for record in records) > _EXPORT_CHUNKS:
        return reply(_too_large(known))
    use.show(Reply(status="Writing the zip file…"))
    use.audit("export", known)
    with tempfile.TemporaryDirectory(prefix="footnote-export-") as folder:
        path = Path(folder) / "export.zip"
        contents = await use.desk.export(known.knowledge_base, path)
        if (await asyncio.to_thread(path.stat)).st_size > EXPORT_BYTES:
            return reply(_too_large(known))
        content = await asyncio.to_thread(path.read_bytes)
    name = _FILE_NAME.sub("-", known.name).strip("-.") or "knowledge-base"
    text = f"{code(known.name)}: {count(contents.documents, 'document')} with {count(contents.chunks, 'passage')}."
    if contents.left_out:
        text += f" {count(len(contents.left_out), 'document')} still being read, so not in it."
    file = File(
        name=f"{name}.zip",
        media_type="application/zip",
        content=content,
        description="An export that `footnote kb import` reads",
    )
    return replace(reply(text), files=(file,))


def _too_large(known: Known) -> str:
    return (
        f"{code(known.name)} is larger than the {EXPORT_BYTES >> 20} MiB that I send into a chat. Whoever runs me can export it with "
        f'`footnote kb export "{known.knowledge_base.name}" FILE.zip`.'
    )


def _document(records: Sequence[DocumentRecord], wanted: str, known: Known) -> DocumentRecord:
    return documents.find(records, wanted, base=code(known.name), show="/kb show", quoted=code)
