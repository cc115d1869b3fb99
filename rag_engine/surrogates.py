"""Halves of surrogate pairs, which odd file names and broken JSON bring along and no UTF-8 text can hold."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text with lone surrogates replaced; the same one where there are none."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
