"""Recognises a question that asks for whole files: "full: what changed?" or "what changed? full:yes"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.text.written_request import request_pattern, without_request

if TYPE_CHECKING:
    from rag_engine.types import Query

OPTION: Final = "full:yes"
_ASKED: Final = request_pattern(r"full:\s++", option="full")


def with_full_request(query: Query) -> Query:
    """The request leaves the text."""
    if not _ASKED.search(query.text):
        return query
    options = replace(query.options, whole_files=True)
    return replace(query, text=without_request(query.text, _ASKED), options=options)
