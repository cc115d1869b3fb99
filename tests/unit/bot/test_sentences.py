from __future__ import annotations

import re
from typing import get_args

import pytest

from bot.failures import sentence_of
from bot.port import Person, Refused, Unreachable
from bot.sentences import LANGUAGES, language_of, say
from bot.sentences.names import Sentence
from rag_engine import errors

PLACES = re.compile(r"\{\w+\}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_its_places(language: str) -> None:
    said = LANGUAGES[language]
    assert set(said) == set(get_args(Sentence))
    for name, sentence in LANGUAGES["en"].items():
        assert sorted(PLACES.findall(said[name])) == sorted(PLACES.findall(sentence)), name
        assert said[name].strip(), name


def test_there_are_the_nine_languages_of_the_product() -> None:
    assert set(LANGUAGES) == {"en", "de", "fr", "es", "it", "pt", "nl", "ja", "zh"}


def test_braces_in_values_mean_nothing_and_other_languages_read_english() -> None:
    said = say("file_progress", "fi", name="{count}.pdf", count=3)
    assert said == "{count}.pdf: reading… 3 passages so far"


def test_the_language_is_the_places_or_the_texts_or_the_persons() -> None:
    ann = Person(id="1", language="fr-CA")
    assert language_of("Wie viele Tage sind es denn noch?", ann, chosen="es") == "es"
    assert language_of("Wie viele Tage sind es denn noch?", ann) == "de"
    assert language_of("42", ann) == "fr"
    assert language_of("42", Person(id="1")) == "en"


@pytest.mark.parametrize(
    ("error", "begins"),
    [
        (errors.QueryTooLong("Too long; shorten it."), "Too long; shorten it."),
        (Refused("The link has expired: send it again."), "The link has expired: send it again."),
        (errors.IndexUnavailable(), "L’index de recherche ne répond pas"),
        (errors.ModelUnavailable(), "Le modèle de langue ne répond pas"),
        (errors.StorageUnavailable(), "Rien ne peut être enregistré"),
        (errors.ContentFiltered(), "Le modèle de langue ne répond pas à cela"),
        (errors.ContextTooLong(), "La question avec ses passages est trop longue"),
        (Unreachable("no answer"), "Je n’ai pas pu apprendre"),
        (TimeoutError(), "Je n’ai pas pu apprendre"),
        (ValueError("a bug"), "Une erreur s’est produite"),
        (ExceptionGroup("", [errors.RateLimited()]), "Un service demande de ralentir"),
    ],
)
def test_each_failure_is_one_sentence_and_what_the_asker_cannot_mend_has_an_id(
    error: Exception, begins: str
) -> None:
    said = sentence_of(error, "fr")
    assert said.startswith(begins)
    assert ("identifiant" in said) != isinstance(error, errors.UserError | Refused)
    assert "bug" not in said


def test_the_id_that_is_told_is_the_one_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    said = sentence_of(errors.IndexUnavailable("The index is away."), "en")
    identity = re.search(r"\(id (\w+)\)", said)
    assert identity
    assert said.startswith("The index is away.")
    assert identity[1] in caplog.text
