"""Recognises a question that asks for the web: "web: who makes it?" or "who makes it? web:yes"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.types import Query

OPTION: Final = "web:yes"
_ASKED: Final = re.compile(r"\A\s*+web:\s++(?=\S)|(?<!\S)web:(?:yes|on|ja|s[ií]|oui)(?!\S)", re.IGNORECASE)


def asks_for_web(text: str) -> bool:
    return bool(_ASKED.search(text))


def with_web_request(query: Query) -> Query:
    """The request leaves the text, also where the web may not be searched."""
    if not asks_for_web(query.text):
        return query
    text = " ".join(_ASKED.sub(" ", query.text).split(" ")).strip()
    return replace(query, text=text, web="never" if query.web == "never" else "asked")
