from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.text.written_request import request_pattern, without_request

if TYPE_CHECKING:
    from rag_engine.types import Query

OPTION: Final = "web:yes"
_ASKED: Final = request_pattern(r"web:\s++", option="web")


def asks_for_web(text: str) -> bool:
    return bool(_ASKED.search(text))


def with_web_request(query: Query) -> Query:
    """Also where the web may not be searched."""
    if not asks_for_web(query.text):
        return query
    web = "never" if query.web == "never" else "asked"
    return replace(query, text=without_request(query.text, _ASKED), web=web)
