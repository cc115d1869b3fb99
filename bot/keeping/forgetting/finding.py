"""From what an operator names to the marks: whom, which channel or which document is meant, and what stands for it where."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot import access, documents
from bot.keeping.forgetting.marks import Channel, MarkedDocument, Marks, Person
from rag_engine.caching import hash_of
from rag_engine.errors import UnknownDocument, UnknownKnowledgeBase, UserError
from rag_engine.searchable import searchable_text
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.library import Library
    from rag_engine.storage.sqlite import Database
    from rag_engine.types import Document, Section

_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Looks in the open databases. `chat` is None where nothing ever was asked in a chat."""

    library: Library
    engine: Database
    chat: Database | None

    async def person(self, wanted: str, *, files: bool) -> Marks:
        """By platform and id (`slack:U012`), by id, or by the name that they have in a chat; with the `files` they brought."""
        people = await self._people(wanted)
        if len(people) > 1:
            raise UserError(
                f"{len(people)} people are called {wanted!r}: say which by the id ({_some(map(_called, people))})."
            )
        [person] = people
        answers = await self._answers("platform = ? AND person = ?", (person.platform, person.id))
        brought = await self._brought(answers) if files else []
        return await self._marked(
            Marks(subject=f"person {_called(person)}", people=(person,), answers=tuple(answers)), brought
        )

    async def channel(self, wanted: str) -> Marks:
        """By platform, workspace and id (`slack:T01:C012`), by platform and id, or by id; with all its threads and files."""
        known = await self._channels()
        found = [channel for channel in known if wanted in _names(channel)]
        if not found:
            raise UserError(
                f"Nothing is kept of a channel {wanted!r}; there are: {_some(_names(one)[0] for one in known)}."
            )
        if len(found) > 1:
            raise UserError(
                f"There are several channels {wanted!r}: {_some(_names(one)[0] for one in found)}."
            )
        [channel] = found
        place = (channel.platform, channel.workspace, channel.channel)
        where = "platform = ? AND workspace = ? AND channel = ?"
        answers = await self._answers(where, place)
        rows = await self._asked(f"SELECT knowledge_base FROM audiences WHERE {where}", place)  # noqa: S608 - our own words
        bases = [KnowledgeBaseId(base) for (base,) in rows]
        records = [record for base in bases for record in await self.library.catalog.records(base)]
        subject = f"channel {_names(channel)[0]}"
        marks = Marks(
            subject=subject, channels=(channel,), answers=tuple(answers), knowledge_bases=tuple(bases)
        )
        return await self._marked(marks, [record.document for record in records])

    async def document(self, name: str, wanted: str) -> Marks:
        """By its title, its id or the beginning of that, or one of its URIs, in the knowledge base of that name.

        One that was removed from there before is known by its title or id as long as an answer is kept that was made from it.
        """
        try:
            base = access.find(await self.library.catalog.knowledge_bases(), name)
            record = await self.library.catalog.find(base.id, uri=wanted)
            if record is None:
                records = await self.library.catalog.records(base.id)
                record = documents.find(records, wanted, base=base.name, show=f"footnote kb show {base.name}")
        except (UnknownKnowledgeBase, UnknownDocument):
            gone = await self._gone(wanted)
            if not gone:
                raise
            marked = tuple(MarkedDocument(document=document) for document in gone)
            return await self.again(
                Marks(subject=f"document {wanted}, which was removed before", documents=marked)
            )
        document = record.document
        return await self._marked(Marks(subject=f"document {document.title} of {base.name}"), [document])

    async def _gone(self, wanted: str) -> list[DocumentId]:
        """The documents of that title or id that answers were made from, and that no knowledge base has any more."""
        rows = await self.engine.fetch("SELECT details FROM traces WHERE instr(details, ?)", (wanted,))
        found: dict[DocumentId, None] = {}
        for (details,) in rows:
            told = json.loads(details)
            for passage in [*told.get("citations", ()), *told.get("passages", ())]:
                if wanted in (passage.get("title"), passage.get("document"), passage.get("uri")):
                    found[DocumentId(passage.get("document", ""))] = None
        rows = await self.engine.fetch(
            "SELECT id FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(found)),),
        )
        there = {identity for (identity,) in rows}
        return [document for document in found if document and document not in there]

    async def _people(self, wanted: str) -> list[Person]:
        platform, _, identity = wanted.partition(":")
        rows = await self._asked(
            "SELECT DISTINCT platform, person FROM answers WHERE person = ? OR (platform = ? AND person = ?) "
            "UNION SELECT DISTINCT platform, feedback.person FROM feedback JOIN answers ON answers.id = answer "
            "WHERE feedback.person = ?",
            (wanted, platform, identity, wanted),
        )
        if not rows:
            named = await self._asked("SELECT DISTINCT platform, person, name FROM answers WHERE name <> ''")
            rows = [(one, person) for one, person, name in named if name.casefold() == wanted.casefold()]
        if not rows:
            raise UserError(
                f"Nothing is kept of a person {wanted!r}: give the id that the platform shows in the profile, or the name."
            )
        return [Person(platform=one, id=person) for one, person in dict.fromkeys(rows)]

    async def _channels(self) -> list[Channel]:
        tables = ("answers", "taken_files", "place_settings", "bindings", "audiences")
        selects = " UNION ".join(f"SELECT platform, workspace, channel FROM {table}" for table in tables)  # noqa: S608
        rows = await self._asked(f"SELECT * FROM ({selects}) WHERE channel <> '' ORDER BY 1, 2, 3")  # noqa: S608
        return [
            Channel(platform=platform, workspace=workspace, channel=name)
            for platform, workspace, name in rows
        ]

    async def _answers(self, where: str, parameters: tuple[object, ...]) -> list[str]:
        rows = await self._asked(f"SELECT id FROM answers WHERE {where}", parameters)  # noqa: S608 - our own words
        return [identity for (identity,) in rows]

    async def _brought(self, answers: Sequence[str]) -> list[Document]:
        """The documents of files that came with these questions."""
        rows = await self._asked(
            "SELECT DISTINCT taken_files.knowledge_base, document FROM taken_files JOIN answers ON answers.id = answer "
            "AND answers.message = taken_files.message WHERE document <> '' AND answer IN (SELECT value FROM json_each(?))",
            (json.dumps(list(answers)),),
        )
        wanted = {DocumentId(document) for _, document in rows}
        bases = dict.fromkeys(KnowledgeBaseId(base) for base, _ in rows)
        records = [record for base in bases for record in await self.library.catalog.records(base)]
        return [record.document for record in records if record.document.id in wanted]

    async def _marked(self, marks: Marks, found: Iterable[Document]) -> Marks:
        """With the documents, and the answers that were made from them."""
        marked = [await self._document(document) for document in found]
        return await self.again(marks.model_copy(update={"documents": tuple(marked)}))

    async def again(self, marks: Marks) -> Marks:
        """With the answers that were made from the documents, as far as there are any by now."""
        rows = await self.engine.fetch(
            "SELECT turn FROM traces WHERE EXISTS (SELECT 1 FROM json_each(?) WHERE instr(details, value))",
            (json.dumps([document.document for document in marks.documents]),),
        )
        kept = await self._asked(
            "SELECT turn FROM answers WHERE turn <> '' AND id IN (SELECT value FROM json_each(?))",
            (json.dumps(marks.answers),),
        )
        turns = dict.fromkeys([*marks.turns, *(turn for (turn,) in rows), *(turn for (turn,) in kept)])
        return marks.model_copy(update={"turns": tuple(turns)})

    async def under_way(self, marks: Marks) -> list[str]:
        """The answers that are being written as far as anybody knows: of those marked, or any where documents go."""
        rows = await self._asked(
            "SELECT id FROM answers WHERE state IN ('received', 'placeholder', 'streaming') "
            "AND (? OR id IN (SELECT value FROM json_each(?)))",
            (bool(marks.documents), json.dumps(marks.answers)),
        )
        return [identity for (identity,) in rows]

    async def _document(self, document: Document) -> MarkedDocument:
        sections = await self.library.catalog.sections(document.id)
        vectors = await asyncio.to_thread(self._hashes, document, sections)
        return MarkedDocument(
            knowledge_base=document.knowledge_base,
            document=document.id,
            uris=tuple(await self.library.catalog.sources(document.id)),
            vectors=tuple(vectors),
        )

    def _hashes(self, document: Document, sections: Sequence[Section]) -> list[str]:
        """Under what the vectors of its passages are cached."""
        return [hash_of(searchable_text(chunk)).hex() for chunk in self.library.splitter(document, sections)]

    async def _asked(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[str, ...]]:
        return await self.chat.fetch(sql, parameters) if self.chat is not None else []


def _called(person: Person) -> str:
    return f"{person.platform}:{person.id}"


def _names(channel: Channel) -> list[str]:
    """What it may be called, the fullest first."""
    return [
        f"{channel.platform}:{channel.workspace}:{channel.channel}",
        f"{channel.platform}:{channel.channel}",
        channel.channel,
    ]


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more if listed else "none yet"
