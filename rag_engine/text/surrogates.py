"""Lone surrogates, which odd file names and broken JSON contain and UTF-8 cannot encode."""

from __future__ import annotations


def encodable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
