from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.retrieval.queries.spelling_corrections import (
    corrected_question,
    corrected_words,
    listed_tokens,
    sentences,
)
from rag_engine.text.analyzer import query_tokens, query_words, tokens
from tests.doubles.rankings import chunk, ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.types import Ranking


def _ranking(text: str, corrections: Mapping[str, str], *, language: str = "en") -> Ranking:
    """`corrections` from a typed word to the one in the text."""
    found = ranking("lexical", [(chunk("a", text=text, language=language), 2.0)])
    by_token = {
        token: tuple(tokens(searched, language=language))
        for typed, searched in corrections.items()
        for token in query_tokens(typed)
    }
    return replace(found, corrections=by_token)


def test_words_are_named_as_they_are_written() -> None:
    found = _ranking("Every public holiday is paid.", {"hollyday": "holiday"})
    assert corrected_words("Is a hollyday paid?", found) == {"hollyday": "holiday"}
    assert sentences({"hollyday": "holiday"}) == "Searched for “holiday” instead of “hollyday”."


def test_a_correction_that_found_nothing_is_not_named() -> None:
    found = _ranking("Every leave is paid.", {"hollyday": "holiday"})
    assert corrected_words("Is a hollyday paid?", found) == {}


def test_a_word_in_another_form_is_not_mistyped() -> None:
    found = _ranking("The holidays. A holly day.", {"holidays": "holly"})
    assert corrected_words("holidays", found) == {}


def test_a_word_of_the_language_is_not_taken_for_a_typing_error() -> None:
    found = _ranking("King Edward ruled.", {"kind": "King"})
    assert corrected_words("What kind of ruler?", found) == {"kind": "King"}
    assert corrected_words("What kind of ruler?", found, is_word={"kind"}.__contains__) == {}


def test_a_function_word_of_the_questions_language_is_not_mistyped() -> None:
    """An English embedder does not know it; "viel" once became "vier"."""
    found = _ranking("Der Antrag hat vier Seiten.", {"viel": "vier"}, language="de")
    assert corrected_words("Wie viel hat das Team im März ausgegeben?", found) == {}


def test_a_word_of_another_language_is_no_correction() -> None:
    found = _ranking("Diese Regelung gilt für alle.", {"días": "diese"}, language="de")
    assert corrected_words("¿Cuántos días de vacaciones tengo?", found) == {}
    assert corrected_words("días", found) == {}


@pytest.mark.parametrize(
    ("question", "text", "typed", "searched", "language"),
    [
        ("Wer hat die Kasse gezählt?", "Die Kissen liegen auf dem Sofa.", "Kasse", "Kissen", "de"),
        ("Wer gründete den Verein?", "Der Verein hat ein grünes Wappen.", "gründete", "grünes", "de"),
        ("Wer führt den Zug?", "Der Zug fährt um acht.", "führt", "fährt", "de"),
        ("Wie oft ist es verkehrt?", "Der Verkehr ist dicht.", "verkehrt", "Verkehr", "de"),
        ("¿Quién puede saltar más?", "La santa puede más.", "saltar", "santa", "es"),
        ("Qui a fait la vente ?", "Le vent est fort dans les rues.", "vente", "vent", "fr"),
        ("Chi ha visto il gatto?", "Il getto d'acqua è nella piazza.", "gatto", "getto", "it"),
        ("Onde é que está a porta?", "O porto está onde os navios são.", "porta", "porto", "pt"),
        ("Wie heeft de kast gezien?", "De kosten zijn niet hoog.", "kast", "kosten", "nl"),
        ("Кто был в лесу?", "Это лист, который был на дереве.", "лесу", "лист", "ru"),
    ],
)
def test_another_word_is_no_typing_error(
    question: str, text: str, typed: str, searched: str, language: str
) -> None:
    """No vocabulary of an English embedder holds them; stems may be one letter apart."""
    assert corrected_words(question, _ranking(text, {typed: searched}, language=language)) == {}


