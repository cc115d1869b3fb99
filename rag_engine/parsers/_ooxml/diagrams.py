from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import DGM, A, number
from rag_engine.parsers._shared.sections import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rag_engine.parsers._ooxml.package import Element

_WITH_WORDS: Final = frozenset({"node", "asst", "doc"})
_DEEPEST: Final = 30


def diagram_text(model: Element) -> str:
    """An indented list; `model` is the diagram's data part."""
    points = {
        point.get("modelId") or "": point
        for point in model.iterfind(f"{DGM}ptLst/{DGM}pt")
        if point.get("type", "node") in _WITH_WORDS
    }
    below: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for link in model.iterfind(f"{DGM}cxnLst/{DGM}cxn"):
        if link.get("type", "parOf") == "parOf" and link.get("destId") in points:
            below[link.get("srcId") or ""].append((number(link.get("srcOrd")), link.get("destId") or ""))
    roots = [identifier for identifier, point in points.items() if point.get("type") == "doc"]
    seen: set[str] = set()
    children = {identifier: [one for _, one in sorted(links)] for identifier, links in below.items()}
    lines = [line for root in roots for line in _lines(root, points, children, seen, -1)]
    lines += [line for root in points if root not in seen for line in _lines(root, points, children, seen, 0)]
    return "\n".join(lines)


def _lines(
    identifier: str,
    points: Mapping[str, Element],
    children: Mapping[str, Sequence[str]],
    seen: set[str],
    depth: int,
) -> Iterator[str]:
    if identifier in seen or depth > _DEEPEST or identifier not in points:
        return
    seen.add(identifier)
    words = point_words(points[identifier])
    if words:
        yield f"{'  ' * max(depth, 0)}- {words}"
    for child in children.get(identifier, ()):
        yield from _lines(child, points, children, seen, depth + 1)


def point_words(point: Element) -> str:
    body = point.find(f"{DGM}t")
    if body is None:
        return ""
    paragraphs = (
        "".join(words.text or "" for words in paragraph.iter(f"{A}t")) for paragraph in body.iter(f"{A}p")
    )
    return one_line(" ".join(paragraphs))
