"""In a channel of another language no reply contains an English sentence, whatever its parts come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pymupdf
import pytest

from bot.port import WriteRefused
from bot.store.places import PlaceSettings
from rag_engine.errors import IndexUnavailable, ModelUnavailable
from tests.unit.bot.chatting import attachment, world
from tests.unit.bot.conversation.leave import IN_THREAD

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from tests.unit.bot.chatting import Post, World

QUESTION = "Wie viele Urlaubstage haben wir denn in diesem Jahr?"
ENGLISH = re.compile(
    r"\b(the|file|files|is|are|could|again|there|protected|cannot|read|of|and|this|it|with|password|here|not|passages?)\b",
    re.IGNORECASE,
)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        made.town.settings_of["general"] = PlaceSettings(language="de")
        yield made


def encrypted_pdf() -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "secret")
        return document.tobytes(encryption=5, user_pw="a password", owner_pw="another")


def english_in(post: Post) -> list[str]:
    """The English words of everything that a post shows, without code and names of files."""
    shown = [post.text, *post.statuses, *post.reply.notices, *(button.label for button in post.reply.buttons)]
    text = re.sub(r"`[^`]*`|\S+\.(pdf|mid|md|ogg|docx)\b", "", "\n".join(shown))
    return ENGLISH.findall(text)


@pytest.mark.parametrize(
    ("name", "content", "contains"),
    [
        ("geheim.pdf", encrypted_pdf, "mit einem Passwort geschützt"),
        ("ton.mid", b"ID3", "kann nicht gelesen werden; lesbar sind PDF"),
        ("kaputt.docx", b"PK\3\4broken", "beschädigt"),
        ("leer.md", b"\n\n", "keinen Text"),
        ("text.pdf", b"plain words", "reiner Text"),
    ],
)
async def test_a_refused_file(
    here: World, name: str, content: bytes | Callable[[], bytes], contains: str
) -> None:
    post = await here.ask("", attachment(name, content() if callable(content) else content), **IN_THREAD)
    assert contains in post.text
    assert english_in(post) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "This file is no longer in Slack: upload it again.",
        "Discord's link to this file has run out; please send the file again.",
    ],
)
async def test_a_file_that_the_platform_refuses(here: World, sentence: str) -> None:
    post = await here.ask("", attachment("urlaub.md", WriteRefused(sentence)), **IN_THREAD)
    assert "noch einmal" in post.text
    assert english_in(post) == []


async def test_nothing_found_and_a_model_that_fails(here: World) -> None:
    await here.ask("", attachment("urlaub.txt", "Urlaub\n\nAlle haben 28 Tage.\n"), **IN_THREAD)
    here.says(fault=ModelUnavailable("The language model is out of order; try again in a moment."))
    post = await here.ask("Quantenchromodynamik auf dem Gitter?", **IN_THREAD)
    assert post.text.startswith("Das habe ich nicht gefunden. Durchsucht: ")
    assert "urlaub.txt, Zeilen 1–3" in post.text
    assert english_in(post) == []


async def test_files_of_a_thread_are_not_searched_in_the_channel(here: World) -> None:
    post = await here.ask(QUESTION)
    assert "Hier gibt es noch keine Dateien" in post.text
    assert post.text.endswith("nur in diesem Thread durchsucht.")
    assert english_in(post) == []


async def test_a_service_that_does_not_answer(here: World) -> None:
    here.says("28 Tage", fault=IndexUnavailable("The search index cannot be reached; try again in a moment."))
    post = await here.ask(QUESTION)
    assert english_in(post) == []


async def test_a_question_without_words(here: World) -> None:
    post = await here.ask("???!")
    assert english_in(post) == []


async def test_what_is_translated_on_request_has_buttons_of_its_language(tmp_path: Path) -> None:
    async with world(tmp_path, complete=True) as here:
        await here.ask(
            "", attachment("urlaub.md", "# Urlaub\n\nAlle haben 28 Tage Urlaub im Jahr.\n"), **IN_THREAD
        )
        here.says(fault=ModelUnavailable("The language model is out of order; try again in a moment."))
        post = await here.ask("Please summarise urlaub.md in German", **IN_THREAD)
        assert post.text.startswith("Ohne Sprachmodell: ")
        assert "Neu beantworten" in [button.label for button in post.reply.buttons]
        assert english_in(post) == []


async def test_a_follow_up_in_another_language_is_answered_in_one(tmp_path: Path) -> None:
    async with world(tmp_path, complete=True) as here:
        await here.ask(
            "", attachment("urlaub.md", "# Urlaub\n\nAlle haben 28 Tage Urlaub im Jahr.\n"), **IN_THREAD
        )
        here.says(fault=ModelUnavailable("The language model is out of order; try again in a moment."))
        await here.ask(QUESTION, **IN_THREAD)
        post = await here.ask("explain it", **IN_THREAD)
        assert post.text.startswith("Das habe ich nicht gefunden")
        assert english_in(post) == []


@pytest.mark.parametrize("question", ["Summarise nowhere.pdf", "Fasse nirgends.pdf zusammen"])
async def test_a_file_that_does_not_exist_is_not_asked_about_again(tmp_path: Path, question: str) -> None:
    async with world(tmp_path, complete=True) as here:
        await here.ask("", attachment("urlaub.md", "# Urlaub\n\nAlle haben 28 Tage Urlaub.\n"), **IN_THREAD)
        post = await here.ask(question, **IN_THREAD)
        assert "nowhere.pdf" in post.text or "nirgends.pdf" in post.text
        assert "regenerate" not in [button.name for button in post.reply.buttons]


FOREIGN = {
    "ko": (
        "직원은 매년 며칠의 휴가를 받습니까?",
        "# 휴가\n\n모든 직원은 매년 28일의 휴가를 받습니다.\n",
        "찾지 못했습니다",
    ),
    "ru": (
        "Сколько дней отпуска положено сотрудникам?",
        "# Отпуск\n\nСотрудникам положено 28 дней отпуска.\n",
        "Я не нашёл",
    ),
}


def english_words(post: Post) -> list[str]:
    """All words in Latin letters that no language of another script borrows."""
    shown = [post.text, *post.statuses, *post.reply.notices, *(button.label for button in post.reply.buttons)]
    text = re.sub(r"`[^`]*`|#\w+|\S+\.(pdf|mid|md|ogg|docx)\b", "", "\n".join(shown))
    return [word for word in re.findall(r"[A-Za-z]{2,}", text) if word.lower() == word]


@pytest.mark.parametrize("language", sorted(FOREIGN))
async def test_a_conversation_in_another_script(tmp_path: Path, language: str) -> None:
    question, document, missing = FOREIGN[language]
    async with world(tmp_path) as here:
        here.town.settings_of["general"] = PlaceSettings(language=language)
        posts = [
            await here.ask("", attachment("secret.pdf", encrypted_pdf()), **IN_THREAD),
            await here.ask("", attachment("sound.mid", b"\x00\x00\x00\x18ftypmp42"), **IN_THREAD),
            await here.ask("", attachment("empty.md", b"\n\n"), **IN_THREAD),
            await here.ask("", attachment("leave.md", document), **IN_THREAD),
            await here.ask("???!", **IN_THREAD),
        ]
        here.says(fault=ModelUnavailable("The language model is out of order; try again in a moment."))
        posts.append(await here.ask(question, **IN_THREAD))
        posts.append(await here.ask("Quantenchromodynamik?", **IN_THREAD))
        here.says("28", fault=IndexUnavailable("The search index cannot be reached; try again in a moment."))
        posts.append(await here.ask(question, **IN_THREAD))
    assert missing in posts[-2].text
    assert "28" in posts[-3].text
    assert [(post.text, english_words(post)) for post in posts if english_words(post)] == []
