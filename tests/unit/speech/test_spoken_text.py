from __future__ import annotations

import pytest

from rag_engine.speech.spoken_text import cut, spoken

OMITTED = {"code": "Code left out", "table": "Table left out"}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Flights need consent [1]. Trains do not [2, 3].", "Flights need consent. Trains do not."),
        ("**Bold**, *thin*, ~~no~~ and `code`.", "Bold, thin, ~~no~~ and code."),
        ("See [the form](https://a.example/x?y=1) at https://a.example/z.", "See the form at"),
        ("# Leave\n\n- 28 days\n- *Sick* days", "Leave.\n28 days.\nSick days."),
        ("Before.\n\n```python\nif (a): {b}\n```\n\nAfter.", "Before.\nCode left out.\nAfter."),
        ("Sums:\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nDone.", "Sums:\nTable left out.\nDone."),
        ("Great 👍🏽 job ✅", "Great job."),
        ("> quoted\n> words", "quoted words."),
        ("<b>Raw</b> ![A chart](x.png) stays", "Raw A chart stays."),
        ("Zwölf € und 5 % sind “viel”", "Zwölf € und 5 % sind “viel”."),
        ("نمی‌خواهم [1]", "نمی‌خواهم."),
        ("结论如下[1]。第二句", "结论如下。\n第二句.".replace("\n", "")),
        ("```\nonly code\n```", "Code left out."),
        ("", ""),
        ("---", ""),
    ],
)
def test_words_alone_are_read(written: str, read: str) -> None:
    assert spoken(written, omitted=OMITTED).rstrip(".") == read.rstrip(".")


@pytest.mark.parametrize(
    ("characters", "kept"), [(100, "One is. Two is. Three is."), (17, "One is. Two is."), (7, "One is.")]
)
def test_a_long_text_ends_with_a_sentence(characters: int, kept: str) -> None:
    assert cut("One is. Two is. Three is.", characters) == kept


def test_a_long_sentence_ends_with_a_word() -> None:
    assert cut("one two three four", 9) == "one two"
    assert cut("一二三四五六", 4) == "一二三四"
