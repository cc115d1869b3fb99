from __future__ import annotations

import time
import tracemalloc
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.analyzer import VERSION, query_tokens, tokens

LANGUAGES = st.sampled_from(
    ["", "en", "de", "es", "fr", "ru", "ar", "fa", "zh", "ja", "ko", "th", "vi", "hi", "xx"]
)
TEXTS = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="aZé9-_./:@'’+# \u200c\u0301漢かカ한ก\U0001f600\x00\ud800", max_size=80),
)


@given(text=TEXTS, language=LANGUAGES)
def test_tokens_are_whole_and_usable_by_any_index(text: str, language: str) -> None:
    for token in tokens(text, language=language):
        assert token
        assert len(token) <= 70
        assert not any(character.isspace() or character == '"' for character in token)
        assert not any(unicodedata.category(character) in {"Cc", "Cs"} for character in token)


@given(text=TEXTS, language=LANGUAGES)
def test_tokens_depend_on_words_and_not_on_separators(text: str, language: str) -> None:
    once = tokens(text, language=language)
    assert tokens(f"\n {text} \t", language=language) == once
    assert tokens(f"{text} !? {text}", language=language) == once * 2


@given(text=TEXTS)
def test_a_query_asks_for_every_token_of_the_same_text_as_an_english_passage(text: str) -> None:
    assert set(query_tokens(text)) >= set(tokens(text, language="en"))


@given(run=st.text(alphabet="的一是不了人我在有他", min_size=1, max_size=12))
def test_a_run_of_han_gives_its_characters_and_bigrams(run: str) -> None:
    found = tokens(run, language="zh")
    assert sorted(found) == sorted([*run, *(run[i : i + 2] for i in range(len(run) - 1))])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("第5条规定API的", ["第", "5", "条", "规", "定", "条规", "规定", "api", "的"]),
        ("ＡＰＩ　ｶﾞｲﾄﾞ", ["api", "ガ", "イ", "ド", "ガイ", "イド"]),
        ("漢字かな", ["漢", "字", "か", "な", "漢字", "字か", "かな"]),
        ("서울역 3번", ["서", "울", "역", "서울", "울역", "3", "번"]),
        ("กข abc", ["ก", "ข", "กข", "abc"]),
    ],
)
def test_scripts_are_cut_where_they_change(text: str, expected: list[str]) -> None:
    assert tokens(text, language="zh") == expected


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("TL-SE2109", "tlse2109"),
        ("v1.2.3", "v1.2.3"),
        ("foo_bar", "foobar"),
        ("fooBar", "foobar"),
        ("C++", "c++"),
        ("C#", "c#"),
    ],
)
def test_an_identifier_is_one_token(text: str, whole: str) -> None:
    assert whole in tokens(f"the {text} device", language="en")
    assert whole in query_tokens(text)


@pytest.mark.parametrize(
    ("passage", "query"),
    [
        ("TL-SE2109", "SE2109"),
        ("TL-SE2109", "2109"),
        ("getUserName()", "user name"),
        ("max_retry_count", "retry"),
        ("10mg", "10 mg"),
    ],
)
def test_an_identifier_is_found_by_its_parts(passage: str, query: str) -> None:
    assert set(query_tokens(query)) & set(tokens(passage, language="en"))


@pytest.mark.parametrize(
    ("language", "passage", "query"),
    [
        ("de", "Die Kündigungsfristen sind im Vertrag geregelt.", "Kündigungsfrist"),
        ("de", "Alle Rechnungen werden geprüft.", "Wer prüft eine Rechnung?"),
        ("fr", "Les congés payés sont accordés aux salariés.", "salarié congé"),
        ("es", "Las vacaciones de los empleados", "vacación empleado"),
        ("ru", "Сотрудники получают отпуска", "отпуск сотрудника"),
        ("ar", "المدارس الكبيرة", "مدارس"),
        ("fa", "کتاب‌های جدید", "کتاب‌های"),
        ("pt", "As reuniões semanais", "reunião semanal"),
        ("", "Invoices and totals", "invoice total"),
        ("zh", "通过 databases 查询", "database"),
    ],
)
def test_a_short_query_meets_a_passage_whatever_its_language_seems(
    language: str, passage: str, query: str
) -> None:
    assert set(query_tokens(query)) & set(tokens(passage, language=language))


def test_english_stop_words_are_dropped_and_the_department_is_not() -> None:
    assert tokens("What is the IT budget of it?", language="en") == ["what", "it", "budget"]
    assert query_tokens("the and of") == ()


@pytest.mark.parametrize("text", ["", "   ", "😀😀🎉", "\x00\x01\x02", "!?…—", "\ud800"])
def test_text_without_words_has_no_tokens(text: str) -> None:
    assert tokens(text, language="en") == []
    assert query_tokens(text) == ()


@pytest.mark.parametrize("unit", ["a", "word ", "漢", "ก", "a-1", "é'", "1.", "_", "😀", "x\u0301", "aB"])
def test_very_long_text_takes_linear_time(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    started = time.process_time()
    tokens(text, language="")
    query_tokens(text)
    assert time.process_time() - started < 3


def test_tokens_of_long_runs_are_not_kept() -> None:
    runs = ["".join(chr(0x4E00 + (31 * run + at * at) % 4000) for at in range(150)) for run in range(300)]
    tokens(runs[0], language="zh")
    tracemalloc.start()
    try:
        for run in runs:
            assert len(tokens(run, language="zh")) == 299
        assert tracemalloc.get_traced_memory()[0] < 500_000
    finally:
        tracemalloc.stop()


def test_the_version_names_the_stemmer() -> None:
    assert VERSION.startswith("1+snowball")
