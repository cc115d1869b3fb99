from __future__ import annotations

from rag_engine import phrases


def test_every_language_has_every_sentence_with_its_places() -> None:
    english = phrases.PHRASES["en"]
    for language, said in phrases.PHRASES.items():
        assert said.keys() == english.keys(), language
        for name, sentence in said.items():
            assert sentence.count("{") == english[name].count("{"), (language, name)


def test_nothing_found_names_the_scope_and_the_closest_documents() -> None:
    assert phrases.not_found(language="en", scope="#hr") == "I did not find this in #hr."
    said = phrases.not_found(language="de", titles=("A.pdf", "B.pdf"))
    assert "A.pdf, B.pdf" in said
    assert "{" not in said


def test_a_language_without_sentences_reads_english_and_braces_mean_nothing() -> None:
    assert phrases.not_found(language="fi", scope="{titles}", titles=("x",)).startswith(
        "I did not find this in {titles}."
    )
