"""Files before, while and after they are read: what is refused, what is said, and what goes in."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.files.downloads import Downloads
from bot.files.uploads import Uploads, uris
from bot.port import Unreachable, WriteRefused
from bot.resilience.retry import keep_trying
from rag_engine.errors import IndexUnavailable
from rag_engine.storage.concurrency.worker_liveness import working
from tests.unit.bot.chatting import ANN, CHANNEL, attachment
from tests.unit.bot.files.uploading import taken, unopened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.port import Attachment, Reply
    from rag_engine.types import Blob, DocumentRecord, KnowledgeBase
    from tests.unit.bot.chatting import World


LEAVE = "# Leave\n\nEverybody has 28 days of leave a year.\n"


LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            unopened("a.pdf", size=3_000_000),
            "a.pdf: it has 3 MB, and at most 2 MB are read; split it into smaller files.",
        ),
        (
            unopened("a.mp4", media_type="video/mp4"),
            "a.mp4: this kind of file cannot be read; I read PDF, Word",
        ),
        (unopened("a.exe"), "a.exe: this kind of file cannot be read"),
        (
            unopened("voice.ogg", refusal="Voice messages cannot be read: write it."),
            "voice.ogg: Voice messages cannot be read",
        ),
        (
            unopened("x.pdf", refusal="It lives in another organisation: upload it here."),
            "x.pdf: It lives in another",
        ),
    ],
)
async def test_what_cannot_be_taken_is_not_even_fetched(
    here: World, base: KnowledgeBase, given: Attachment, said: str
) -> None:
    (one,) = await taken(here, base, given)
    assert one.line.startswith(said)
    assert not one.searchable
    assert not one.later


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (attachment("a.md", b""), "a.md: the file is empty."),
        (attachment("a.md", LEAVE, size=5000), "a.md: it did not arrive completely; send it again."),
        (attachment("a.pdf", LOGIN), "a.pdf: a sign-in page came instead of the file"),
        (attachment("a.docx", b"  \n" + LOGIN), "a.docx: a sign-in page came instead of the file"),
        (
            attachment("a.md", WriteRefused("The link to a.md has expired: send it again.")),
            "a.md: The link to a.md has expired",
        ),
        (attachment("a.pdf", LEAVE), "a.pdf: a.pdf is plain text, not a .pdf file"),
        (attachment("a.pdf", b"%PDF-1.7\nnonsense"), "a.pdf: "),
        (attachment("a.md", "\n\n"), "a.md: "),
    ],
)
async def test_what_is_wrong_with_the_bytes_is_one_sentence(
    here: World, base: KnowledgeBase, given: Attachment, said: str
) -> None:
    (one,) = await taken(here, base, given)
    assert one.line.startswith(said)
    assert len(one.line) > len(said) or one.line == said
    assert not one.searchable
    assert not one.later


async def test_the_platforms_word_on_the_size_is_not_trusted(here: World, base: KnowledgeBase) -> None:
    blocks = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal blocks
        while True:
            blocks += 1
            yield b"x" * 100_000

    (one,) = await taken(here, base, replace(attachment("a.txt", "x"), open=endless, size=10))
    assert "at most 2 MB are read" in one.line
    assert blocks < 30


async def test_a_file_that_does_not_come_is_given_up(here: World, base: KnowledgeBase) -> None:
    async def never() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    impatient = Uploads(intake=here.intake, fetching=Downloads(most_bytes=1000, seconds=0.05))
    async with asyncio.timeout(5):
        (one,) = await impatient.add(
            [replace(attachment("a.md", "x"), open=never)], knowledge_base=base.id, show=lambda lines: None
        )
    assert one.line == "a.md: it did not arrive in time; send it again."


async def test_what_may_work_later_says_so(here: World, base: KnowledgeBase) -> None:
    (one,) = await taken(here, base, attachment("a.md", Unreachable("no answer")))
    assert one.later
    assert one.line == "a.md: it could not be fetched; send it again."


async def test_a_bug_in_one_file_is_an_id_and_harms_no_other(here: World, base: KnowledgeBase) -> None:
    broken, good = await taken(here, base, attachment("a.md", ValueError("a bug")), attachment("b.md", LEAVE))
    assert broken.line.startswith("a.md: Something broke (id ")
    assert broken.later
    assert good.searchable


async def test_lines_are_in_the_language_that_is_asked_for(here: World, base: KnowledgeBase) -> None:
    (one,) = await taken(here, base, attachment("a.md", LEAVE), language="de")
    assert one.line == "a.md: 1 Textstelle, durchsuchbar"


async def test_files_of_one_message_share_its_link_and_stay_apart(here: World, base: KnowledgeBase) -> None:
    one, two = (
        attachment("a.md", LEAVE, uri="https://chat/m1"),
        attachment("b.md", "# Notice\n\nFour weeks.\n", uri="https://chat/m1"),
    )
    await taken(here, base, one, two)
    records = await here.catalog.records(base.id)
    assert [record.document.title for record in records] == ["a.md", "b.md"]
    assert [record.document.uri for record in records] == ["https://chat/m1", "https://chat/m1#F-b.md"]
    assert uris([replace(one, uri="", id="")]) == ["chat:a.md"]


async def test_files_of_one_name_are_two_documents(here: World, base: KnowledgeBase) -> None:
    await taken(here, base, attachment("a.md", LEAVE, uri="https://chat/m1"))
    await taken(here, base, attachment("a.md", "# Notice\n\nFour weeks.\n", uri="https://chat/m2"))
    records = await here.catalog.records(base.id)
    assert [(record.document.title, record.state) for record in records] == [("a.md", "ready")] * 2
    assert len({record.document.id for record in records}) == 2


async def test_what_was_read_is_kept_while_its_bytes_are_there(here: World, base: KnowledgeBase) -> None:
    kept: list[tuple[str, bytes]] = []

    async def keep(blob: Blob, record: DocumentRecord) -> None:
        kept.append((record.document.title, await asyncio.to_thread(blob.path.read_bytes)))

    uploads = Uploads(intake=here.intake, fetching=Downloads(most_bytes=1000), keep=keep)
    files = [attachment("a.md", LEAVE), attachment("b.md", "")]
    await uploads.add(files, knowledge_base=base.id, show=lambda lines: None)
    assert kept == [("a.md", LEAVE.encode())]


async def test_a_file_waits_for_what_is_away_and_says_so(here: World, base: KnowledgeBase) -> None:
    shown: list[str] = []
    back = asyncio.Event()
    real = here.intake.ingest

    async def once() -> None:
        if not back.is_set():
            raise IndexUnavailable("The index is away.")

    class Faulty:
        async def ingest(self, *arguments: object, **named: object) -> object:
            await keep_trying(once)
            return await real(*arguments, **named)

        async def expect(self, *arguments: object, **named: object) -> None:
            """Nobody reads it."""

    def show(lines: tuple[str, ...]) -> None:
        shown.append(lines[0])
        if "waiting" in lines[0]:
            back.set()

    uploads = Uploads(intake=Faulty(), fetching=Downloads(most_bytes=1000), patience_seconds=5)
    async with asyncio.timeout(10):
        (one,) = await uploads.add([attachment("a.md", LEAVE)], knowledge_base=base.id, show=show)
    assert one.searchable
    told = list(dict.fromkeys(line for line in shown if "so far" not in line))
    assert told == [
        "a.md: received",
        "a.md: reading…",
        "a.md is waiting: The index is away.",
        "a.md: 1 passage, searchable",
    ]


async def test_commands_are_given_a_reply(here: World, base: KnowledgeBase) -> None:
    shown: list[Reply] = []
    reply = await here.uploads.receive(
        [attachment("a.md", LEAVE), attachment("b.exe", b"MZ")],
        place=CHANNEL,
        person=ANN,
        knowledge_base=base.id,
        show=shown.append,
    )
    assert reply.text.splitlines()[0] == "- a.md: 1 passage, searchable"
    assert reply.text.splitlines()[1].startswith("- b.exe: this kind of file cannot be read")
    assert shown[0].text == "- a.md: received\n- b.exe: received"


async def test_what_a_killed_program_had_fetched_is_removed_and_what_a_living_one_has_is_not(
    tmp_path: Path,
) -> None:
    folder, workers = tmp_path / "uploads", tmp_path / "workers"
    with working(workers) as mine, working(workers) as other:
        for worker in (mine, other, "1-dead"):
            (folder / f"{worker}.x").mkdir(parents=True)
        await Downloads(most_bytes=1, folder=folder, worker=mine).clear(workers)
        assert {left.name for left in folder.iterdir()} == {f"{mine}.x", f"{other}.x"}
