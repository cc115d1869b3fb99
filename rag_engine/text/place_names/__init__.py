""" "p. 3", "lines 1–4": stored in English, shown in other languages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from rag_engine.text.messages.message_catalog import MessageCatalog

__all__ = ["CATALOG", "place_in_language"]

CATALOG: Final = MessageCatalog(Path(__file__).parent)

_SEPARATORS: Final = re.compile(r"( › |, )")
_NUMBERED: Final = re.compile(
    r"(p\.|lines?|rows?|slide|cell|message|comment|footnote|endnote) ([0-9ivxlcdm*][0-9ivxlcdm*–-]*)"
)
_COUNTED: Final = re.compile(r"([0-9]{1,9}) rows?")
_NAMES: Final = {"p.": "page"}
_ALONE: Final = {"notes": "notes", "picture": "picture"}


def place_in_language(anchor: str, language: str) -> str:
    """Names of files, sheets and sections stay."""
    if language == "en" or not anchor:
        return anchor
    return "".join(_part(part, language) for part in _SEPARATORS.split(anchor))


def _part(part: str, language: str) -> str:
    if part in _ALONE:
        return CATALOG.say(_ALONE[part], language, {})
    if counted := _COUNTED.fullmatch(part):
        return CATALOG.say("row_count", language, {"count": int(counted[1])})
    numbered = _NUMBERED.fullmatch(part)
    if numbered is None:
        return part
    kind, number = numbered.groups()
    return CATALOG.say(_NAMES.get(kind, kind), language, {"number": number})
