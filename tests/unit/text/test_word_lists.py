from __future__ import annotations

import pytest

from rag_engine.text.language.word_lists import is_listed


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("a", "de"),
        ("Kasse", "de"),
        ("Straße", "de"),
        ("üppigstes", "de"),
        ("saltar", "es"),
        ("été", "fr"),
        ("gatto", "it"),
        ("kast", "nl"),
        ("zürich", "nl"),
        ("útil", "pt"),
    ],
)
def test_a_word_of_the_language_is_listed(word: str, language: str) -> None:
    assert is_listed(word, language)


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("Kündigugnsfrist", "de"),
        ("kass", "de"),
        ("vacasiones", "es"),
        ("", "fr"),
        ("zzzz", "it"),
        ('a": 1', "nl"),
    ],
)
def test_a_mistyped_word_is_not_listed(word: str, language: str) -> None:
    assert not is_listed(word, language)


@pytest.mark.parametrize("language", ["", "en", "zh", "ru", "../de"])
def test_a_language_without_a_list_lists_nothing(language: str) -> None:
    assert not is_listed("house", language)
