"""Facts of the files of `../shared/docs` with their places, looked up with other programs.

Pages are those of pdftotext, cells and headings those of the XML inside office files, slides in the presentation's
order, lines as `sed` counts them. An anchor is right if it names the same page, slide or heading; for rows, lines and
cells a range around the place with no more rows than the chunk has lines.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.types import Document, DocumentId, KnowledgeBaseId
from tests.documents.corpus import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag_engine.ports import Splitter
    from rag_engine.types import Chunk
    from tests.documents.corpus import Reading

_ANCHORS: Final = Path(__file__).with_name("anchors.jsonl")
_CELLS: Final = re.compile(
    r"(?P<sheet>.+)!(?P<left>[A-Z]+)(?P<top>\d+)(?::(?P<right>[A-Z]+)(?P<bottom>\d+))?"
)
_RANGE: Final = re.compile(r"(?P<sheet>row|line)s? (?P<top>\d+)(?:–(?P<bottom>\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    format: str
    file: str
    phrase: str
    place: str


def facts() -> list[Fact]:
    return [Fact(**json.loads(line)) for line in _ANCHORS.read_text(encoding="utf-8").splitlines()]


def wrong_places(wanted: Iterable[Fact], readings: Iterable[Reading], splitter: Splitter) -> list[str]:
    """What is wrong, a line each: facts that no chunk holds, and those whose chunk names another place."""
    by_file: dict[str, list[Fact]] = {}
    for fact in wanted:
        by_file.setdefault(fact.file, []).append(fact)
    read = {reading.path: reading for reading in readings}
    return [line for file, about in by_file.items() for line in _wrong_in(file, about, read[file], splitter)]


def _wrong_in(file: str, facts: list[Fact], reading: Reading, splitter: Splitter) -> list[str]:
    if not reading.sections:
        return [f"{file}: {reading.message or reading.outcome}"] * len(facts)
    chunks = list(splitter(_document(file), reading.sections))
    return [line for fact in facts for line in _judged(fact, chunks)]


def _document(file: str) -> Document:
    return Document(
        id=DocumentId(file),
        knowledge_base=KnowledgeBaseId("documents"),
        title=Path(file).name,
        uri="",
        media_type="",
        digest="",
    )


def _judged(fact: Fact, chunks: Iterable[Chunk]) -> list[str]:
    phrase = plain(fact.phrase)
    holding = [chunk for chunk in chunks if phrase in plain(chunk.text)]
    if not holding:
        return [f"{fact.file}: no chunk holds {fact.phrase!r}, which stands at {fact.place}"]
    if any(names(chunk.anchor, fact.place, lines=chunk.text.count("\n") + 1) for chunk in holding):
        return []
    said = ", ".join(dict.fromkeys(chunk.anchor or "nothing" for chunk in holding))
    return [f"{fact.file}: {fact.phrase!r} stands at {fact.place}, the chunk says {said}"]


def names(anchor: str, place: str, *, lines: int) -> bool:
    """Whether the anchor of a chunk of so many lines names the place, and no more rows than the chunk has."""
    if anchor == place:
        return True
    *path, last = anchor.split(" › ")
    *wanted_path, wanted = place.split(" › ")
    if path != wanted_path:
        return False
    for form in (_CELLS, _RANGE):
        said, looked_up = form.fullmatch(last), form.fullmatch(wanted)
        if said and looked_up:
            return _within(said, looked_up, lines)
    return False


def _within(said: re.Match[str], looked_up: re.Match[str], lines: int) -> bool:
    top, bottom, row = int(said["top"]), int(said["bottom"] or said["top"]), int(looked_up["top"])
    columns = True
    if "left" in said.re.groupindex:
        left, right = _column(said["left"]), _column(said["right"] or said["left"])
        columns = left <= _column(looked_up["left"]) <= right
    return said["sheet"] == looked_up["sheet"] and columns and top <= row <= bottom and bottom - top < lines


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
