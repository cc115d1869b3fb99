"""Which version of a source a citation rests on: a commit, or the day on which a page was read; and the link of its passage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from rag_engine.ports import Metadata
    from rag_engine.types import Citation


async def with_versions(citations: tuple[Citation, ...], metadata: Metadata | None) -> tuple[Citation, ...]:
    if metadata is None or not citations:
        return citations
    documents = {citation.document for citation in citations}
    try:
        known, links = await metadata.versions(documents), await metadata.links(documents)
    except Unavailable:
        return citations
    linked = (
        replace(each, uri=links.get((each.document, each.anchor), each.uri)) if links else each
        for each in citations
    )
    return tuple(_versioned(citation, *known.get(citation.document, ("", ""))) for citation in linked)


def _versioned(citation: Citation, link: str, version: str) -> Citation:
    if not version:
        return citation
    is_day = version.count("-") == 2
    title = f"{citation.title} ({version})" if is_day else f"{citation.title}@{version}"
    return replace(citation, title=title, uri=link or citation.uri)
