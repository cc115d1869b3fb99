from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.choice import automatic, chosen, filtered_properties
from rag_engine.metadata.conditions import described, taken_from

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Metadata
    from rag_engine.types import Query


def with_inline_filter(query: Query) -> Query:
    if query.unfiltered:
        text = query.text
        with suppress(InvalidFilter):
            text, _ = taken_from(query.text)
        return replace(query, text=text, filters=())
    text, inline = taken_from(query.text)
    return replace(query, text=text, filters=(*query.filters, inline)) if inline else query


async def with_chosen_documents(inquiry: Inquiry, metadata: Metadata | None) -> Inquiry:
    filters = inquiry.query.filters
    if not filters:
        return inquiry
    documents = await chosen(inquiry.query, metadata)
    found = 0 if documents is None else len(documents)
    return replace(inquiry, documents=documents, filtered_by=filters).noting(
        filter={"used": described(filters), "by": "person", "documents": found}
    )


async def with_automatic_filter(inquiry: Inquiry, metadata: Metadata | None) -> Inquiry:
    understood = inquiry.understanding
    if understood is None or inquiry.query.unfiltered:
        return inquiry
    left_out = understood.left_out
    if understood.filter is not None:
        known = await filtered_properties(inquiry.query, [understood.filter], metadata)
        found = await asyncio.to_thread(automatic, understood.filter, known, within=inquiry.documents)
        left_out = (*left_out, *found.left_out)
        if found.filter is not None:
            used = (*inquiry.filtered_by, found.filter)
            inquiry = replace(inquiry, documents=found.documents, filtered_by=used).noting(
                filter={
                    "used": described(used),
                    "by": "model",
                    "documents": len(found.documents or ()),
                    "left_out": list(left_out),
                }
            )
    if not left_out:
        return inquiry
    if inquiry.filtered_by == inquiry.query.filters:
        inquiry = inquiry.noting(filter={**_noted(inquiry), "left_out": list(left_out)})
    if understood.left_out:
        inquiry = inquiry.falling_back("meta_filter_invalid")
    return replace(inquiry, filter_left_out=left_out)


def _noted(inquiry: Inquiry) -> dict[str, object]:
    noted = inquiry.details.get("filter")
    return cast("dict[str, object]", noted) if isinstance(noted, dict) else {}
