from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.access import document_lookup, permissions
from bot.maintenance.erasure import rules, tainted_turns
from bot.maintenance.erasure.marks import ErasedChannel, ErasedDocument, ErasedPerson, ErasureMarks
from rag_engine.errors import UnknownDocument, UnknownKnowledgeBase, UserError
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import DocumentId, KnowledgeBaseId
from rag_engine.wrappers.cached_embedder import hash_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.composition.components import IndexingComponents
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import Document, Section

_SHOWN = 6
_DISTINCTIVE_CHARACTERS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFinder:
    """`chat` is None without a chat."""

    library: IndexingComponents
    engine: Database
    chat: Database | None

    async def person(self, reference: str, *, files: bool) -> ErasureMarks:
        """By `slack:U012`, id, or name; `files`: also those of their questions."""
        people = await self._people(reference)
        if len(people) > 1:
            raise UserError(
                f"{len(people)} people are called {reference!r}: say which by the id ({_some(map(_called, people))})."
            )
        [person] = people
        answers = await self._answers_of_person(person)
        documents = [*(await self._files_of(person) if files else []), *await self._talk_of(person)]
        return await self._marked(
            ErasureMarks(subject=f"person {_called(person)}", people=(person,), answers=tuple(answers)),
            documents,
        )

    async def channel(self, reference: str) -> ErasureMarks:
        """By `slack:T01:C012`, `slack:C012` or id; with threads and files."""
        known = await self._channels()
        found = [channel for channel in known if reference in _names(channel)]
        if not found:
            raise UserError(
                f"Nothing is stored of a channel {reference!r}; there are: {_some(_names(one)[0] for one in known)}."
            )
        if len(found) > 1:
            raise UserError(
                f"There are several channels {reference!r}: {_some(_names(one)[0] for one in found)}."
            )
        [channel] = found
        place = (channel.platform, channel.workspace, channel.channel)
        where = "platform = ? AND workspace = ? AND channel = ?"
        answers = await self._answers_of_channel(channel)
        rows = await self._fetch(f"SELECT knowledge_base FROM audiences WHERE {where}", place)  # noqa: S608
        bases = [KnowledgeBaseId(base) for (base,) in rows]
        records = [record for base in bases for record in await self.library.catalog.records(base)]
        subject = f"channel {_names(channel)[0]}"
        marks = ErasureMarks(
            subject=subject, channels=(channel,), answers=tuple(answers), knowledge_bases=tuple(bases)
        )
        return await self._marked(marks, [record.document for record in records])

    async def document(self, name: str, reference: str) -> ErasureMarks:
        """By title, id, its beginning, or URI; also a removed one with a stored answer."""
        try:
            base = permissions.find(await self.library.catalog.knowledge_bases(), name)
            record = await self.library.catalog.find(base.id, uri=reference)
            if record is None:
                records = await self.library.catalog.records(base.id)
                record = document_lookup.find(
                    records, reference, base=base.name, show=f"footnote kb show {base.name}"
                )
        except (UnknownKnowledgeBase, UnknownDocument):
            removed = await self._removed(reference)
            if not removed:
                raise
            marked = tuple(ErasedDocument(document=document) for document in removed)
            subject = f"document {reference}, which was removed before"
            names = (reference,) if _is_distinctive(reference) else ()
            return await self.with_answers(ErasureMarks(subject=subject, documents=marked, file_names=names))
        document = record.document
        return await self._marked(
            ErasureMarks(subject=f"document {document.title} of {base.name}"), [document]
        )

    async def _removed(self, reference: str) -> list[DocumentId]:
        rows = await self.engine.fetch("SELECT details FROM traces WHERE instr(details, ?)", (reference,))
        found: dict[DocumentId, None] = {}
        for (details,) in rows:
            trace = json.loads(details)
            for passage in [*trace.get("citations", ()), *trace.get("passages", ())]:
                if reference in (passage.get("title"), passage.get("document"), passage.get("uri")):
                    found[DocumentId(passage.get("document", ""))] = None
        rows = await self.engine.fetch(
            "SELECT id FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(found)),),
        )
        existing = {identity for (identity,) in rows}
        return [document for document in found if document and document not in existing]

    async def _people(self, reference: str) -> list[ErasedPerson]:
        platform, _, identity = reference.partition(":")
        rows = await self._fetch(
            "SELECT DISTINCT platform, person FROM answers WHERE person = ? OR (platform = ? AND person = ?) "
            "UNION SELECT DISTINCT platform, feedback.person FROM feedback JOIN answers ON answers.id = answer "
            "WHERE feedback.person = ? "
            "UNION SELECT DISTINCT platform, person FROM channel_messages JOIN channel_sources "
            "ON channel_sources.id = source WHERE person = ? OR (platform = ? AND person = ?)",
            (reference, platform, identity, reference, reference, platform, identity),
        )
        if not rows:
            named = await self._fetch("SELECT DISTINCT platform, person, name FROM answers WHERE name <> ''")
            rows = [(one, person) for one, person, name in named if name.casefold() == reference.casefold()]
        if not rows:
            raise UserError(
                f"Nothing is stored of a person {reference!r}: give the id that the platform shows in the profile, or the name."
            )
        return [ErasedPerson(platform=one, id=person) for one, person in dict.fromkeys(rows)]

    async def _channels(self) -> list[ErasedChannel]:
        tables = ("answers", "taken_files", "place_settings", "bindings", "audiences", "channel_sources")
        selects = " UNION ".join(f"SELECT platform, workspace, channel FROM {table}" for table in tables)  # noqa: S608
        rows = await self._fetch(f"SELECT * FROM ({selects}) WHERE channel <> '' ORDER BY 1, 2, 3")  # noqa: S608
        return [
            ErasedChannel(platform=platform, workspace=workspace, channel=name)
            for platform, workspace, name in rows
        ]

    async def _answers_of_person(self, person: ErasedPerson) -> list[str]:
        by = (person.platform, person.id)
        return await self._answers(f"platform = ? AND person = ? OR {rules.written_by('about')}", (*by, *by))

    async def _answers_of_channel(self, channel: ErasedChannel) -> list[str]:
        place = (channel.platform, channel.workspace, channel.channel)
        return await self._answers("platform = ? AND workspace = ? AND channel = ?", place)

    async def _answers(self, where: str, parameters: tuple[object, ...]) -> list[str]:
        rows = await self._fetch(f"SELECT id FROM answers WHERE {where}", parameters)  # noqa: S608
        return [identity for (identity,) in rows]

    async def _files_of(self, person: ErasedPerson) -> list[Document]:
        by = (person.platform, person.id)
        rows = await self._fetch(
            f"SELECT DISTINCT knowledge_base, document, source FROM taken_files WHERE {rules.FILES_OF}",  # noqa: S608
            (*by, *by),
        )
        keys = {key for row in rows for key in row[1:] if key}
        bases = dict.fromkeys(KnowledgeBaseId(base) for base, *_ in rows if base)
        records = [record for base in bases for record in await self.library.catalog.records(base)]
        return [one.document for one in records if keys & {one.document.id, one.document.uri}]

    async def _talk_of(self, person: ErasedPerson) -> list[Document]:
        rows = await self._fetch(
            "SELECT DISTINCT knowledge_base, channel_documents.uri FROM channel_messages JOIN channel_documents USING (source, document) "  # noqa: S608
            f"JOIN channel_sources ON channel_sources.id = source WHERE {rules.TALK_OF} "
            "UNION SELECT knowledge_base, uri FROM channel_files JOIN channel_sources ON channel_sources.id = source "
            f"WHERE {rules.TALK_OF}",
            2 * (person.platform, person.id),
        )
        found = [await self.library.catalog.find(KnowledgeBaseId(base), uri=uri) for base, uri in rows]
        return [record.document for record in found if record is not None]

    async def _marked(self, marks: ErasureMarks, found: Iterable[Document]) -> ErasureMarks:
        listed = list(found)
        names = [document.title for document in listed if _is_distinctive(document.title)]
        update = {
            "documents": tuple([await self._document(document) for document in listed]),
            "file_names": tuple(dict.fromkeys(names)),
        }
        return await self.with_answers(marks.model_copy(update=update))

    async def renewed(self, marks: ErasureMarks) -> ErasureMarks:
        answers = list(marks.answers)
        for person in marks.people:
            answers += await self._answers_of_person(person)
        for channel in marks.channels:
            answers += await self._answers_of_channel(channel)
        update = {"answers": tuple(dict.fromkeys(answers))}
        return await self.with_answers(marks.model_copy(update=update))

    async def with_answers(self, marks: ErasureMarks) -> ErasureMarks:
        rows = await self.engine.fetch(
            "SELECT turn FROM traces WHERE EXISTS (SELECT 1 FROM json_each(?) WHERE instr(details, value))",
            (json.dumps(rules.names(marks), ensure_ascii=False),),
        )
        stored = await self._fetch(
            "SELECT turn FROM answers WHERE turn <> '' AND id IN (SELECT value FROM json_each(?))",
            (json.dumps(marks.answers),),
        )
        own = [*marks.turns, *(turn for (turn,) in rows), *(turn for (turn,) in stored)]
        turns = await tainted_turns.find(self.engine, marks, own)
        return marks.model_copy(update={"turns": tuple(turns)})

    async def unfinished_answers(self, marks: ErasureMarks) -> list[str]:
        """All, but for a channel only its own."""
        rows = await self._fetch(
            "SELECT id FROM answers WHERE state IN ('received', 'placeholder', 'streaming') "
            "AND (? OR id IN (SELECT value FROM json_each(?)))",
            (bool(marks.documents or marks.people), json.dumps(marks.answers)),
        )
        return [identity for (identity,) in rows]

    async def events_under_way(self, marks: ErasureMarks) -> list[str]:
        """That name the people or channels."""
        named = [(each.platform, each.id) for each in marks.people]
        named += [(each.platform, each.channel) for each in marks.channels]
        sql = "SELECT platform || ':' || event FROM inbox WHERE platform = ? AND instr(payload, ?)"
        return [event for key in named for (event,) in await self._fetch(sql, key)]

    async def _document(self, document: Document) -> ErasedDocument:
        sections = await self.library.catalog.sections(document.id)
        vectors = await asyncio.to_thread(self._hashes, document, sections)
        return ErasedDocument(
            knowledge_base=document.knowledge_base,
            document=document.id,
            uris=tuple(await self.library.catalog.sources(document.id)),
            vectors=tuple(vectors),
        )

    def _hashes(self, document: Document, sections: Sequence[Section]) -> list[str]:
        return [hash_of(searchable_text(chunk)).hex() for chunk in self.library.splitter(document, sections)]

    async def _fetch(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[str, ...]]:
        return await self.chat.fetch(sql, parameters) if self.chat is not None else []


def _is_distinctive(title: str) -> bool:
    return len(title) >= _DISTINCTIVE_CHARACTERS and not title.isalpha()


def _called(person: ErasedPerson) -> str:
    return f"{person.platform}:{person.id}"


def _names(channel: ErasedChannel) -> list[str]:
    return [
        f"{channel.platform}:{channel.workspace}:{channel.channel}",
        f"{channel.platform}:{channel.channel}",
        channel.channel,
    ]


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more if listed else "none yet"
