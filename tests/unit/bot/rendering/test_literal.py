"""Texts of people inside our own sentences."""

from __future__ import annotations

import pytest

from bot.rendering.literal import literal, literal_sentence


@pytest.mark.parametrize("mark", list("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
def test_no_mark_changes_the_order_of_our_words(mark: str) -> None:
    assert literal(f"gnitset{mark} a *name*") == r"gnitset a \*name\*"
    assert literal_sentence(f"gnitset{mark}") == "gnitset"


def test_letters_of_all_scripts_stay() -> None:
    for text in ("می\u200cخواهم", "שלום\u200f", "👩\u200d💻", "日本語"):
        assert literal(text) == text
