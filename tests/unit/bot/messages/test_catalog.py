from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from bot import messages
from bot.messages import CATALOG, LANGUAGES, language_of, say
from bot.messages.errors import sentence_of
from bot.messages.names import Sentence
from bot.messages.workspace_names import ServerSentence, WorkspaceSentence, sentence_on
from bot.port import Person, Unreachable, WriteRefused
from rag_engine import errors
from rag_engine.text.messages.message_catalog import PLACE, places, plural_forms

SAME_IN_ENGLISH = {"with_id", "fact_index", "passages", "sources", "status_failure", "stop"}
"""Sentences that are the same words in another language, such as *Sources* in French."""

SETTING = "FOOTNOTE_ACCESS__WORKSPACES"
FOLDER = Path(messages.__file__).with_name("catalog")


def has_words(sentence: str | dict[str, str]) -> bool:
    return any(character.isalpha() for character in re.sub(r"\{\w+\}", "", str(sentence)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_its_places_and_plural_forms(language: str) -> None:
    sentences = CATALOG.sentences(language)
    assert set(sentences) == {*get_args(Sentence), *get_args(WorkspaceSentence)}
    for name, english in CATALOG.sentences("en").items():
        sentence = sentences[name]
        assert places(sentence) == places(english), name
        assert isinstance(sentence, dict) == isinstance(english, dict), name
        forms = [sentence] if isinstance(sentence, str) else list(sentence.values())
        assert all(form.strip() for form in forms), name
        if isinstance(sentence, dict):
            assert set(sentence) == plural_forms(language), name


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_no_sentence_is_left_in_english(language: str) -> None:
    english = CATALOG.sentences("en")
    sentences = CATALOG.sentences(language)
    same = {name for name in english if sentences[name] == english[name] and has_words(english[name])}
    assert same <= SAME_IN_ENGLISH


def test_there_are_the_nine_languages_of_the_product() -> None:
    assert set(LANGUAGES) == {path.stem for path in FOLDER.glob("*.toml")}
    assert set(LANGUAGES) == {"en", "de", "fr", "es", "it", "pt", "nl", "ja", "ko", "ru", "zh"}


def test_braces_in_values_mean_nothing_and_other_languages_read_english() -> None:
    said = say("file_progress", "fi", name="{count}.pdf", count=3)
    assert said == "{count}.pdf: reading… 3 passages so far"


def test_the_language_is_the_places_or_the_texts_or_the_persons() -> None:
    ann = Person(id="1", language="fr-CA")
    assert language_of("Wie viele Tage sind es denn noch?", ann, chosen="es") == "es"
    assert language_of("Wie viele Tage sind es denn noch?", ann) == "de"
    assert language_of("42", ann) == "fr"
    assert language_of("42", Person(id="1")) == "en"


WORDS = {
    "de": ("Arbeitsbereich", "Server"),
    "en": ("workspace", "server"),
    "es": ("espacio de trabajo", "servidor"),
    "fr": ("espace de travail", "serveur"),
    "it": (r"(?:area|spazio) di lavoro", "server"),
    "ja": ("ワークスペース", "サーバー"),
    "ko": ("워크스페이스", "서버"),
    "nl": ("werkruimte", "server"),
    "pt": ("espaço de trabalho", "servidor"),
    "ru": (r"рабоч\w+ пространств", "сервер"),
    "zh": ("工作区", "服务器"),
}
"""Of a workspace and of a server."""
OF_COMPUTERS = {"speak_unset", "hear_unset", "audio_away"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_discord_hears_of_servers_and_slack_of_workspaces(language: str) -> None:
    of_workspace, of_server = (re.compile(word, re.IGNORECASE) for word in WORDS[language])
    sentences = {name: PLACE.sub("", str(text)) for name, text in CATALOG.sentences(language).items()}
    about = {name for name, text in sentences.items() if of_workspace.search(text.replace(SETTING, ""))}
    assert about == set(get_args(WorkspaceSentence))
    for name in get_args(WorkspaceSentence):
        assert not of_server.search(sentences[sentence_on("slack", name)]), name
        assert of_server.search(sentences[sentence_on("discord", name)]), name
    of_servers = {name for name, text in sentences.items() if of_server.search(text)}
    assert of_servers - OF_COMPUTERS == set(get_args(ServerSentence))


@pytest.mark.parametrize(
    ("error", "begins"),
    [
        (errors.QueryTooLong("Too long; shorten it."), "Too long; shorten it."),
        (WriteRefused("The link has expired: send it again."), "The link has expired: send it again."),
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
def test_each_failure_is_one_sentence_and_those_the_asker_cannot_fix_have_an_id(
    error: Exception, begins: str
) -> None:
    said = sentence_of(error, "fr")
    assert said.startswith(begins)
    assert ("identifiant" in said) != isinstance(error, errors.UserError | WriteRefused)
    assert "bug" not in said


def test_the_id_that_is_shown_is_the_one_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    said = sentence_of(errors.IndexUnavailable("The index is away."), "en")
    identity = re.search(r"\(id (\w+)\)", said)
    assert identity
    assert said.startswith("The index is away.")
    assert identity[1] in caplog.text
