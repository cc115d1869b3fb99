"""What people write into a question to say how to answer it: filters, `web:`, `tools:`, `table:`, `full:`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.agent.request import with_tool_request
from rag_engine.retrieval.queries.document_filters import with_inline_filter
from rag_engine.retrieval.whole_files import with_full_request
from rag_engine.tables.answers.requests import with_table_request
from rag_engine.web.request import with_web_request

if TYPE_CHECKING:
    from rag_engine.types import Query


def with_written_requests(query: Query) -> Query:
    """They leave the text."""
    for understood in (with_web_request, with_tool_request, with_table_request, with_full_request):
        query = understood(query)
    return with_inline_filter(query)
