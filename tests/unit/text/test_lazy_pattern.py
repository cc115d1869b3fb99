"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

from rag_engine.text.lazy_pattern import lazy


def test_a_pattern_is_built_once_when_it_is_first_used() -> None:
    built: list[str] = []

    def build() -> re.Pattern[str]:
        built.append("")
        return re.compile("(a+)b", re.IGNORECASE)

    pattern = lazy(build)
    assert built == []
    match = pattern.search("xAAb")
    assert match is not None
    assert match.group(1) == "AA"
    assert pattern.sub("-", "ab aab") == "- -"
    assert (pattern.pattern, bool(pattern.flags & re.IGNORECASE)) == ("(a+)b", True)
    assert built == [""]
