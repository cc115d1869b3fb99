from __future__ import annotations

import pytest

from rag_engine.parsers.documents._pdf.hidden_text import fills_after_letters

LETTERS = b"BT /F1 9 Tf (word) Tj ET\n"
FILL = b"0 0 100 20 re f\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", False),
        (LETTERS, False),
        (FILL, False),
        (FILL + LETTERS, False),
        (LETTERS + FILL, True),
        (FILL + LETTERS * 3 + b"/Shade sh\n", True),
        (b"[(word) 20 (s)] TJ /Picture Do ", True),
        (b"(word) Tj]f ", True),
        (b"(word) Tjf ", False),
    ],
)
def test_what_is_painted_after_the_first_letters_is_found(content: bytes, expected: bool) -> None:
    assert fills_after_letters(content) is expected


@pytest.mark.timeout(20)
def test_a_page_of_many_words_without_fills_takes_linear_time() -> None:
    assert not fills_after_letters(LETTERS * 40_000)
