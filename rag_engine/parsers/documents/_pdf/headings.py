from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.parsers.documents._pdf.layout import TextBlock

Headings: TypeAlias = "Mapping[int, list[tuple[float, str]]]"

_LONGEST: Final = 120
_MOST_LINES: Final = 3
_WORD: Final = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")
_NOT_WORD: Final = re.compile(r"\W")
_UNFINISHED: Final = (".", ":", ",", ";")


def count_sizes(blocks: Sequence[TextBlock], sizes: Counter[float]) -> None:
    for block in blocks:
        if not block.rows and not block.lines[0].turned:
            sizes[block.lines[0].size] += sum([len(line.text) for line in block.lines])


def outlined(texts: Sequence[str], entries: Sequence[tuple[int, str]]) -> Headings:
    """An entry without a matching block begins with the previous one."""
    headings: dict[int, list[tuple[float, str]]] = defaultdict(list)
    keys = [_key(text[: 2 * _LONGEST]) for text in texts] if entries else []
    position = 0
    for level, title in entries:
        key = _key(title)
        found = next(
            (at for at in range(position, len(keys)) if key and keys[at][:200].find(key) in range(6)),
            None,
        )
        position = found if found is not None else position
        headings[position].append((float(level), title))
    return headings


def _key(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()


def sized(blocks: Sequence[TextBlock], texts: Sequence[str], sizes: Counter[float]) -> Headings:
    if not sizes:
        return {}
    body = max(sizes, key=lambda size: sizes[size])
    headings: dict[int, list[tuple[float, str]]] = {}
    for position, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        if block.rows or len(block.lines) > _MOST_LINES or len(text) > _LONGEST:
            continue
        size = block.size
        if size < body * 0.95 or block.lines[0].turned or not _WORD.search(text):
            continue
        bold = all(line.bold for line in block.lines) and not text.endswith(_UNFINISHED)
        if size >= body * 1.15 or (bold and len(block.lines) == 1):
            headings[position] = [(-size - 0.25 * bold, text)]
    return headings
