from __future__ import annotations

import pytest

from rag_engine.summaries.length_and_language import LengthAndLanguage, requested_style, without_style


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("in five words", LengthAndLanguage(words=5)),
        ("en 3 frases", LengthAndLanguage(sentences=3)),
        ("in zwei kurzen Absätzen", LengthAndLanguage(paragraphs=2)),
        ("4 key takeaways", LengthAndLanguage(points=4)),
        ("Итог в двух предложениях", LengthAndLanguage(sentences=2)),
        ("用三句话", LengthAndLanguage(sentences=3)),
        ("控制在50字以内", LengthAndLanguage(words=50)),
        ("3개 요점으로", LengthAndLanguage(points=3)),
        ("100자이내로", LengthAndLanguage(words=100)),
        ("in plain English", LengthAndLanguage(language="en")),
        ("auf Deutsch", LengthAndLanguage(language="de")),
        ("用中文", LengthAndLanguage(language="zh")),
        ("ドイツ語で", LengthAndLanguage(language="de")),
        ("bi-weekly swords, passwords and keywords", LengthAndLanguage()),
        ("Which words are in the contract?", LengthAndLanguage()),
        ("Who speaks German there?", LengthAndLanguage()),
    ],
)
def test_length_and_language_are_read(text: str, style: LengthAndLanguage) -> None:
    assert requested_style(text) == style
    if style:
        assert without_style(text) in {"", "Итог"}
    else:
        assert without_style(text) == text


def test_styles_are_taken_out_of_the_middle() -> None:
    text = "the handbook in 5 short sentences in Italian as a list, shorter"
    assert without_style(text) == "the handbook ,"
