"""UTF-8 cannot encode lone surrogates, as in odd file names."""

from __future__ import annotations


def encodable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
