from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.text.analyzer import query_tokens
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Section

_MOST: Final = 240
_LOOKED_AT: Final = 20_000
_MORE: Final = "…"
_MARKERS: Final = re.compile(r" ?\[\d{1,4}\]")


def excerpt(sections: Sequence[Section], anchor: str, question: str) -> str:
    """From the sentence with most of the question's words."""
    text = "\n".join(section.text for section in sections if section.anchor == anchor)[:_LOOKED_AT]
    pieces = [piece for line in text.split("\n") for piece in split_sentences(line) if piece.strip()]
    if not pieces:
        return ""
    wanted = set(query_tokens(question))
    best = max(range(len(pieces)), key=lambda at: (len(wanted & set(query_tokens(pieces[at]))), -at))
    chosen = " ".join("".join((*(f"{piece.strip()} " for piece in pieces[best:]),)).split())
    cut = chosen if len(chosen) <= _MOST else _shortened(chosen)
    return f"{_MORE} {cut}" if best else cut


def statements(answer: str, number: int) -> list[str]:
    found = [
        " ".join(_MARKERS.sub("", piece).split())
        for line in answer.split("\n")
        for piece in split_sentences(line)
        if f"[{number}]" in piece
    ]
    return [_shortened(one) if len(one) > _MOST else one for one in dict.fromkeys(found) if one]


def _shortened(text: str) -> str:
    cut = text[:_MOST]
    return f"{cut.rpartition(' ')[0] or cut} {_MORE}"
