from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from rag_engine.ingestion.stated_properties import properties_section
from rag_engine.types import Document, DocumentId, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.store.channel_sources import ChannelSource, DueDocument, TalkMessage

MEDIA_TYPE: Final = "text/x-messages"
_SECTION_CHARACTERS: Final = 600
_TITLE_CHARACTERS: Final = 60
_MOST_AUTHORS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkDocument:
    """`links` by anchor: the permalink of the first message of each section."""

    document: Document
    sections: tuple[Section, ...]
    links: dict[str, str]


def talk_document(source: ChannelSource, due: DueDocument, messages: Sequence[TalkMessage]) -> TalkDocument:
    sections: list[Section] = []
    links: dict[str, str] = {}
    for group in _groups(messages):
        anchor = _anchor(group[0].at, links, with_day=due.document.startswith("thread:"))
        links[anchor] = group[0].uri
        sections.append(Section(text="\n\n".join(map(_line, group)), anchor=anchor))
    title = _title(source, due, messages)
    content = "\x1f".join((title, *(f"{each.anchor}\x1e{each.text}" for each in sections)))
    document = Document(
        id=DocumentId(hashlib.sha256(f"talk\x1f{source.id}\x1f{due.uri}".encode()).hexdigest()[:32]),
        knowledge_base=source.knowledge_base,
        title=title,
        uri=due.uri,
        media_type=MEDIA_TYPE,
        digest=hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest(),
        size=len(content.encode("utf-8", "surrogatepass")),
    )
    return TalkDocument(document=document, sections=(*sections, _properties(messages)), links=links)


def _groups(messages: Sequence[TalkMessage]) -> Iterator[list[TalkMessage]]:
    """From the beginning, so that later messages leave earlier passages alone."""
    group: list[TalkMessage] = []
    size = 0
    for message in messages:
        if group and size + len(message.text) > _SECTION_CHARACTERS:
            yield group
            group, size = [], 0
        group.append(message)
        size += len(message.text)
    if group:
        yield group


def _line(message: TalkMessage) -> str:
    return f"{message.name or message.person}: {message.text}"


def _anchor(at: float, taken: dict[str, str], *, with_day: bool) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    anchor = moment.strftime("%Y-%m-%d %H:%M UTC" if with_day else "%H:%M UTC")
    number, numbered = 1, anchor
    while numbered in taken:
        number += 1
        numbered = f"{anchor} ({number})"
    return numbered


def _title(source: ChannelSource, due: DueDocument, messages: Sequence[TalkMessage]) -> str:
    kind, _, name = due.document.partition(":")
    if kind == "thread":
        name = " ".join(messages[0].text.split())
        name = name if len(name) <= _TITLE_CHARACTERS else f"{name[:_TITLE_CHARACTERS].rstrip()}…"
    return f"#{source.name.removeprefix('#')} · {name}"


def _properties(messages: Sequence[TalkMessage]) -> Section:
    authors = tuple(dict.fromkeys(each.name for each in messages if each.name))[:_MOST_AUTHORS]
    first, last = (
        datetime.fromtimestamp(each.at, UTC).date().isoformat() for each in (messages[0], messages[-1])
    )
    return properties_section({"author": authors, "created": (first,), "modified": (last,)})