def test_a_listed_word_of_the_questions_language_is_not_mistyped() -> None:
    """One letter apart, as typing errors are: only the list of German words tells them apart."""
    found = _ranking("Die Klasse ist voll.", {"Kasse": "Klasse"}, language="de")
    assert corrected_words("Wer hat die Kasse gezählt?", found) == {}
    found = _ranking("Die Klasse ist voll.", {"Klsase": "Klasse"}, language="de")
    assert corrected_words("Wer hat die Klsase gezählt?", found) == {"Klsase": "Klasse"}


def test_the_index_looks_for_no_neighbours_of_a_listed_word() -> None:
    asked = "Wer hat die {} gezählt?"
    assert "kass" in listed_tokens(query_words(asked.format("Kasse")), "de")
    assert listed_tokens(query_words(asked.format("Klsase")), "de").isdisjoint(query_tokens("Klsase"))
    assert listed_tokens(query_words("Kasse"), "") == frozenset()


def test_an_english_word_of_a_chinese_question_is_corrected_as_in_english() -> None:
    found = _ranking("每个 holiday 都带薪。", {"hollyday": "holiday"}, language="zh")
    assert corrected_words("请问 hollyday 有几天?", found) == {"hollyday": "holiday"}


def test_the_nearest_form_is_named() -> None:
    found = _ranking("The buildings are high. A building is low.", {"buiding": "building"})
    assert corrected_words("Which buiding is low?", found) == {"buiding": "building"}


def test_only_whole_words_are_replaced() -> None:
    corrected = {"plan": "plane", "plant": "planet"}
    assert (
        corrected_question("Is a plan for the plant planned?", corrected)
        == "Is a plane for the planet planned?"
    )
    assert corrected_question("请问hollyday几天?", {"hollyday": "holiday"}) == "请问holiday几天?"


def test_without_corrections_nothing_is_read() -> None:
    assert corrected_words("Is a hollyday paid?", _ranking("holiday", {})) == {}


@pytest.mark.parametrize(
    ("question", "text", "typed", "searched", "language"),
    [
        (
            "Wie lang ist die Kündigugnsfrist?",
            "Die Kündigungsfrist ist lang.",
            "Kündigugnsfrist",
            "Kündigungsfrist",
            "de",
        ),
        ("Сколько дней отпусск?", "Отпуск длится 28 дней.", "отпусск", "Отпуск", "ru"),
        (
            "Wie lang ist die Kundigungsfrit?",
            "Die Kündigungsfrist ist lang.",
            "Kundigungsfrit",
            "Kündigungsfrist",
            "de",
        ),
        ("Wer hat die Kasrten?", "Wer mag die Karten?", "Kasrten", "Karten", "de"),
        ("Wer hat den Schlüswel?", "Der Schlüssel ist hier.", "Schlüswel", "Schlüssel", "de"),
        ("¿Quién tiene la contrazeña?", "La contraseña es nueva.", "contrazeña", "contraseña", "es"),
        ("Сколько стоит билкт?", "Билет стоит сто рублей.", "билкт", "Билет", "ru"),
        ("¿Cuándo se firmó lo de Maastrich?", "Se firmó en Maastricht.", "Maastrich", "Maastricht", "es"),
        ("¿Cuántos días de vacacoines hay?", "Hay 30 días de vacaciones.", "vacacoines", "vacaciones", "es"),
        ("Quel est le numréo de la salle ?", "Le numéro de la salle est 12.", "numréo", "numéro", "fr"),
        ("Quanto dura il contrtto?", "Il contratto è di due anni.", "contrtto", "contratto", "it"),
        ("Quando é a reuniao?", "A reunião é na segunda.", "reuniao", "reunião", "pt"),
        ("Wanneer is de vergaderng?", "De vergadering is om tien uur.", "vergaderng", "vergadering", "nl"),
    ],
)
def test_other_languages(question: str, text: str, typed: str, searched: str, language: str) -> None:
    found = _ranking(text, {typed: searched}, language=language)
    assert corrected_words(question, found) == {typed: searched}


def test_at_most_three_are_named() -> None:
    typed = {"clsuter": "cluster", "recvery": "recovery", "netwrok": "network", "serach": "search"}
    found = _ranking(" ".join(typed.values()), typed)
    assert len(corrected_words(" ".join(typed), found)) == 3
