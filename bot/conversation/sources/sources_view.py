"""Permissions are checked again: passages since removed, unbound or closed are not shown."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from bot.conversation.dependencies import FollowedReply
from bot.conversation.sources import excerpts
from bot.conversation.sources.asked_pictures import pictured
from bot.conversation.sources.excerpts import Passage
from bot.conversation.sources.readable_records import readable_record
from bot.messages import language_of, say
from bot.port import Button, File, Reply
from bot.rendering.literal import literal
from rag_engine.agent.tool import is_tool_result
from rag_engine.errors import RagError
from rag_engine.parsing.media_types import shown
from rag_engine.text.place_names import place_in_language
from rag_engine.types import Blob
from rag_engine.web.addresses import is_outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.conversation.dependencies import AudienceLookup
    from bot.files.originals import Originals
    from bot.port import Action, Citation, Room
    from bot.store.turns import ChatTurn
    from rag_engine.ingestion.ingestion import DocumentCatalog
    from rag_engine.parsing.pool import PagePicture
    from rag_engine.types import DocumentRecord, KnowledgeBaseId

BUTTON: Final = "sources"
AT_ONCE: Final = 6
_MOST_PICTURES: Final = 3
_MOST_BYTES: Final = 8 << 20
"""For all pictures; Discord allows 10 MiB."""
_PICTURES_SECONDS: Final = 30.0
_PAGE: Final = re.compile(r"p\. ?(\d{1,6})")
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_WEB: Final = re.compile(r"https?://[^\s<>]+")

_log = logging.getLogger(__name__)


class Draw(Protocol):
    async def __call__(
        self, blob: Blob, *, page: int, quotes: Sequence[str], figure: bool
    ) -> PagePicture: ...


class FindFigure(Protocol):
    async def __call__(self, blob: Blob, *, anchor: str, quotes: Sequence[str]) -> PagePicture | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    citation: Citation
    record: DocumentRecord | None = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesView:
    """Without `draw` there are no pictures; `figure` finds those of other files than PDFs."""

    audiences: AudienceLookup
    catalog: DocumentCatalog
    originals: Originals
    draw: Draw | None = None
    figure: FindFigure | None = None

    async def show(self, turn: ChatTurn, action: Action, room: Room) -> FollowedReply:
        """The value can be forged: it only selects the page."""
        language = language_of("", action.person)
        citations = list(dict.fromkeys(turn.citations))
        parts = max(1, -(-len(citations) // AT_ONCE))
        part = _part(action.value, parts)
        scope = await self.audiences.scope(turn.place, room.directory, person=action.person)
        wanted = citations[(part - 1) * AT_ONCE : part * AT_ONCE]
        checked = [await self._checked(citation, scope.knowledge_bases) for citation in wanted]
        reply = Reply(
            text="\n\n".join(_entry(one, language) for one in checked),
            notices=tuple(
                say(notice, language, reason=scope.reason_in(language)) for notice in scope.notices
            ),
            buttons=_buttons(turn, part, parts, language),
            links=frozenset(address for one in checked if (address := _address(one))),
        )
        return FollowedReply(reply=reply, files=partial(self._pictures, checked, language))

    async def pictures(self, turn: ChatTurn, room: Room, language: str) -> tuple[File, ...]:
        person = turn.person if turn.private else None
        scope = await self.audiences.scope(turn.place, room.directory, person=person)
        wanted = list(dict.fromkeys(pictured(turn.question, turn.citations)))[:AT_ONCE]
        checked = [await self._checked(citation, scope.knowledge_bases) for citation in wanted]
        return await self._pictures(checked, language, figures=True)

    async def _checked(self, citation: Citation, knowledge_bases: frozenset[KnowledgeBaseId]) -> _Checked:
        if _is_outside(citation):
            return _Checked(citation=citation)
        record = await readable_record(self.catalog, citation.document, knowledge_bases)
        if record is None:
            return _Checked(citation=citation)
        if is_tool_result(citation.chunk):
            return _Checked(citation=citation, record=record, passage=_quoted(citation))
        sections = await self.catalog.sections(citation.document)
        passage = await asyncio.to_thread(excerpts.find, citation.quote, citation.anchor, sections)
        return _Checked(citation=citation, record=record, passage=passage)

    async def _pictures(
        self, checked: Sequence[_Checked], language: str, *, figures: bool = False
    ) -> tuple[File, ...]:
        places: dict[tuple[str, str], list[_Checked]] = {}
        for one in checked:
            if one.record is not None and one.passage is not None:
                place = (one.record.document.digest, one.citation.anchor)
                places.setdefault(place, []).append(one)
        files: list[File] = []
        try:
            async with asyncio.timeout(_PICTURES_SECONDS):
                for same in places.values():
                    if len(files) == _MOST_PICTURES:
                        break
                    file = await self._picture(same, language, figure=figures)
                    known = [(each.name, each.content) for each in files]
                    if file is None or (file.name, file.content) in known:
                        continue
                    if sum(len(each.content) for each in (*files, file)) <= _MOST_BYTES:
                        files.append(file)
        except TimeoutError:
            _log.warning("pictures of pages took too long and were left out")
        return tuple(files)

    async def _picture(self, same: Sequence[_Checked], language: str, *, figure: bool) -> File | None:
        record, anchor = same[0].record, same[0].citation.anchor
        path = None
        if record is not None:
            path = await asyncio.to_thread(self.originals.path, record.document.digest)
        if path is None or record is None:
            return None
        document = record.document
        blob = Blob(
            name=document.title,
            media_type=document.media_type,
            path=path,
            digest=document.digest,
            size=document.size,
            uri=document.uri,
        )
        quotes = list(dict.fromkeys(one.passage.quote for one in same if one.passage))
        try:
            if path.suffix == ".pdf":
                return await self._page(blob, anchor, quotes, language, figure=figure)
            return await self._figure(blob, anchor, quotes, language) if figure else None
        except RagError as error:
            _log.warning("a picture of a file of %d bytes could not be drawn: %s", document.size, error)
            return None

    async def _page(
        self, blob: Blob, anchor: str, quotes: Sequence[str], language: str, *, figure: bool
    ) -> File | None:
        number = _PAGE.fullmatch(anchor)
        if self.draw is None or number is None:
            return None
        page = int(number[1])
        picture = await self.draw(blob, page=page, quotes=quotes, figure=figure)
        sentence = "page_marked" if picture.marked else "page_shown"
        return File(
            name=f"page-{page}.png",
            media_type="image/png",
            content=picture.content,
            description=say(sentence, language, page=page, name=shown(blob.name)),
        )

    async def _figure(self, blob: Blob, anchor: str, quotes: Sequence[str], language: str) -> File | None:
        picture = None
        if self.figure is not None:
            picture = await self.figure(blob, anchor=anchor, quotes=quotes)
        if picture is None:
            return None
        place = place_in_language(anchor, language)
        return File(
            name=f"figure-{blob.digest[:8]}.png",
            media_type="image/png",
            content=picture.content,
            description=say("figure_shown", language, place=place, name=shown(blob.name)),
        )


def turns_page(value: str) -> bool:
    return bool(_NUMBER.fullmatch(value.partition(":")[2]))


def _part(value: str, parts: int) -> int:
    wanted = value.partition(":")[2]
    return min(max(int(wanted), 1), parts) if _NUMBER.fullmatch(wanted) else 1


def _entry(one: _Checked, language: str) -> str:
    citation = one.citation
    if _is_outside(citation):
        return _outside_entry(one, language)
    if one.record is None:
        return f"**[{citation.number}]** {say('source_gone', language)}"
    title = literal(shown(one.record.document.title))
    heading = f"**[{citation.number}]** {title}" + (
        f", {literal(place_in_language(citation.anchor, language))}" if citation.anchor else ""
    )
    if address := _address(one):
        heading += f" · [{say('source_open', language)}](<{address}>)"
    if one.passage is not None:
        return f"{heading}\n\n{one.passage.markdown()}"
    return f"{heading}\n\n{say('source_changed', language)}" if citation.quote.strip() else heading


def _is_outside(citation: Citation) -> bool:
    return is_outside(citation.document) or is_tool_result(citation.document)


def _quoted(citation: Citation) -> Passage:
    return Passage(before="", quote=citation.quote, after="")


def _outside_entry(one: _Checked, language: str) -> str:
    citation = one.citation
    named = filter(None, (literal(shown(citation.title)), literal(citation.anchor)))
    heading = f"**[{citation.number}]** {', '.join(named)}"
    if address := _address(one):
        heading += f" · [{say('source_open', language)}](<{address}>)"
    return f"{heading}\n\n{_quoted(citation).markdown()}"


def _address(one: _Checked) -> str:
    if _is_outside(one.citation):
        return one.citation.uri if _WEB.fullmatch(one.citation.uri) else ""
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
