"""Splits along a document's structure: headings, paragraphs, lists, table rows, code blocks, sentences.

A chunk guarantees:
- `searchable_text` (title, headings, text: what is embedded) is within the limit, counted by the embedder's tokenizer.
- `text` is a slice of one section, or of neighbouring sections with one anchor joined by a blank line; its anchor and
  headings hold for all of it.
- A table too long for one chunk is cut between rows; each chunk repeats the header row unless that fills a third of it.
- If an anchor numbers rows or lines ("Budget!A2:D40", "lines 10–42"), each part has its own.
- Chunks contain every non-blank character of the sections, in reading order; without `overlap_tokens` once each,
  repeated headers aside.
- `title` and `headings` are shortened only if they fill a third of the chunk.
- `id` depends only on the document's id, the chunk's position and its text.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import BadSettings
from rag_engine.splitters.structure.chunk_header import ChunkHeader, TokenCounter, frame
from rag_engine.splitters.structure.packer import pack
from rag_engine.splitters.structure.pieces import CHARACTERS_PER_TOKEN, Boundary, Piece, section_pieces
from rag_engine.splitters.structure.scraps import gathered, place
from rag_engine.text.language import detect
from rag_engine.text.table_anchors import TableLines, table_lines
from rag_engine.types import Chunk, ChunkId, Document, Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rag_engine.ports import Splitter

_LEAST_TOKENS = 32
_LONGEST_DEFAULT = 512
_SAMPLE_CHARACTERS = 2_000
_SAMPLE_SECTIONS = 32


class Settings(BaseModel):
    """The size of chunks and their overlap."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    maximum_tokens: int | None = Field(default=None, ge=_LEAST_TOKENS)
    """By default the embedder's limit, at most 512: longer passages answer no better and are slow to check."""
    overlap_tokens: int = Field(default=0, ge=0)
    """Whole sentences repeated from the previous chunk. Cuts fall between sentences and every chunk has its headings,
    so overlap would only cost embedding time and duplicate passages.
    """


def _checked_limit(settings: Settings, max_tokens: int) -> int:
    limit = min(settings.maximum_tokens or _LONGEST_DEFAULT, max_tokens)
    if limit < _LEAST_TOKENS:
        raise BadSettings(
            f"chunks of {limit} tokens are too short to be found; the least is {_LEAST_TOKENS}."
        )
    if settings.overlap_tokens > limit // 4:
        raise BadSettings(
            f"an overlap of {settings.overlap_tokens} tokens is too much for chunks of {limit}; the most is a quarter."
        )
    return limit


def build(settings: Settings, *, count_tokens: Callable[[str], int], max_tokens: int) -> Splitter:
    """Raises `BadSettings` if the limit is too small for a passage."""
    limit = _checked_limit(settings, max_tokens)
    counter = TokenCounter(count=count_tokens, overhead=count_tokens(""), limit=limit)

    def split(document: Document, sections: Iterable[Section]) -> Iterator[Chunk]:
        sample, sections = _sampled(sections)
        votes = Counter({language: 1 for language in [detect(sample)] if language})
        ordinal = 0
        scraps = gathered(
            _headed_sections(sections),
            weigh=counter.weigh,
            capacity=lambda headings: frame(document.title, headings, counter).capacity,
        )
        for (headings, anchor), group in groupby(scraps, key=place):
            above = frame(document.title, headings, counter)
            for text, kind, its_anchor in _passages(group, above, counter, settings.overlap_tokens):
                language = detect(text)
                if language:
                    votes[language] += 1
                yield Chunk(
                    id=_chunk_id(document, ordinal, text),
                    document=document.id,
                    knowledge_base=document.knowledge_base,
                    ordinal=ordinal,
                    text=text,
                    title=above.title,
                    uri=document.uri,
                    headings=above.headings,
                    anchor=its_anchor or anchor,
                    kind=kind,
                    language=language or max(votes, key=votes.__getitem__, default=""),
                )
                ordinal += 1

    return split


def _headed_sections(sections: Iterable[Section]) -> Iterator[Section]:
    """Headings alone would be found and say nothing."""
    lone: list[Section] = []
    for section in sections:
        if lone and not _is_under(section, lone[-1]):
            yield from lone
            lone.clear()
        if _is_lone_heading(section):
            lone.append(section)
            continue
        yield from (replace(heading, headings=section.headings, anchor=section.anchor) for heading in lone)
        lone.clear()
        yield section
    yield from lone


def _is_lone_heading(section: Section) -> bool:
    longest = len(section.headings[-1]) * 2 if section.headings else 0
    return 0 < len(section.text) <= longest and section.text.split() == section.headings[-1].split()


def _is_under(section: Section, heading: Section) -> bool:
    depth = len(heading.headings)
    # It starts with the name of a file within the file.
    same_place = heading.anchor == section.anchor or heading.anchor.endswith(f"§ {heading.headings[-1]}")
    return same_place and section.headings[:depth] == heading.headings


