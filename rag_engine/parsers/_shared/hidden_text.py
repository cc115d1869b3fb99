from __future__ import annotations

from typing import Final

from rag_engine.types import Section

_LIGHT: Final = 0xF0


def hidden_text_notice(characters: int, places: str = "", *, anchor: str = "") -> Section:
    within = f" ({places})" if places else ""
    text = f"Text that nobody can see was left out: {characters} characters{within}."
    return Section(text=text, anchor=anchor, kind="notice")


def is_white(color: str | None) -> bool:
    found = rgb(color)
    return found is not None and min(found) >= _LIGHT


def rgb(color: str | None) -> tuple[int, int, int] | None:
    try:
        red, green, blue = bytes.fromhex(color or "")
    except ValueError:
        return None
    return red, green, blue
