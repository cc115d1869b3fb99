from __future__ import annotations

from pathlib import Path
from typing import get_args

from rag_engine.generation import phrases
from rag_engine.text.messages.message_catalog import places

LANGUAGES = sorted(path.stem for path in Path(phrases.__file__).parent.glob("*.toml"))


def test_every_language_has_every_sentence_with_its_places() -> None:
    english = phrases.CATALOG.sentences("en")
    assert set(english) == set(get_args(phrases.Phrase))
    assert len(LANGUAGES) == 11
    for language in LANGUAGES:
        sentences = phrases.CATALOG.sentences(language)
        assert sentences.keys() == english.keys(), language
        for name, sentence in sentences.items():
            assert places(sentence) == places(english[name]), (language, name)
            assert language == "en" or sentence != english[name], (language, name)


def test_nothing_found_names_the_scope_and_the_closest_documents() -> None:
    assert phrases.not_found(language="en", scope="#hr") == "I did not find this in #hr."
    sentence = phrases.not_found(language="de", titles=("A.pdf", "B.pdf"))
    assert "A.pdf; B.pdf" in sentence
    assert "{" not in sentence


def test_a_language_without_sentences_reads_english_and_braces_have_no_meaning() -> None:
    assert phrases.not_found(language="fi", scope="{titles}", titles=("x",)).startswith(
        "I did not find this in {titles}."
    )
    assert phrases.not_found(language="../en", scope="#hr") == "I did not find this in #hr."
