from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.retrieval.ranking.language_familiarity import gauge, mean_familiarity, word_check

_ENGLISH = "How many days of parental leave does an employee get in the first year?"
_CHINESE = "员工在第一年可以休多少天假？"


def _whole_words(text: str) -> int:
    return 2 + len(re.findall(r"\w+|[^\w\s]", text))


def _letter_by_letter(text: str) -> int:
    return 2 + len(re.findall(r"\S", text))


def _two_characters_a_piece(text: str) -> int:
    return 2 + sum(-(-len(run) // 2) for run in re.findall(r"\w+|[^\w\s]", text))


def test_whole_words_are_known() -> None:
    assert gauge(_whole_words)(_ENGLISH) == 1.0


def test_what_is_spelled_out_is_not_known() -> None:
    assert gauge(_letter_by_letter)(_ENGLISH) == 0.0
    assert gauge(_letter_by_letter)(_CHINESE) == 0.0


def test_two_letters_a_piece_is_little_in_an_alphabet_and_much_in_chinese() -> None:
    familiarity = gauge(_two_characters_a_piece)

    assert 0.1 < familiarity(_ENGLISH) < 0.5
    assert familiarity(_CHINESE) == 1.0


def test_a_whole_run_in_one_piece_is_an_unknown_piece() -> None:
    def one_piece_a_run(text: str) -> int:
        return 2 + len(text.split())

    assert gauge(one_piece_a_run)("พนักงานได้รับวันหยุดกี่วันในปีแรกของการทำงาน") == 0.0
    assert gauge(one_piece_a_run)(_ENGLISH) == 1.0


def test_the_prefix_a_tokenizer_adds_does_not_count() -> None:
    plain, prefixed = gauge(_two_characters_a_piece), gauge(lambda text: _two_characters_a_piece(text) + 5)

    assert plain(_ENGLISH) == prefixed(_ENGLISH)


def test_a_text_without_letters_is_no_reason_for_doubt() -> None:
    assert gauge(_letter_by_letter)("") == 1.0
    assert gauge(_letter_by_letter)("?! …") == 1.0


def test_the_same_text_is_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return _whole_words(text)

    familiarity = gauge(count)
    familiarity(_ENGLISH)
    familiarity(_ENGLISH)

    assert counted == ["", _ENGLISH]


def test_the_mean_of_nothing_is_no_doubt() -> None:
    familiarity = gauge(_letter_by_letter)

    assert mean_familiarity([], familiarity) == 1.0
    assert mean_familiarity(["abc", "12"], familiarity) == 0.0


@given(st.text(max_size=300), st.integers(0, 400))
def test_it_stays_between_zero_and_one(text: str, pieces: int) -> None:
    assert 0.0 <= gauge(lambda counted: pieces if counted else 2)(text) <= 1.0


def test_words_of_the_vocabulary_are_words() -> None:
    is_word = word_check(
        lambda text: 2 + sum(1 if word in {"kind", "holiday"} else 3 for word in text.split())
    )
    assert is_word("kind")
    assert not is_word("hollyday")


def test_an_embedder_without_word_pieces_knows_no_words() -> None:
    assert not word_check(lambda text: len(text.split()))("kind")
