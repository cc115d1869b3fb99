"""Words in front of a question, or an option in it: "web: who makes it?", "who makes it? web:yes"."""

from __future__ import annotations

import re

from rag_engine.text.lazy_pattern import lazy


def request_pattern(*prefixes: str, option: str = "") -> re.Pattern[str]:
    """`prefixes` are patterns, with their colon or blank."""
    anywhere = rf"|(?<!\S){option}:(?:yes|on|ja|s[ií]|oui)(?!\S)" if option else ""
    start = rf"\A\s*+(?:{'|'.join(prefixes)})(?=\S)"
    return lazy(lambda: re.compile(start + anywhere, re.IGNORECASE))


def without_request(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(" ", text).strip()
