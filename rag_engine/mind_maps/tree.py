from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rag_engine.types import Section

MOST_NODES: Final = 60
MOST_LEVELS: Final = 5
LONGEST_LABEL: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MindNode:
    """`place` is where its text begins, or empty."""

    label: str
    place: str = ""
    children: tuple[MindNode, ...] = ()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, MindNode]]:
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MindMap:
    root: MindNode
    left_out: int
    """Headings beyond the limits."""

    def outline(self, *, place: Callable[[str], str] = str, literal: Callable[[str], str] = str) -> str:
        """In Markdown; `place` translates, `literal` escapes."""
        lines: list[str] = []
        for depth, node in self.root.walk():
            where = f" ({literal(place(node.place))})" if node.place else ""
            text = literal(node.label) + where
            lines.append(f"{'  ' * (depth - 1)}- {text}" if depth else f"**{text}**\n")
        return "\n".join(lines)


@dataclass(slots=True)
class Branch:
    label: str
    place: str
    order: int
    children: dict[str, Branch] = field(default_factory=dict[str, "Branch"])

    def add(self, label: str, place: str) -> Branch:
        """The branch of that name, with the places of all."""
        branch = self.children.setdefault(label, Branch(label, "", -1))
        if place not in branch.place:
            branch.place += place
        return branch


def of_document(title: str, sections: Sequence[Section]) -> MindMap | None:
    """From the outermost level on; None without headings."""
    root = Branch(title, "", 0)
    count = 0
    for section in sections:
        branch = root
        path = [heading for heading in (" ".join(one.split()) for one in section.headings) if heading]
        if path and path[0] == title:
            path = path[1:]
        for heading in path:
            if heading not in branch.children:
                count += 1
                branch.children[heading] = Branch(heading, section.anchor, count)
            branch = branch.children[heading]
    if not root.children:
        return None
    if len(root.children) == 1 and next(iter(root.children.values())).children:
        [root] = root.children.values()
        count -= 1
    kept = _kept(root)
    tree = _node(root, kept)
    return MindMap(root=tree, left_out=count - len(kept))


def mind_map(root: Branch) -> MindMap:
    """Of as many branches as the limits allow, in any order of `order`."""
    count, waiting = 0, [root]
    while waiting:
        branch = waiting.pop()
        branch.order = count
        count += 1
        waiting += branch.children.values()
    kept = _kept(root)
    return MindMap(root=_node(root, kept), left_out=count - 1 - len(kept))


def _kept(root: Branch) -> frozenset[int]:
    kept: set[int] = set()
    level = list(root.children.values())
    for _ in range(MOST_LEVELS):
        for branch in level[: MOST_NODES - len(kept)]:
            kept.add(branch.order)
        level = [child for branch in level if branch.order in kept for child in branch.children.values()]
    return frozenset(kept)


def _node(branch: Branch, kept: frozenset[int]) -> MindNode:
    children = [child for child in branch.children.values() if child.order in kept]
    place = "" if branch.place == f"§ {branch.label}" else branch.place
    return MindNode(
        label=_short(branch.label), place=place, children=tuple(_node(each, kept) for each in children)
    )


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1].rstrip() + "…"
