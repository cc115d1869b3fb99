"""What of a passage can be quoted: sentences, list items, table rows with their header cells, blocks of code. Pure.

Every word of a candidate stands in the passage, in the same order; only line breaks, bullets and cell borders are rewritten.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.types import Chunk

_LONGEST = 600
_MOST_CODE_LINES = 12
_MOST_CELLS = 8
_MOST_ITEMS = 8
_CELL_BORDER = " | "
_BULLET = re.compile(r"\s*(?:[-*+•‣–]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s*#{1,6}\s")
_RULE = re.compile(r"[\s|:\-=_*+]*")
_BLANK_LINES = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something quotable of the passage with that index (from 0); `context` is what must be known to understand it."""

    passage: int
    text: str
    context: str = ""
    is_code: bool = False


def candidates(index: int, chunk: Chunk) -> list[Candidate]:
    """The quotable parts of a passage, in reading order."""
    if chunk.kind == "code":
        return list(_code(index, chunk.text))
    found: list[Candidate] = []
    headings = {_plain(heading) for heading in chunk.headings}
    for block, is_table in _blocks(chunk.text, table=chunk.kind == "table"):
        found.extend(_rows(index, block) if is_table else _sentences(index, "\n".join(block)))
    return [candidate for candidate in found if candidate.text not in headings]


def _blocks(text: str, *, table: bool) -> Iterator[tuple[list[str], bool]]:
    """Runs of lines, and whether each is a table: two lines or more with the same number of cells."""
    run: list[str] = []
    cells = 0
    for line in text.split("\n"):
        here = line.count(_CELL_BORDER)
        if run and (here != cells) and not (table and cells and here):
            yield run, cells > 0 and (table or len(run) > 1)
            run = []
        run.append(line)
        cells = here if not (table and cells) else cells
    if run:
        yield run, cells > 0 and (table or len(run) > 1)


def _rows(index: int, lines: Sequence[str]) -> Iterator[Candidate]:
    """Each row under its header: "Item: Travel; Budget: 5,000"."""
    grid = [_cells(line) for line in lines if not _RULE.fullmatch(line)]
    if len(grid) == 1:
        yield Candidate(passage=index, text=_shortened(" ".join(filter(None, grid[0]))))
    for row in grid[1:]:
        named = [
            f"{head}: {cell}" if head and head != cell else cell
            for head, cell in zip(_padded(grid[0], len(row)), row, strict=False)
            if cell
        ]
        if named:
            yield Candidate(passage=index, text=_shortened("; ".join(named[:_MOST_CELLS])))


def _cells(line: str) -> list[str]:
    return [" ".join(cell.split()) for cell in line.strip().strip("|").split("|")]


def _padded(header: list[str], length: int) -> list[str]:
    return header + [""] * (length - len(header))


def _code(index: int, text: str) -> Iterator[Candidate]:
    for block in _BLANK_LINES.split(text):
        lines = block.strip("\n").split("\n")
        for start in range(0, len(lines), _MOST_CODE_LINES):
            kept = "\n".join(lines[start : start + _MOST_CODE_LINES])
            if kept.strip():
                yield Candidate(passage=index, text=kept, is_code=True)


def _sentences(index: int, text: str) -> Iterator[Candidate]:
    """Sentences with the one before as context; an announcement ("You need:") takes its list items along."""
    sentences = [sentence for sentence in split_sentences(text) if sentence.strip()]
    before = ""
    announcement = ""
    for position, raw in enumerate(sentences):
        if _HEADING.match(raw):
            before = announcement = " ".join(raw.strip("# \n").split())
            continue
        is_item = _BULLET.match(raw) is not None
        sentence = _plain(raw)
        if not is_item and sentence.endswith((":", "：")):
            announcement = sentence
            sentence = _with_items(sentence, sentences[position + 1 :])
        elif not is_item:
            announcement = ""
        yield Candidate(passage=index, text=_shortened(sentence), context=announcement if is_item else before)
        before = sentence


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
    """One line, without its bullet."""
    return " ".join(_BULLET.sub("", raw, count=1).split()) if _BULLET.match(raw) else " ".join(raw.split())


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    cut = text.rfind(" ", _LONGEST // 2, _LONGEST)
    return text[: cut if cut > 0 else _LONGEST] + " …"
