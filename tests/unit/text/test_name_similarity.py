"""How alike names and codes are."""

from __future__ import annotations

import pytest

from rag_engine.text.analyzer import tokens
from rag_engine.text.name_similarity import similarity


@pytest.mark.parametrize("mark", ["\u0e48", "\u1039"])
def test_an_accent_that_stands_alone_is_like_no_name(mark: str) -> None:
    assert mark in tokens(f"a {mark} b", language="en")
    assert similarity("kenobi", mark) == 0.0
    assert similarity(mark, "kenobi") == 0.0
    assert similarity(mark, mark) == 0.0
    assert similarity("kenobi", "kennobi") > 0.5
