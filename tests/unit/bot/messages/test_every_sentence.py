"""All sentences for people, of the engine and of the bot: one register in each language, and plural forms."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bot
import rag_engine
from bot import messages
from bot.messages import say
from rag_engine.generation.phrases import phrase
from rag_engine.text import messages as engine_messages
from rag_engine.text.messages.message_catalog import plural_forms

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINE, BOT = Path(rag_engine.__file__).parent, Path(bot.__file__).parent
FOLDERS = (
    BOT / "messages/catalog",
    BOT / "messages/platform",
    ENGINE / "text/messages",
    ENGINE / "generation/phrases",
    ENGINE / "text/place_names",
)
LANGUAGES = sorted({path.stem for folder in FOLDERS for path in folder.glob("*.toml")})
OTHER_REGISTER = {
    "de": r"\b\w+en Sie\b|(?<![.:!?] )(?<!^)\b(?:Sie|Ihnen|Ihre?[mnrs]?)\b|\b(?:euch|eure?[mnrs]?|habt|könnt|dürft|seid)\b",
    "es": r"\b(?:tú|tus?|te|ti|contigo|puedes|tienes|usa el|añade|prueba|intenta|di|haz)\b|\w+(?:údame|úntame|óname|éntalo|íalo)\b",
    "fr": r"\b(?:tu|toi|te|ton|ta|tes)\b",
    "it": r"\b(?:Lei|Suoi?|Sua|provi|aggiunga|chieda|invii|riprovi|vostr[oaie]|voi|potete|provate|aggiungete)\b",
    "ko": r"(?<!세)요(?=[.?!…]|$)|(?<!니)다(?=[.?!…]|$)|십시오|까요",
    "nl": r"\b(?:u|uw|U|Uw|jullie)\b",
    "pt": r"\b(?:tu|te|ti|teus?|tuas?|contigo|podes|tens|ficheiros?)\b",
    "ru": r"(?i:\b(?:ты|тебя|тебе|тобой|тво[йяеёию]\w*)\b)|(?<![.:!?«] )(?<!^)\b(?:Вы|Вас|Вам|Ваш\w*)\b|(?i:\b(?:добавь|попробуй|спроси|отправь|нажми|напиши|проверь|сохрани|удали|введи|выбери|открой|укажи|раздели|задай)\b)",
}
MARKUP = re.compile(r"`[^`]*`|\{\w+\}")
SAID_TO_THE_BOT = "prompt_"
COUNTED = re.compile(r"(?<!\()\{count\} \w")
"""A number with its noun; numbers in brackets and after a colon have no plural."""


def sentences(language: str) -> Iterator[tuple[str, str | dict[str, str]]]:
    for folder in FOLDERS:
        path = folder / f"{language}.toml"
        if not path.exists():
            continue
        for group in tomllib.loads(path.read_text(encoding="utf-8")).values():
            for name, sentence in group.items():
                yield from ((name, one) for one in (sentence if isinstance(sentence, list) else [sentence]))


@pytest.mark.parametrize("language", sorted(OTHER_REGISTER))
def test_no_sentence_uses_the_other_register(language: str) -> None:
    pattern = re.compile(OTHER_REGISTER[language])
    found = [
        (name, words[0])
        for name, sentence in sentences(language)
        for form in (sentence.values() if isinstance(sentence, dict) else [sentence])
        if not name.startswith(SAID_TO_THE_BOT) and (words := pattern.search(MARKUP.sub("", form)))
    ]
    assert found == []


SCRIPTS = {"ko": "[가-힣]", "ru": "[а-яё]", "ja": "[ぁ-ヿ一-鿿]", "zh": "[一-鿿]"}
BARE = {
    "with_id",
    "within",
    "file_failed",
    "fact",
    "sentences_joined",
    "status_failure",
    "of_channel",
    "exported",
}
BARE |= {"list_last", "list_comma", "document_ready_pages"}
"""Sentences that only join what others say."""


@pytest.mark.parametrize("language", sorted(SCRIPTS))
def test_every_sentence_is_written_in_the_script_of_its_language(language: str) -> None:
    for name, sentence in sentences(language):
        for form in sentence.values() if isinstance(sentence, dict) else [sentence]:
            assert name in BARE or re.search(SCRIPTS[language], form), name


def test_every_language_is_in_every_folder() -> None:
    for folder in FOLDERS:
        assert sorted(path.stem for path in folder.glob("*.toml")) == LANGUAGES
    assert sorted(messages.LANGUAGES) == sorted(engine_messages.LANGUAGES) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_is_counted_has_every_plural_form(language: str) -> None:
    for name, sentence in sentences(language):
        if isinstance(sentence, dict):
            assert set(sentence) == plural_forms(language), name
        elif len(plural_forms(language)) > 1 and "{number}" not in sentence:
            assert not COUNTED.search(sentence), name


def test_one_of_a_thing_is_said_in_the_singular() -> None:
    assert phrase("parts_quoted", language="en", count=1).startswith("1 part was quoted")
    assert phrase("parts_quoted", language="de", count=1).startswith("1 Teil wurde zitiert")
    assert phrase("passages_left_out", language="fr", title="a", count=1200).startswith("a est très long")
    assert "1\u202f200" in phrase("passages_left_out", language="fr", title="a", count=1200)
    assert say("file_progress", "en", name="a.pdf", count=1) == "a.pdf: reading… 1 passage so far"


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 документ"),
        (3, "3 документа"),
        (5, "5 документов"),
        (12, "12 документов"),
        (21, "21 документ"),
        (1002, "1\u00a0002 документа"),
    ],
)
def test_russian_counts_have_three_forms(count: int, said: str) -> None:
    assert say("documents", "ru", count=count) == said
