"""What stands behind an answer, for one person to check: the quoted passages in their context, and pictures of their pages.

Who may read them is asked anew: what was removed, unbound or closed since the answer is not shown.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from bot import passages
from bot.passages import literal
from bot.port import Button, File, Reply
from bot.sentences import language_of, say
from rag_engine.errors import RagError
from rag_engine.media_types import shown
from rag_engine.types import Blob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.files.originals import Originals
    from bot.passages import Passage
    from bot.port import Action, Citation, Room
    from bot.serving import Audiences
    from bot.turns import ChatTurn
    from rag_engine.ingestion import Shelves
    from rag_engine.parsing import PagePicture
    from rag_engine.types import DocumentRecord, KnowledgeBaseId

BUTTON: Final = "sources"
AT_ONCE: Final = 6
"""Citations that are shown together."""
_MOST_PICTURES: Final = 3
_MOST_BYTES: Final = 8 << 20
"""Of all pictures together; Discord takes 10 MiB."""
_PICTURES_SECONDS: Final = 30.0
_PAGE: Final = re.compile(r"p\. ?(\d{1,6})")
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_WEB: Final = re.compile(r"https?://[^\s<>]+")

_log = logging.getLogger(__name__)


class Draw(Protocol):
    """`ParserPool.picture`: a page of a PDF with quotes marked."""

    async def __call__(self, blob: Blob, *, page: int, quotes: Sequence[str]) -> PagePicture: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """A citation as it is now: `record` is None when nobody here may read it any more, `passage` when it is not found."""

    citation: Citation
    record: DocumentRecord | None = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """Shows the passages behind answers; `draw` is None where no pictures are shown."""

    audiences: Audiences
    catalog: Shelves
    originals: Originals
    draw: Draw | None = None

    async def passages_of(self, turn: ChatTurn, action: Action, room: Room) -> Reply:
        """What the person who pressed the button may read now of what the answer cites; the reply is for them alone.

        The value of the button, which anybody can make up, says no more than which part of the list is wanted.
        """
        language = language_of("", action.person)
        citations = list(dict.fromkeys(turn.citations))
        parts = max(1, -(-len(citations) // AT_ONCE))
        part = _part(action.value, parts)
        # Only this person reads it: that they may read a passage is enough, and is necessary.
        scope = await self.audiences.scope(turn.place, room.directory, person=action.person)
        wanted = citations[(part - 1) * AT_ONCE : part * AT_ONCE]
        checked = [await self._checked(citation, scope.knowledge_bases) for citation in wanted]
        return Reply(
            text="\n\n".join(_entry(one, language) for one in checked),
            notices=tuple(say(notice, language) for notice in scope.notices),
            buttons=_buttons(turn, part, parts, language),
            files=await self._pictures(checked, language),
            links=frozenset(address for one in checked if (address := _address(one))),
        )

    async def _checked(self, citation: Citation, knowledge_bases: frozenset[KnowledgeBaseId]) -> _Checked:
        record = await self._record(citation, knowledge_bases)
        if record is None:
            return _Checked(citation=citation)
        sections = await self.catalog.sections(citation.document)
        passage = await asyncio.to_thread(passages.find, citation.quote, citation.anchor, sections)
        return _Checked(citation=citation, record=record, passage=passage)

    async def _record(
        self, citation: Citation, knowledge_bases: frozenset[KnowledgeBaseId]
    ) -> DocumentRecord | None:
        """The document that is cited, if it is in one of the knowledge bases and can be searched."""
        uris = await self.catalog.sources(citation.document)
        for knowledge_base in knowledge_bases if uris else ():
            record = await self.catalog.find(knowledge_base, uri=uris[0])
            if record is not None and record.document.id == citation.document and record.chunks:
                return record
        return None

    async def _pictures(self, checked: Sequence[_Checked], language: str) -> tuple[File, ...]:
        """The pages on which the passages stand, a few at most. One that cannot be drawn is left out, and the log says why."""
        if self.draw is None:
            return ()
        pages: dict[tuple[str, int], list[_Checked]] = {}
        for one in checked:
            number = _PAGE.fullmatch(one.citation.anchor)
            if one.record is not None and one.passage is not None and number is not None:
                pages.setdefault((one.record.document.digest, int(number[1])), []).append(one)
        files: list[File] = []
        try:
            async with asyncio.timeout(_PICTURES_SECONDS):
                for (digest, number), same in list(pages.items())[:_MOST_PICTURES]:
                    file = await self._picture(digest, number, same, language)
                    if file and sum(len(each.content) for each in (*files, file)) <= _MOST_BYTES:
                        files.append(file)
        except TimeoutError:
            _log.warning("pictures of pages took too long and were left out")
        return tuple(files)

    async def _picture(self, digest: str, page: int, same: Sequence[_Checked], language: str) -> File | None:
        record, draw = same[0].record, self.draw
        path = await asyncio.to_thread(self.originals.path, digest)
        if path is None or record is None or draw is None:
            return None
        document = record.document
        blob = Blob(
            name=document.title,
            media_type=document.media_type,
            path=path,
            digest=digest,
            size=document.size,
            uri=document.uri,
        )
        quotes = list(dict.fromkeys(one.passage.quote for one in same if one.passage))
        try:
            picture = await draw(blob, page=page, quotes=quotes)
        except RagError as error:
            _log.warning("page %d of a PDF of %d bytes could not be drawn: %s", page, document.size, error)
            return None
        sentence = "page_marked" if picture.marked else "page_shown"
        return File(
            name=f"page-{page}.png",
            media_type="image/png",
            content=picture.content,
            description=say(sentence, language, page=page, name=shown(document.title)),
        )


def turns_page(value: str) -> bool:
    """Whether a button of that value stands under the passages themselves, and not under an answer."""
    return bool(_NUMBER.fullmatch(value.partition(":")[2]))


def _part(value: str, parts: int) -> int:
    wanted = value.partition(":")[2]
    return min(max(int(wanted), 1), parts) if _NUMBER.fullmatch(wanted) else 1


def _entry(one: _Checked, language: str) -> str:
    """One citation: its number, file and place, and the passage, or why it is not shown."""
    citation = one.citation
    if one.record is None:
        return f"**[{citation.number}]** {say('source_gone', language)}"
    title = literal(shown(one.record.document.title))
    heading = f"**[{citation.number}]** {title}" + (
        f", {literal(citation.anchor)}" if citation.anchor else ""
    )
    if address := _address(one):
        heading += f" · [{say('source_open', language)}](<{address}>)"
    if one.passage is not None:
        return f"{heading}\n\n{one.passage.markdown()}"
    return f"{heading}\n\n{say('source_changed', language)}" if citation.quote.strip() else heading


def _address(one: _Checked) -> str:
    """Where the file is found again, if a browser opens that."""
    uri = one.record.document.uri if one.record is not None else ""
    return uri if _WEB.fullmatch(uri) else ""


def _buttons(turn: ChatTurn, part: int, parts: int, language: str) -> tuple[Button, ...]:
    buttons: list[Button] = []
    if part > 1:
        buttons.append(
            Button(name=BUTTON, label=say("sources_back", language), value=f"{turn.id}:{part - 1}")
        )
    if part < parts:
        buttons.append(
            Button(name=BUTTON, label=say("sources_more", language), value=f"{turn.id}:{part + 1}")
        )
    return tuple(buttons)
