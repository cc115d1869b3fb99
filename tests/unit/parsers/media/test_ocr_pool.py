"""OCR in the sandbox with its limits, and the notices of ingestion."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.errors import EmptyDocument, FileTooLarge, UserError
from rag_engine.ingestion.ingestion import Ingestion, blob_from_path
from rag_engine.parsing import worker_process
from rag_engine.parsing.pool import parser_pool
from rag_engine.splitters.structure import Settings, build
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Blob, Section
from tests import plugins
from tests.databases import new_database
from tests.ocr import INSPECTION, blurred, drawn, needs_tesseract, scan
from tests.unit.ingestion.world import ListedIndex
from tests.unit.parsers.tiff import claiming

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from rag_engine.parsing.pool import ParserPool

pytestmark = pytest.mark.process

# Simulates OCR that waits or uses the CPU, as the file demands.
_SLOW_PARSER = """
import time
from rag_engine.parsers._ocr.limits import current
from rag_engine.types import Section

def parse(path):
    what, pages, seconds = path.read_text().split()
    for number in range(int(pages)):
        with current().page():
            until = time.monotonic() + float(seconds)
            while time.monotonic() < until:
                time.sleep(0.05 if what == "wait" else 0)
    yield Section(text=f"{pages} pages")
"""


@pytest.fixture
async def pool() -> AsyncIterator[ParserPool]:
    async with parser_pool(workers=1, seconds=60, memory_bytes=1 << 30, languages=["eng"]) as pool:
        yield pool


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    plugins.install(tmp_path / "plugin", "slow", _SLOW_PARSER)
    monkeypatch.syspath_prepend(str(tmp_path / "plugin"))

    def make(content: str) -> Path:
        path = tmp_path / "pages.slow"
        path.write_text(content, encoding="utf-8")
        return path

    return make


async def _read(pool: ParserPool, path: Path) -> list[Section]:
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=0, uri="")
    return [section async for batch in pool.parse(blob) for section in batch]


@pytest.mark.parametrize("name", ["scan.pdf", "scan.docx", "scan.txt", "scan"])
async def test_a_scan_is_read_in_the_sandbox_regardless_of_its_name(
    pool: ParserPool, tmp_path: Path, name: str
) -> None:
    needs_tesseract()
    (section,) = await _read(pool, scan(tmp_path / name, drawn(["", INSPECTION])))
    assert (section.text, section.anchor) == (INSPECTION, "p. 1")


async def test_a_picture_in_an_archive_is_read(pool: ParserPool, tmp_path: Path) -> None:
    needs_tesseract()
    with zipfile.ZipFile(tmp_path / "post.zip", "w") as archive:
        archive.writestr("in/notice.png", drawn(["", INSPECTION]).tobytes("png"))
    sections = await _read(pool, tmp_path / "post.zip")
    assert [(section.text, section.anchor) for section in sections] == [
        (INSPECTION, "in/notice.png › picture")
    ]


async def test_a_scan_may_take_longer_than_other_files(slow: Callable[[str], Path]) -> None:
    path = slow("wait 5 0.5")
    async with parser_pool(workers=1, seconds=1, memory_bytes=1 << 30) as pool:
        (section,) = await _read(pool, path)
    assert section.text == "5 pages"


async def test_processor_time_of_a_scan_does_not_count_as_the_parser_s(slow: Callable[[str], Path]) -> None:
    path = slow("work 5 0.9")
    async with parser_pool(workers=1, seconds=1, memory_bytes=1 << 30) as pool:
        (section,) = await _read(pool, path)
    assert section.text == "5 pages"


async def test_the_last_page_may_have_to_wait_for_the_processor(
    slow: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "_GRACE_SECONDS", 0.2)
    path = slow("wait 2 2")
    async with parser_pool(workers=1, seconds=60, memory_bytes=1 << 30, recognition_seconds=3.4) as pool:
        (section,) = await _read(pool, path)
    assert section.text == "2 pages"


@pytest.mark.parametrize("content", ["wait 1 60", "wait 60 0.4", "work 60 0.4"])
async def test_a_scan_has_a_final_time_limit(
    slow: Callable[[str], Path], content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "_GRACE_SECONDS", 0.2)
    path = slow(content)
    async with parser_pool(workers=1, seconds=1, memory_bytes=1 << 30, recognition_seconds=1.5) as pool:
        with pytest.raises(FileTooLarge, match="took longer than"):
            await _read(pool, path)


@pytest.mark.parametrize(
    "content",
    [
        claiming(60_000, 60_000),
        claiming(1_000_000, 3),
        claiming(9, 9, pages=3_000),
        claiming(0, 0),
        claiming(2**31, 2**31),
    ],
    ids=["square", "wide", "many", "nothing", "overflowing"],
)
async def test_pictures_with_false_sizes_are_refused_quickly(tmp_path: Path, content: bytes) -> None:
    needs_tesseract()
    (tmp_path / "a.tif").write_bytes(content)
    async with parser_pool(workers=1, seconds=20, memory_bytes=512 << 20) as pool:
        with pytest.raises(UserError):
            await _read(pool, tmp_path / "a.tif")


async def test_a_notice_is_shown_when_the_file_is_ready_and_is_not_indexed(
    pool: ParserPool, tmp_path: Path
) -> None:
    needs_tesseract()
    path = scan(tmp_path / "scan.pdf", drawn(), blurred(drawn()))
    async with (
        connect(new_database(tmp_path / "footnote.sqlite")) as database,
        hashing.connect(hashing.Settings(max_tokens=64), data_dir=tmp_path) as embedder,
    ):
        catalog, index = SqliteCatalog(database), ListedIndex()
        base = await catalog.open("docs", model=embedder.model)
        ingestion = Ingestion(
            parse=pool.parse,
            splitter=build(Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens),
            embedder=embedder,
            index=index,
            catalog=catalog,
        )
        record = (await ingestion.ingest(await blob_from_path(path), knowledge_base=base.id)).record
        assert record.state == "ready"
        assert record.pages == 1
        assert record.reason == "1 of 2 pages could not be read (p. 2): its letters cannot be made out."
        kept = await catalog.sections(record.document.id)
        assert {section.kind for section in kept} == {"prose"}
        again = (await ingestion.reindex(record)).record
        assert again.reason == record.reason


async def test_a_scan_of_nothing_is_refused(pool: ParserPool, tmp_path: Path) -> None:
    needs_tesseract()
    with pytest.raises(EmptyDocument, match="None of the 2 pages could be read: their letters"):
        await _read(pool, scan(tmp_path / "scan.pdf", blurred(drawn()), blurred(drawn())))
