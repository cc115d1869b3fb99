"""What a person in a chat reads while the index is away or answers in part."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot import compose, settings
from bot.port import Attachment, IncomingMessage, Limits, Person, Place, Reply
from rag_engine.steps import retrieve
from tests.doubles import flaky_index

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from bot.service import Service

PLACE = Place(platform="test", workspace="w", channel="c")
WAITING = Reply(status=f"leave.md is waiting: {flaky_index.SENTENCE}")


class RecordedStream:
    """Keeps every reply; `waits` is set when one says that it waits."""

    def __init__(self) -> None:
        self.limits = Limits(characters=4000, edit_seconds=0)
        self.shown: list[Reply] = []
        self.final = Reply()
        self.waits = asyncio.Event()

    async def show(self, reply: Reply) -> None:
        self.shown.append(reply)
        if "waiting" in reply.status:
            self.waits.set()

    async def finish(self, reply: Reply) -> None:
        self.final = reply


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings with the flaky index and the quick embedder."""
    flaky_index.install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, value in {**flaky_index.ENVIRONMENT, "FOOTNOTE_EMBEDDER__KIND": "hashing"}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
async def service(data_dir: Path) -> AsyncGenerator[Service]:
    async with compose.application(settings.read()) as application:
        yield compose.service(application)


def message(text: str = "", *attachments: Attachment) -> IncomingMessage:
    return IncomingMessage(id="m", place=PLACE, person=Person(id="p"), text=text, attachments=attachments)


def leave() -> Attachment:
    content = b"# Leave\n\nThe leave is 28 days.\n"

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    return Attachment(
        name="leave.md", media_type="text/markdown", size=len(content), uri="test:leave", open=pieces
    )


async def told(service: Service, asked: IncomingMessage) -> RecordedStream:
    stream = RecordedStream()
    async with asyncio.timeout(30):
        await service.on_message(asked, stream)
    return stream


async def test_a_file_waits_for_the_index_and_the_status_says_so(data_dir: Path, service: Service) -> None:
    away = data_dir / flaky_index.AWAY
    away.touch()
    stream = RecordedStream()
    async with asyncio.timeout(30):
        receiving = asyncio.create_task(service.on_message(message("", leave()), stream))
        await stream.waits.wait()
        away.unlink()
        await receiving
    reading = Reply(status="Reading leave.md…")
    assert stream.shown == [reading, WAITING, reading]
    assert stream.final == Reply(text="- leave.md: 1 passage, searchable")


async def test_after_its_patience_a_file_ends_as_one_sentence(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_INGESTION__PATIENCE_SECONDS", "0.2")
    async with compose.application(settings.read()) as application:
        (data_dir / flaky_index.AWAY).touch()
        stream = await told(compose.service(application), message("", leave()))
    assert stream.shown[-1] == WAITING
    assert stream.final == Reply(text=f"- leave.md: {flaky_index.SENTENCE}")


async def test_a_question_to_an_index_that_is_away_ends_as_its_one_sentence(
    data_dir: Path, service: Service
) -> None:
    await told(service, message("", leave()))
    (data_dir / flaky_index.AWAY).touch()
    stream = await told(service, message("How many days is the leave?"))
    assert stream.final == Reply(text=flaky_index.SENTENCE)


async def test_an_answer_from_a_part_of_the_index_says_so(data_dir: Path, service: Service) -> None:
    await told(service, message("", leave()))
    whole = await told(service, message("How many days is the leave?"))
    (data_dir / flaky_index.PART).touch()
    part = await told(service, message("How many days is the leave?"))
    assert retrieve.PART_MISSING not in whole.final.notices
    assert "28 days" in part.final.text
    assert part.final.notices.count(retrieve.PART_MISSING) == 1


async def test_nothing_found_in_a_part_of_the_index_is_not_the_last_word(
    data_dir: Path, service: Service
) -> None:
    await told(service, message("", leave()))
    (data_dir / flaky_index.PART).touch()
    part = await told(service, message("Quantum chromodynamics?"))
    assert retrieve.PART_MISSING in part.final.notices
