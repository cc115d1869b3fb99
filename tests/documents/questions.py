"""Questions about the files of `../shared/docs`, each with a phrase that the right passage holds; and plain ways to split.

The questions were written from reading the files with other programs, before any of them was asked.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.types import Chunk, ChunkId
from tests.documents.corpus import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rag_engine.ports import Splitter
    from rag_engine.types import Document, Section

_QUESTIONS: Final = Path(__file__).with_name("questions.jsonl")
# A word with the blanks behind it, or one character of a script that writes no blanks.
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]\s*|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{1,24}\s*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    question: str
    file: str
    phrase: str
    kind: str
    """What it is after: a fact, a table, a list, a heading, a note; a paraphrase shares few words; or another language."""


def questions() -> list[Question]:
    return [Question(**json.loads(line)) for line in _QUESTIONS.read_text(encoding="utf-8").splitlines()]


def holding(question: Question, chunks: Iterable[Chunk]) -> set[str]:
    """The ids of the chunks that hold what is asked for."""
    phrase = plain(question.phrase)
    return {chunk.id for chunk in chunks if chunk.document == question.file and phrase in plain(chunk.text)}


def fixed_size(
    count: Callable[[str], int], *, limit: int, overlap: int = 0, with_title: bool = False
) -> Splitter:
    """Chunks of `limit` tokens of the document's bare text, as most tutorials make them."""

    def split(document: Document, sections: Iterable[Section]) -> Iterator[Chunk]:
        words = _WORD.findall("\n\n".join(section.text for section in sections))
        overhead = count("")
        weights = [count(word) - overhead for word in words]
        title = document.title if with_title else ""
        room = limit - overhead - (count(title) - overhead if title else 0)
        for ordinal, (start, end) in enumerate(_windows(weights, room, overlap)):
            yield Chunk(
                id=ChunkId(f"{document.id}#{ordinal}"),
                document=document.id,
                knowledge_base=document.knowledge_base,
                ordinal=ordinal,
                text="".join(words[start:end]).strip(),
                title=title,
            )

    return split


def _windows(weights: Sequence[int], limit: int, overlap: int) -> Iterator[tuple[int, int]]:
    start = end = size = 0
    while end < len(weights):
        while end < len(weights) and (size + weights[end] <= limit or end == start):
            size += weights[end]
            end += 1
        yield start, end
        if end == len(weights):
            return
        start, size = end, 0
        while start > 0 and size + weights[start - 1] <= overlap:
            start -= 1
            size += weights[start]
