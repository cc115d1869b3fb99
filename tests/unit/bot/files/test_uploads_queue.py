"""Files that wait in line, for room and for what is away."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.files.downloads import Downloads
from bot.files.queue import FileQueue
from bot.files.uploads import Uploads
from bot.port import Unreachable
from tests.unit.bot.chatting import ANN, attachment
from tests.unit.bot.files.uploading import taken, unopened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.files.uploads import UploadResult
    from bot.port import Attachment
    from rag_engine.types import KnowledgeBase
    from tests.unit.bot.chatting import World


LEAVE = "# Leave\n\nEverybody has 28 days of leave a year.\n"


class Held:
    """Files that do not come before they are let."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.changed = asyncio.Condition()
        self.gates: dict[str, asyncio.Event] = {}

    def file(self, name: str) -> Attachment:
        gate = self.gates[name] = asyncio.Event()

        async def pieces() -> AsyncIterator[bytes]:
            async with self.changed:
                self.opened.append(name)
                self.changed.notify_all()
            await gate.wait()
            yield f"# {name}\n\n{LEAVE}".encode()

        return replace(attachment(name, "x"), open=pieces, size=0)

    async def until_open(self, *names: str) -> None:
        async with asyncio.timeout(5), self.changed:
            await self.changed.wait_for(lambda: set(names) <= set(self.opened))

    def let_all(self) -> None:
        for gate in self.gates.values():
            gate.set()


async def test_files_wait_in_line_and_each_line_says_how_many_come_first(
    here: World, base: KnowledgeBase
) -> None:
    held, shown, in_line = Held(), list[tuple[str, ...]](), asyncio.Event()
    files = [held.file(f"{number}.md") for number in range(5)]

    def show(lines: tuple[str, ...]) -> None:
        shown.append(lines)
        if lines[-1] == "4.md: waiting (2 before it)":
            in_line.set()

    async with asyncio.timeout(10):
        taking = asyncio.create_task(here.uploads.add(files, knowledge_base=base.id, show=show))
        await held.until_open("0.md", "1.md")
        await in_line.wait()
        assert shown[-1][2:] == (
            "2.md: received",
            "3.md: waiting (1 before it)",
            "4.md: waiting (2 before it)",
        )
        assert {record.state for record in await here.catalog.records(base.id)} == {"queued"}
        assert here.uploads.waiting == 3
        held.gates["0.md"].set()
        await held.until_open("2.md")
        assert shown[-1][3:] == ("3.md: received", "4.md: waiting (1 before it)")
        held.let_all()
        assert all(one.searchable for one in await taking)
    # Two are read at a time, and either of the two may be opened first.
    assert held.opened[2] == "2.md"
    assert {*held.opened[:2]} == {"0.md", "1.md"}
    assert {*held.opened[3:]} == {"3.md", "4.md"}
    assert {record.state for record in await here.catalog.records(base.id)} == {"ready"}


@pytest.mark.slow
async def test_fifty_files_in_one_place_do_not_delay_one_in_another(here: World, base: KnowledgeBase) -> None:
    held = Held()
    other = await here.catalog.open("other", model=base.model)
    many = [held.file(f"{number}.md") for number in range(50)]
    async with asyncio.timeout(20):
        crowd = asyncio.create_task(taken(here, base, *many))
        await held.until_open("0.md", "1.md")
        one = asyncio.create_task(taken(here, other, held.file("one.md")))
        await held.until_open("one.md")
        assert set(held.opened[:2]) == {"0.md", "1.md"}
        assert held.opened[2:] == ["one.md"]
        held.gates["one.md"].set()
        assert (await one)[0].searchable
        held.let_all()
        assert all(file.searchable for file in await crowd)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"per_place": 2}, "too many files from here are already waiting (2)"),
        ({"per_person": 2}, "too many of your files are already waiting (2)"),
    ],
)
async def test_the_line_has_an_end_and_what_is_beyond_it_is_reported(
    here: World, base: KnowledgeBase, limits: dict[str, int], said: str
) -> None:
    held = Held()
    uploads = Uploads(intake=here.intake, fetching=Downloads(most_bytes=1000), queue=FileQueue(**limits))

    async def add(*files: Attachment) -> list[UploadResult]:
        return await uploads.add(files, knowledge_base=base.id, show=lambda lines: None, person=ANN.id)

    async with asyncio.timeout(10):
        waiting = asyncio.create_task(add(held.file("a.md"), held.file("b.md")))
        await held.until_open("a.md", "b.md")
        (beyond,) = await add(unopened("c.md"))
        assert said in beyond.line
        assert beyond.later
        assert "c.md" not in {record.document.title for record in await here.catalog.records(base.id)}
        held.let_all()
        await waiting
        (again,) = await add(attachment("c.md", LEAVE))
    assert again.searchable


async def test_a_file_that_does_not_come_has_failed_and_may_come_again(
    here: World, base: KnowledgeBase
) -> None:
    await taken(here, base, attachment("a.md", Unreachable("no answer")))
    (record,) = await here.catalog.records(base.id)
    assert (record.state, record.reason) == ("failed", "it could not be fetched; send it again.")
    (again,) = await taken(here, base, attachment("a.md", LEAVE))
    assert again.searchable
    (record,) = await here.catalog.records(base.id)
    assert (record.state, record.reason) == ("ready", "")


async def test_a_file_that_is_stopped_is_not_said_to_be_coming(here: World, base: KnowledgeBase) -> None:
    held = Held()
    async with asyncio.timeout(10):
        taking = asyncio.create_task(taken(here, base, held.file("a.md")))
        await held.until_open("a.md")
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
    (record,) = await here.catalog.records(base.id)
    assert record.state == "failed"


async def test_a_file_for_which_the_disk_has_no_room_waits_and_comes_again(
    here: World, base: KnowledgeBase, tmp_path: Path
) -> None:
    """A file is in the folder's place: nothing can be written there until it is removed."""
    blocked = tmp_path / "uploads"
    blocked.write_bytes(b"")
    shown: list[str] = []

    def show(lines: tuple[str, ...]) -> None:
        shown.append(lines[0])
        if "waiting" in lines[0]:
            blocked.unlink(missing_ok=True)

    fetching = Downloads(most_bytes=1000, folder=blocked)
    uploads = Uploads(intake=here.intake, fetching=fetching, patience_seconds=5)
    async with asyncio.timeout(10):
        (one,) = await uploads.add([attachment("a.md", LEAVE)], knowledge_base=base.id, show=show)
    assert one.searchable
    assert any(line.startswith("a.md is waiting: The file could not be stored") for line in shown)
    assert list(blocked.iterdir()) == []
