from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.mind_maps.tree import Branch, MindMap, mind_map
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.types import Citation

_LONGEST: Final = 40_000
_DEEPEST: Final = 20
_ITEM: Final = re.compile(r"^([ \t]*)(?:[-*•]|\d{1,3}[.)])[ \t]+(.+)$")
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_BOLD_LINE: Final = re.compile(r"^\*\*([^*]{1,200})\*\*:?$")
_MARKER: Final = re.compile(r"[ \t]?\[(\d{1,3})\]")
_MARKUP: Final = re.compile(r"[*_`>|]+")
_FENCE: Final = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedAnswer:
    question: str
    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMap:
    """`sources` by number: title and place."""

    map: MindMap
    sources: tuple[tuple[str, str], ...]


def of_answers(answers: Sequence[MappedAnswer], *, title: str = "") -> AnswerMap | None:
    """One answer is the tree itself; of several each question is a branch. None without a statement."""
    numbers: dict[tuple[str, str], int] = {}
    root = Branch(title or (answers[0].question if answers else ""), "", 0)
    for answer in answers:
        own = {
            citation.number: numbers.setdefault((citation.title, citation.anchor), len(numbers) + 1)
            for citation in answer.citations
        }
        above = root if len(answers) == 1 else root.add(answer.question or "…", "")
        _grow(above, answer.text[:_LONGEST], own)
    if not any(branch.children or len(answers) == 1 for branch in root.children.values()):
        return None
    return AnswerMap(map=mind_map(root), sources=tuple(numbers))


def _grow(root: Branch, text: str, numbers: dict[int, int]) -> None:
    above = [(-1, root)]
    for depth, said in _parts(_FENCE.sub("", text)):
        shown = [numbers[number] for number in map(int, _MARKER.findall(said)) if number in numbers]
        label = " ".join(_MARKUP.sub("", _MARKER.sub("", said)).split()).rstrip(":")
        if not any(letter.isalnum() for letter in label):
            continue
        while above[-1][0] >= depth:
            above.pop()
        place = "".join(f"[{number}]" for number in dict.fromkeys(shown))
        above.append((depth, above[-1][1].add(label, place)))


def _parts(text: str) -> Iterator[tuple[int, str]]:
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            yield len(heading[1]) - 1, heading[2].rstrip(" \t#")
        elif bold := _BOLD_LINE.match(line.strip()):
            yield 5, bold[1]
        elif item := _ITEM.match(line):
            indent = len(item[1].expandtabs(4)) // 2
            yield 6 + min(indent, _DEEPEST), item[2]
        else:
            for sentence in split_sentences(line):
                # A marker after the full stop belongs to the sentence before.
                yield 6, sentence
