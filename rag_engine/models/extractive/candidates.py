"""Sentences, list items, table rows with header cells, code blocks. Only line breaks, bullets and cell borders change."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine.models.extractive.table_rows import NamedCell, named_cells, row_text, split_row
from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.sentences import split_sentences
from rag_engine.text.table_anchors import table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.types import Chunk

_LONGEST = 600
_LONGEST_ROW = 4_000
_MOST_CODE_LINES = 12
_MOST_ITEMS = 8
_CELL_BORDER = " | "
_BULLET = lazy(lambda: re.compile(r"\s*(?:[-*+•‣–]|\d{1,3}[.)])\s+"))
_HEADING = lazy(lambda: re.compile(r"\s*#{1,6}\s"))
_RULE = lazy(lambda: re.compile(r"[\s|:\-=_*+]*"))
_AMOUNT = lazy(lambda: re.compile(r"[-+(]?\D{0,3}\d{1,3}(?:[,.'’\u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?\D{0,3}"))
_NUMBERED = lazy(lambda: re.compile(r"(?:\d{1,2}\.){1,4}\d{1,2}\.?[ \t]"))
_NAME = lazy(
    lambda: re.compile(
        r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?[ \t]+)?[^\W\d_a-zß-öø-ÿа-я][^\d:;.!?…。！？：；|=<>@\n]{1,79}"
    )
)
_MOST_HEADING_WORDS = 9
_ASKING_ENDS, _CLOSERS = ("?", "？", "؟"), " \"'”’»)]」』*_"
_BLANK_LINES = lazy(lambda: re.compile(r"\n\s*\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """`passage` counts from 0; `context` is needed to understand it; table rows have `cells`."""

    passage: int
    text: str
    context: str = ""
    is_code: bool = False
    cells: tuple[NamedCell, ...] = ()
    is_heading: bool = False
    """Not recognised as a heading when the file was read."""


def quotable(found: Sequence[Sequence[Candidate]], chunks: Sequence[Chunk]) -> list[Candidate]:
    said = {
        chunk.document
        for chunk, of_chunk in zip(chunks, found, strict=True)
        if any(not each.is_heading for each in of_chunk)
    }
    return [
        each
        for chunk, of_chunk in zip(chunks, found, strict=True)
        for each in of_chunk
        if not (each.is_heading and chunk.document in said)
    ]


def candidates(index: int, chunk: Chunk) -> list[Candidate]:
    if chunk.kind == "code":
        return list(_code(index, chunk.text))
    found: list[Candidate] = []
    headings = {_plain(heading) for heading in chunk.headings}
    lines = table_lines(chunk.anchor, chunk.text) if chunk.kind == "table" else None
    headed = lines is None or lines.header_lines > 0
    blocks = list(_blocks(chunk.text, table=chunk.kind == "table"))
    for number, (block, is_table) in enumerate(blocks):
        if is_table:
            found.extend(_rows(index, block, headed=headed))
        else:
            above_table = number + 1 < len(blocks)
            text = "".join(f"{line}\n" for line in block) if above_table else "\n".join(block)
            found.extend(_sentences(index, text, above_table=above_table))
    found = [candidate for candidate in found if candidate.text not in headings]
    return (
        [replace(found[0], is_heading=_names(found[0].text))]
        if len(found) == 1 and not found[0].cells
        else found
    )


def _blocks(text: str, *, table: bool) -> Iterator[tuple[list[str], bool]]:
    if table:
        for block in _BLANK_LINES.split(text):
            yield block.strip("\n").split("\n"), _CELL_BORDER in block
        return
    run: list[str] = []
    cells = 0
    for line in text.split("\n"):
        here = line.count(_CELL_BORDER)
        if run and here != cells:
            yield run, cells > 0 and len(run) > 1
            run = []
        run.append(line)
        cells = here
    if run:
        yield run, cells > 0 and len(run) > 1


def _rows(index: int, lines: Sequence[str], *, headed: bool = True) -> Iterator[Candidate]:
    grid = [split_row(line) for line in lines if not _RULE.fullmatch(line)]
    header = grid[0] if headed and len(grid) > 1 and not any(map(_AMOUNT.fullmatch, grid[0])) else []
    for row in grid[1:] if header else grid:
        cells = named_cells(header, row)
        if cells:
            text = row_text(cells) if header else " | ".join(cell.text for cell in cells)
            yield Candidate(passage=index, text=_shortened(text, _LONGEST_ROW), cells=cells)


def _code(index: int, text: str) -> Iterator[Candidate]:
    for block in _BLANK_LINES.split(text):
        lines = block.strip("\n").split("\n")
        for start in range(0, len(lines), _MOST_CODE_LINES):
            kept = "\n".join(lines[start : start + _MOST_CODE_LINES])
            if kept.strip():
                yield Candidate(passage=index, text=kept, is_code=True)


def _sentences(index: int, text: str, *, above_table: bool = False) -> Iterator[Candidate]:
    sentences = [sentence for sentence in split_sentences(text) if sentence.strip()]
    before = ""
    announcement = ""
    for position, raw in enumerate(sentences):
        if _HEADING.match(raw):
            before = announcement = " ".join(raw.strip("# \n").split())
            continue
        is_item = _BULLET.match(raw) is not None
        sentence = _plain(raw)
        if sentence.rstrip(_CLOSERS).endswith(_ASKING_ENDS):
            before = sentence
            continue
        if not is_item and _is_heading(sentences, position, above_table=above_table):
            yield Candidate(passage=index, text=sentence, context=before, is_heading=True)
            before, announcement = sentence, ""
            continue
        if not is_item and sentence.endswith((":", "：")):
            announcement = sentence
            sentence = _with_items(sentence, sentences[position + 1 :])
        elif not is_item:
            announcement = ""
        yield Candidate(passage=index, text=_shortened(sentence), context=announcement if is_item else before)
        before = sentence


def _is_heading(sentences: Sequence[str], position: int, *, above_table: bool) -> bool:
    raw = sentences[position]
    above = sentences[position - 1] if position else "\n\n"
    if above_table and position + 1 == len(sentences):
        return above.endswith("\n") and _names(raw.strip())
    below = sentences[position + 1] if position + 1 < len(sentences) else ""
    if not (below and above.endswith("\n") and raw.endswith("\n") and _names(raw.strip())):
        return False
    if _NUMBERED.match(raw.strip()):
        return True
    is_alone = _ends_paragraph(above) and _ends_paragraph(raw)
    if not is_alone or _BULLET.match(below):
        return False
    return not _names(below.strip()) or bool(_NUMBERED.match(below.strip()))


def _ends_paragraph(raw: str) -> bool:
    return raw[len(raw.rstrip()) :].count("\n") > 1


def _names(line: str) -> bool:
    return len(line.split()) <= _MOST_HEADING_WORDS and _NAME.fullmatch(line) is not None


def _with_items(announcement: str, following: Sequence[str]) -> str:
    items: list[str] = []
    length = len(announcement)
    for raw in following[:_MOST_ITEMS]:
        item = _plain(raw)
        length += len(item) + 2
        if not _BULLET.match(raw) or length > _LONGEST:
            break
        items.append(item)
    return f"{announcement} {'; '.join(items)}".rstrip()


def _plain(raw: str) -> str:
    bullet = _BULLET.match(raw)
    return " ".join((raw[bullet.end() :] if bullet else raw).split())


def _shortened(text: str, longest: int = _LONGEST) -> str:
    if len(text) <= longest:
        return text
    cut = text.rfind(" ", longest // 2, longest)
    return text[: cut if cut > 0 else longest] + " …"


def quoted_cells(candidate: Candidate, cells: Sequence[NamedCell]) -> Candidate:
    return replace(candidate, text=_shortened(row_text(cells)))
