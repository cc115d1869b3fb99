""" "tools: who leads it?" or "who leads it? tools:yes"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.text.written_request import request_pattern, without_request
from rag_engine.web.request import asks_for_web

if TYPE_CHECKING:
    from rag_engine.generation.phrases import Phrase
    from rag_engine.types import Query

OPTION: Final = "tools:yes"
_ASKED: Final = request_pattern(r"tools:\s++", option="tools")


def asks_for_tools(text: str) -> bool:
    return bool(_ASKED.search(text))


def with_tool_request(query: Query) -> Query:
    """Also where no tool may be used."""
    if not asks_for_tools(query.text):
        return query
    options = replace(query.options, agent=query.options.tools != "off")
    return replace(query, text=without_request(query.text, _ASKED), options=options)


def switched_off(query: Query) -> list[Phrase]:
    asked: tuple[tuple[Phrase, bool], ...] = (
        ("web_switched_off", query.web == "never" and asks_for_web(query.text)),
        ("tools_switched_off", query.options.tools == "off" and asks_for_tools(query.text)),
    )
    return [name for name, is_asked in asked if is_asked]
