from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.lines import PASSAGE
from rag_engine.parsers._shared.sections import one_line
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_LONGEST_HEADING: Final = 60
_MOST_NAMES: Final = 4


@dataclass(frozen=True, slots=True)
class TreeBlock:
    text: str
    step: str = ""
    first: int = 0
    last: int = 0
    name: str = ""
    """The heading if alone in its section."""


@dataclass(slots=True)
class _Node:
    heading: str
    step: str
    head: list[TreeBlock]
    blocks: list[TreeBlock] = field(default_factory=list[TreeBlock])
    size: int = 0
    broken: bool = False


class Tree:
    """Small nodes become one section. `anchor` gets a path, neighbouring blocks, and whether these are the whole node."""

    def __init__(
        self,
        anchor: Callable[[str, Sequence[TreeBlock], bool], str],
        *,
        kind: SectionKind = "prose",
        names: bool = False,
    ) -> None:
        self._anchor = anchor
        self._kind: SectionKind = kind
        self._names = names
        self._nodes = [_Node(heading="", step="", head=[])]

    @property
    def depth(self) -> int:
        return len(self._nodes) - 1

    def enter(self, heading: str, *, step: str = "", head: TreeBlock | None = None) -> None:
        named = one_line(heading)[:_LONGEST_HEADING]
        self._nodes.append(_Node(heading=named, step=step, head=[head] if head else []))

    def leave(self) -> Iterator[Section]:
        node = self._nodes[-1]
        is_large = node.size + sum(len(head.text) for head in node.head) > PASSAGE
        if node.broken or is_large:
            if not node.broken:
                yield from self._break(len(self._nodes) - 1)
            yield from self._flush(len(self._nodes) - 1, whole=not node.broken)
            self._nodes.pop()
            return
        self._nodes.pop()
        parts = node.head + node.blocks
        if parts:
            text = self._joined(parts)
            yield from self.add(TreeBlock(text, node.step, parts[0].first, parts[-1].last, node.heading))

    def add(self, block: TreeBlock) -> Iterator[Section]:
        node = self._nodes[-1]
        if node.blocks and node.size + len(block.text) > PASSAGE:
            yield from self._break()
        node.blocks.append(block)
        node.size += len(block.text) + 1

    def name(self, heading: str) -> None:
        self._nodes[-1].heading = one_line(heading)[:_LONGEST_HEADING]

    def add_alone(self, block: TreeBlock, heading: str = "") -> Iterator[Section]:
        yield from self._break()
        if block.first:
            # Lines that name nodes would be far above the next section.
            for above in self._nodes:
                above.head = []
        path = "".join(above.step for above in self._nodes)
        headings = (*self._headings(), *([one_line(heading)[:_LONGEST_HEADING]] if heading else []))
        anchor = self._anchor(path, [block], False)
        yield Section(text=block.text, anchor=anchor, headings=headings, kind=self._kind)

    def end(self) -> Iterator[Section]:
        while self.depth:
            yield from self.leave()
        yield from self._flush(0, whole=not self._nodes[0].broken)

    def _headings(self, depth: int | None = None) -> tuple[str, ...]:
        nodes = self._nodes if depth is None else self._nodes[: depth + 1]
        return tuple(node.heading for node in nodes if node.heading)

    def _joined(self, parts: Sequence[TreeBlock]) -> str:
        pieces = [parts[0].text]
        for before, part in pairwise(parts):
            gap = part.first - before.last if self._kind == "code" else 1
            pieces.append("\n" * min(max(gap, 1), 3) + part.text)
        return "".join(pieces)

    def _named(self, blocks: Sequence[TreeBlock]) -> tuple[str, ...]:
        names = [block.name for block in blocks if block.name] if self._names else []
        return (", ".join(names[:_MOST_NAMES]),) if names else ()

    def _break(self, depth: int | None = None) -> Iterator[Section]:
        nodes = self._nodes[:depth]
        for place, node in enumerate(nodes):
            if node.blocks:
                yield from self._flush(place, whole=False)
        for node in nodes:
            node.broken = True

    def _flush(self, depth: int, *, whole: bool) -> Iterator[Section]:
        node = self._nodes[depth]
        if not node.blocks and (not node.head or node.broken):
            return
        heads = [head for above in self._nodes[: depth + 1] for head in above.head]
        for above in self._nodes[: depth + 1]:
            above.head = []
            above.broken = True
        path = "".join(above.step for above in self._nodes[: depth + 1])
        parts = [*heads, *node.blocks]
        text = textwrap.dedent(self._joined(parts))
        yield Section(
            text=text,
            anchor=self._anchor(path, node.blocks if node.blocks and not parts[0].first else parts, whole),
            headings=(*self._headings(depth), *self._named(node.blocks)),
            kind=self._kind,
        )
        node.blocks, node.size = [], 0


def lines_place(path: str, blocks: Sequence[TreeBlock], whole: bool) -> str:
    first, last = blocks[0].first, max(block.last for block in blocks)
    return f"line {first}" if first == last else f"lines {first}–{last}"


def steps_place(path: str, blocks: Sequence[TreeBlock], whole: bool) -> str:
    """ "$.items[3]" or "$.items[3–7]"."""
    place = f"${path}"
    if whole:
        return place
    if len(blocks) == 1:
        return place + blocks[0].step
    first, last = blocks[0].step, blocks[-1].step
    if first.endswith("]") and last.endswith("]") and first[1:-1].isdigit() and last[1:-1].isdigit():
        return f"{place}{first[:-1]}–{last[1:]}"
    return place
