"""Tables that were read only in part."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RagError
from rag_engine.generation.phrases import phrase
from rag_engine.text.table_anchors import last_row, table_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.ports import IndexContents
    from rag_engine.types import Chunk, ChunkId, Citation, DocumentId, Hit

    Table = tuple[DocumentId, tuple[str, ...]]

_LISTED: Final = 2
_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


async def partial_tables_notice(
    text: str,
    citations: Sequence[Citation],
    passages: Sequence[Hit],
    *,
    contents: IndexContents,
    language: str,
    shortened: Collection[ChunkId] = (),
) -> str:
    """Empty if all is there or `text` says it."""
    listed = _listed(citations, {hit.chunk.id: hit.chunk for hit in passages})
    if not listed or any(phrase(name, language=language) in text for name in ("rows_alone", "rows_cut")):
        return ""
    read = [hit.chunk for hit in passages if hit.chunk.kind == "table"]
    try:
        async with asyncio.timeout(_SECONDS):
            titles = [
                title
                for table, title in listed.items()
                if await _is_partial([one for one in read if _table(one) == table], contents, shortened)
            ]
    except (RagError, TimeoutError) as error:
        _log.warning("the neighbours of a table could not be read: %s", error or "it took too long")
        return ""
    return (
        phrase("table_partial", language=language, titles=", ".join(dict.fromkeys(titles))) if titles else ""
    )


def _listed(citations: Sequence[Citation], read: Mapping[ChunkId, Chunk]) -> dict[Table, str]:
    rows: dict[Table, set[str]] = defaultdict(set)
    titles: dict[Table, str] = {}
    for citation in citations:
        chunk = read.get(citation.chunk)
        if chunk is not None and chunk.kind == "table" and citation.quote:
            rows[_table(chunk)].add(citation.quote)
            titles[_table(chunk)] = chunk.title
    return {table: titles[table] for table, quotes in rows.items() if len(quotes) >= _LISTED}


def _table(chunk: Chunk) -> Table:
    return chunk.document, chunk.headings


async def _is_partial(read: Sequence[Chunk], contents: IndexContents, shortened: Collection[ChunkId]) -> bool:
    if any(chunk.id in shortened for chunk in read):
        return True
    known = {chunk.ordinal for chunk in read}
    for chunk in read:
        start = max(chunk.ordinal - 1, 0)
        if known.issuperset({start, chunk.ordinal + 1}):
            continue
        near = await contents.chunks(
            chunk.knowledge_base, chunk.document, limit=chunk.ordinal + 2 - start, start=start
        )
        if any(other.ordinal not in known and _is_same_table(chunk, other) for other in near):
            return True
    return False


def _is_same_table(one: Chunk, other: Chunk) -> bool:
    """Neighbouring rows of a sheet, or below the same header."""
    if other.kind != "table" or _table(one) != _table(other):
        return False
    first, second = sorted((one, other), key=lambda chunk: chunk.ordinal)
    above, below = table_lines(first.anchor, first.text), table_lines(second.anchor, second.text)
    if above is not None and below is not None:
        return above.before == below.before and last_row(above, first.text) + 1 == below.first_row
    return first.text.partition("\n")[0] == second.text.partition("\n")[0]
