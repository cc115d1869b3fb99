from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from rag_engine.embedders import _minilm
from rag_engine.embedders._vectors import well_formed
from rag_engine.embedders.local.tokenizer import MAX_TOKENS, WordPieces
from tests.hypothesis_profiles import examples

FOLDER = _minilm.installed()
assert FOLDER is not None, "the tests need the model: make test installs it"
FILE = FOLDER / _minilm.TOKENIZER
WORD_PIECES = WordPieces(FILE)

WHOLE = Tokenizer.from_file(str(FILE))
WHOLE.no_padding()
WHOLE.no_truncation()
CUT = Tokenizer.from_file(str(FILE))
CUT.no_padding()
CUT.enable_truncation(MAX_TOKENS)

SEPARATORS = (" ", "  ", "\t", "\r\n", "\x0c", "\x1c", "\x85", "\u2028", "\u00a0", "\u3000", "\u200b", "\x00")
SPECIAL = ("[SEP]", "[MASK]", "[CLS", "##ing", "a" * 99, "b" * 101, "\u0301", "\ud800", "\U00020000")
WORDS = (
    "don't",
    "U.S.A.",
    "naïve",
    "ﬁ",
    "İ",
    "ß",
    "Σας",
    "中文",
    "日本語テキスト",
    "한국어",
    "ไทย",
    "🙂",
    "1,234.5",
    "re-entry",
)
ODD = st.sampled_from(SEPARATORS + SPECIAL + WORDS)
TEXTS = st.lists(ODD | st.text(max_size=12), max_size=30).map("".join)


@given(TEXTS)
@examples(400)
def test_counts_are_those_of_the_tokenizer(text: str) -> None:
    assert WORD_PIECES.count(text) == len(WHOLE.encode(well_formed(text)).ids)


@given(TEXTS, st.integers(min_value=1, max_value=400))
@examples(150)
def test_ids_are_those_of_the_tokenizer_cut_to_the_limit(text: str, times: int) -> None:
    repeated = text * times
    assert WORD_PIECES.ids(repeated).tolist() == CUT.encode(well_formed(repeated)).ids


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["", " " * 100_000 + "end", "a" * 100_000 + " end", "字" * 100_000, "word " * 50_000, "\x00" * 70_000 + "visible", "[SEP]" * 5_000],
    ids=["empty", "blanks", "one-word", "ideographs", "words", "control-characters", "special"],
)  # fmt: skip
def test_ids_of_long_texts(text: str) -> None:
    assert WORD_PIECES.ids(text).tolist() == CUT.encode(text).ids
    assert WORD_PIECES.count(text) == len(WHOLE.encode(text).ids)


@pytest.mark.slow
def test_more_words_than_are_remembered_are_counted_right() -> None:
    word_pieces = WordPieces(FILE)
    for start in range(0, 60_000, 5_000):
        text = " ".join(f"w{number}" for number in range(start, start + 5_000))
        assert word_pieces.count(text) == len(WHOLE.encode(text).ids)