def _chunk_id(document: Document, ordinal: int, text: str) -> ChunkId:
    named = f"{document.id}\x1f{ordinal}\x1f{text}"
    return ChunkId(hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def _sampled(sections: Iterable[Section]) -> tuple[str, Iterator[Section]]:
    rest = iter(sections)
    first: list[Section] = []
    characters = 0
    for section in rest:
        first.append(section)
        characters += len(section.text)
        if characters >= _SAMPLE_CHARACTERS or len(first) == _SAMPLE_SECTIONS:
            break
    sample = "\n".join(section.text[:_SAMPLE_CHARACTERS] for section in first)[:_SAMPLE_CHARACTERS]
    return sample, chain(first, rest)


def _passages(
    group: Iterable[Section], above: ChunkHeader, counter: TokenCounter, overlap: int
) -> Iterator[tuple[str, SectionKind, str]]:
    for is_apart, sections in groupby(group, key=lambda section: _is_apart(section, above, counter)):
        if not is_apart:
            pieces = _joined(sections, above, counter)
            for text, kind, _ in _packed(pieces, "", above, counter, overlap):
                if text:
                    yield text, kind, ""
            continue
        for section in sections:
            yield from _narrowed(section, above, counter, overlap)


def _is_apart(section: Section, above: ChunkHeader, counter: TokenCounter) -> bool:
    if section.kind != "table" and table_lines(section.anchor, section.text) is None:
        return False
    return not _whole(section, above, counter)


def _narrowed(
    section: Section, above: ChunkHeader, counter: TokenCounter, overlap: int
) -> Iterator[tuple[str, SectionKind, str]]:
    lines = table_lines(section.anchor, section.text)
    head, rows = _headed(section, above, counter) if section.kind == "table" else ("", section)
    reached = 0
    for text, kind, passage in _packed(
        _row_pieces(rows, head, above, counter), head, above, counter, overlap
    ):
        start = rows.text.find(passage, reached) if overlap else reached
        anchor = _rows_anchor(lines, rows.text, start, start + len(passage), 1 if head else 0)
        reached = start + (1 if overlap else len(passage))
        if text:
            yield text, kind, anchor


def _rows_anchor(lines: TableLines | None, rows: str, start: int, end: int, above: int) -> str:
    if lines is None:
        return ""
    passage = rows[start:end]
    blank = len(passage) - len(passage.lstrip())
    first = rows.count("\n", 0, start + blank) + above
    last = first + passage.strip().count("\n")
    # The header may be one of the anchor's rows.
    return lines.anchor(first if start else 0, last)


def _whole(section: Section, above: ChunkHeader, counter: TokenCounter) -> bool:
    if len(section.text) > above.capacity * CHARACTERS_PER_TOKEN:
        return False
    return counter.count(above.header + section.text.strip()) <= counter.limit


def _joined(sections: Iterable[Section], above: ChunkHeader, counter: TokenCounter) -> Iterator[Piece]:
    for section in sections:
        if not section.text or section.text.isspace():
            continue
        boundary = Boundary.SECTION
        if section.kind == "table":
            weight = min(above.capacity, counter.weigh(section.text))
            yield Piece(text=section.text, weight=weight, boundary=boundary, kind="table")
        else:
            for piece in section_pieces(section, weigh=counter.weigh, capacity=above.capacity):
                yield piece
                boundary = Boundary.CLAUSE if piece.boundary == Boundary.CLAUSE else Boundary.SECTION
        yield Piece(text="\n\n", weight=0, boundary=boundary, kind=section.kind)


def _headed(table: Section, above: ChunkHeader, counter: TokenCounter) -> tuple[str, Section]:
    head, feed, rows = table.text.lstrip("\n").partition("\n")
    if not rows or len(head) > above.capacity * 4 or counter.weigh(head) > above.capacity // 3:
        return "", table
    return head + feed, Section(text=rows, anchor=table.anchor, headings=table.headings, kind="table")


def _row_pieces(rows: Section, head: str, above: ChunkHeader, counter: TokenCounter) -> Iterator[Piece]:
    capacity = above.capacity - (counter.weigh(head) if head else 0)
    return section_pieces(rows, weigh=counter.weigh, capacity=capacity)


def _packed(
    pieces: Iterator[Piece], head: str, above: ChunkHeader, counter: TokenCounter, overlap: int
) -> Iterator[tuple[str, SectionKind, str]]:

    def fits(passage: Sequence[Piece]) -> bool:
        return counter.count(above.header + head + _text(passage)) <= counter.limit

    capacity = above.capacity - (counter.weigh(head) if head else 0)
    for passage in pack(pieces, capacity=capacity, overlap=overlap, fits=fits, weigh=counter.weigh):
        text = _text(passage)
        kinds = {piece.kind for piece in passage if piece.weight}
        kind: SectionKind = passage[0].kind if len(kinds) == 1 else "prose"
        yield head + text if text else "", kind, "".join(piece.text for piece in passage)


def _text(passage: Sequence[Piece]) -> str:
    text = "".join(piece.text for piece in passage).rstrip()
    if passage[0].kind not in {"code", "table"}:
        return text.lstrip()
    indented = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, indented) + 1 :]
