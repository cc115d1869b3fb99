from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.language import detect, possible, question_language
from rag_engine.text.language.stop_words import FUNCTION_WORDS

SCRIPTS = "zh ja ko th lo my km el he hi bn pa gu ta te kn ml hy ka am ar fa ur"
OF_ONE_SCRIPT = SCRIPTS.split()
DATA = Path(__file__).parents[3].parent / "shared" / "data"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "How many vacation days do I have?"),
        ("de", "Wie viele Urlaubstage habe ich?"),
        ("fr", "Combien de jours de congé ai-je ?"),
        ("es", "¿Cuántos días de vacaciones tengo?"),
        ("pt", "Quantos dias de férias eu tenho?"),
        ("it", "Quanti giorni di ferie ho?"),
        ("nl", "Hoeveel vakantiedagen heb ik?"),
        ("sv", "Hur många semesterdagar har jag?"),
        ("hu", "Hány nap szabadságom van?"),
        ("tr", "Kaç gün iznim var?"),
        ("id", "Berapa hari cuti saya?"),
        ("vi", "Tôi được nghỉ bao nhiêu ngày?"),
        ("ru", "Сколько дней отпуска?"),
        ("uk", "Скільки днів відпустки?"),
        ("el", "Πόσες μέρες άδεια;"),
        ("he", "כמה ימי חופשה?"),
        ("ar", "كم عدد أيام الإجازة؟"),
        ("fa", "چند روز مرخصی داریم؟"),
        ("hi", "मुझे कितनी छुट्टियाँ मिलती हैं?"),
        ("th", "ค่าเดินทางเบิกอย่างไร"),
        ("ko", "경비는 어떻게 청구하나요?"),
        ("ja", "有給休暇は何日ありますか"),
        ("zh", "深圳的API rate limit是多少"),
    ],
)
def test_the_language_of_a_question_is_detected(language: str, text: str) -> None:
    assert detect(text) == language
    assert possible(text)[0] == language


@pytest.mark.parametrize(
    "text", ["", "   ", "12345 67", "😀🎉", "TL-SE2109", "wifi password", "Cold exposure BAT", "\ud800"]
)
def test_an_unclear_case_is_not_guessed(text: str) -> None:
    assert detect(text) == ""


@pytest.mark.parametrize(
    "text",
    ["carry over leave?", "Overtime carry over", "due dates", "over budget", "ten day notice", "war room"],
)
def test_one_word_that_is_english_too_decides_no_language(text: str) -> None:
    assert detect(text) == ""
    assert "en" in possible(text)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("nl", "wat over verlof?"),
        ("nl", "Waar gaat dit document over?"),
        ("it", "come funzionano le ferie?"),
        ("en", "carry over vacation days from last year"),
    ],
)
def test_a_second_word_decides(language: str, text: str) -> None:
    assert detect(text) == language


def test_near_languages_stay_possible() -> None:
    assert set(possible("Hvor mange dager har jeg ferie?")) >= {"da", "no"}


@given(text=st.text(max_size=300))
def test_any_text_has_a_known_language_or_none(text: str) -> None:
    known = {*FUNCTION_WORDS, *OF_ONE_SCRIPT, ""}
    assert detect(text) in known
    assert set(possible(text)) <= known
    if language := detect(text):
        assert language in possible(text)


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared is absent")
@pytest.mark.parametrize(
    ("name", "language"), [("xquad-en", "en"), ("xquad-es", "es"), ("xquad-zh", "zh"), ("cranfield", "en")]
)
def test_real_passages_and_questions(name: str, language: str) -> None:
    passages, questions = texts(name, "corpus"), texts(name, "queries")
    assert sum(detect(text) == language for text in passages) >= 0.99 * len(passages)
    assert sum(detect(text) == language for text in questions) >= 0.94 * len(questions)
    assert sum(detect(text) not in {language, ""} for text in questions) <= 0.002 * len(questions)


def texts(name: str, part: str) -> list[str]:
    with gzip.open(DATA / name / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def test_a_chosen_language_comes_before_the_language_of_the_question() -> None:
    assert question_language("Wie lange dauert der Urlaub?") == "de"
    assert question_language("Wie lange dauert der Urlaub?", chosen="fr") == "fr"
    assert question_language("42") == "en"
