"""Pure: the addresses in a text."""

from __future__ import annotations

from typing import Final

import regex

_ADDRESS: Final = regex.compile(r"(?i)\bhttps?://[^\s<>\"'`|\\^{}]+")


def links_in(text: str) -> frozenset[str]:
    """Every web address that the text holds, for a list of those that may be shown as links."""
    return frozenset(found.group().rstrip(".,;:!?)]*_~") for found in _ADDRESS.finditer(text))
