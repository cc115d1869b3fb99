"""What passages of a document share is stated once."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.generation.prompt_safety import attribute, neutral
from rag_engine.text.legibility import is_garbled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.generation.context_budget import Excerpt
    from rag_engine.metadata.filter_types import Properties
    from rag_engine.types import Chunk, DocumentId, Hit

    Known: TypeAlias = Mapping[DocumentId, Properties]

_HEADING_PATH = " > "
_SHARED = ("title", "link", "author", "date")
_WRAPPER = "<document></document>\n\n"


def passage(number: int, hit: Hit, text: str, *, known: Known | None = None) -> str:
    return _block(number, hit.chunk, text, _attributes(hit.chunk, text, known=known))


def by_document(excerpts: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    order = {name: at for at, name in reversed([*enumerate(one.hit.chunk.document for one in excerpts)])}
    return tuple(sorted(excerpts, key=lambda one: (order[one.hit.chunk.document], one.hit.chunk.ordinal)))


def listed(excerpts: Sequence[Excerpt], *, known: Known | None = None) -> list[str]:
    blocks: list[str] = []
    numbered = enumerate(excerpts, 1)
    for _, run in groupby(numbered, key=lambda one: one[1].hit.chunk.document):
        blocks += _document([*run], known=known)
    return blocks


def _document(run: Sequence[tuple[int, Excerpt]], *, known: Known | None) -> list[str]:
    first = run[0][1]
    attributes = _attributes(first.hit.chunk, first.text, known=known)
    shared = _named({name: attributes.get(name, "") for name in _SHARED})
    is_grouped = len(shared) * (len(run) - 1) > len(_WRAPPER)
    blocks: list[str] = []
    above: Excerpt | None = None
    for number, excerpt in run:
        own = attributes if excerpt is first else _attributes(excerpt.hit.chunk, excerpt.text, known=known)
        if is_grouped:
            own.update(dict.fromkeys(_SHARED, ""))
        text = excerpt.text
        if above is not None and _continues(above, excerpt):
            own["section"] = ""
            text = _without_repeated_header(above, excerpt)
        blocks.append(_block(number, excerpt.hit.chunk, text, own))
        above = excerpt
    return [f"<document{shared}>", *blocks, "</document>"] if is_grouped else blocks


def _continues(above: Excerpt, excerpt: Excerpt) -> bool:
    before, chunk = above.hit.chunk, excerpt.hit.chunk
    return chunk.ordinal == before.ordinal + 1 and chunk.headings == before.headings


def _without_repeated_header(above: Excerpt, excerpt: Excerpt) -> str:
    if {above.hit.chunk.kind, excerpt.hit.chunk.kind} != {"table"}:
        return excerpt.text
    header, _, rows = excerpt.text.partition("\n")
    return rows if rows and above.text.startswith(f"{header}\n") else excerpt.text


def _attributes(chunk: Chunk, text: str, *, known: Known | None) -> dict[str, str]:
    return {
        "title": chunk.title,
        "section": _HEADING_PATH.join(chunk.headings),
        "place": chunk.anchor,
        **({} if known is None else _described(chunk, known.get(chunk.document, {}))),
        "table": "incomplete" if chunk.kind == "table" and text != chunk.text else "",
        "text": "garbled" if is_garbled(chunk.text, prose=chunk.kind == "prose") else "",
    }


def _described(chunk: Chunk, properties: Properties) -> dict[str, str]:
    return {
        "link": chunk.uri if chunk.uri.startswith(("https://", "http://")) else "",
        "author": ", ".join(properties.get("author", ())),
        "date": date_of(properties),
    }


def date_of(properties: Properties) -> str:
    """The last change, else the creation; may be empty."""
    return next(iter((*properties.get("modified", ()), *properties.get("created", ()))), "")


def _named(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{attribute(value)}"' for name, value in attributes.items() if value)


def _block(number: int, chunk: Chunk, text: str, attributes: Mapping[str, str]) -> str:
    body = neutral(text, keep_markers=chunk.kind == "code").strip()
    return f'<passage id="{number}"{_named(attributes)}>\n{body}\n</passage>'
