"""PDFs are kept once, whole, as long as a document needs them, and never at the cost of what brought them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.files.originals import Originals
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Document, DocumentId, DocumentRecord
from tests.databases import new_database
from tests.page_marks import pdf
from tests.unit.parsers.files import zip_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.types import Blob

ROOM = 1 << 20

_ODT = b"application/vnd.oasis.opendocument.text"


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncGenerator[SqliteCatalog]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as database:
        yield SqliteCatalog(database)


@pytest.fixture
def originals(tmp_path: Path, catalog: SqliteCatalog) -> Originals:
    return Originals(tmp_path / "originals", catalog=catalog, most_bytes=ROOM)


async def added(catalog: SqliteCatalog, blob: Blob, *, base: str = "team", name: str = "") -> DocumentRecord:
    """The record of a file that was taken in."""
    owner = await catalog.open(base, model="none")
    document = Document(
        id=DocumentId(f"{base}-{name or blob.name}"),
        knowledge_base=owner.id,
        title=blob.name,
        uri=f"{base}:{name or blob.name}",
        media_type=blob.media_type,
        digest=blob.digest,
        size=blob.size,
    )
    record = DocumentRecord(document=document, state="ready", chunks=1)
    await catalog.save(record)
    return record


async def dropped(folder: Path, name: str, content: bytes) -> Blob:
    path = folder / name
    path.write_bytes(content)
    return await blob_from_path(path)


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "originals").glob("*"))


async def test_a_pdf_is_kept_as_it_came_and_outlives_the_file_it_came_from(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals
) -> None:
    content = pdf("Logs are kept for two weeks.")
    blob = await dropped(tmp_path, "logs.pdf", content)
    await originals.keep(blob, await added(catalog, blob))
    blob.path.write_bytes(b"overwritten in place")
    path = originals.path(blob.digest)
    assert path is not None
    assert path.read_bytes() == content
    assert kept(tmp_path) == [f"{blob.digest}.pdf"]


async def test_the_same_bytes_are_kept_once_and_until_nobody_has_them(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals
) -> None:
    blob = await dropped(tmp_path, "logs.pdf", pdf("Logs."))
    here, there = await added(catalog, blob), await added(catalog, blob, base="other")
    for record in (here, there):
        await originals.keep(blob, record)
    assert len(kept(tmp_path)) == 1
    await catalog.remove(here.document.id)
    await originals.forget_unused({blob.digest})
    assert originals.path(blob.digest) is not None
    await catalog.unfinished.withdraw(there.document.knowledge_base)
    await catalog.unfinished.remove(there.document.knowledge_base)
    await originals.forget_unused({blob.digest})
    assert originals.path(blob.digest) is None
    assert kept(tmp_path) == []


async def test_what_an_earlier_version_left_goes_with_the_next_look(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals
) -> None:
    old = await dropped(tmp_path, "logs.pdf", pdf("Old."))
    await originals.keep(old, await added(catalog, old))
    new = await dropped(tmp_path, "logs.pdf", pdf("New."))
    await originals.keep(new, await added(catalog, new))
    await originals.forget_unused()
    assert kept(tmp_path) == [f"{new.digest}.pdf"]


async def test_while_a_document_is_rewritten_its_pdf_stays(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals
) -> None:
    busy = await dropped(tmp_path, "busy.pdf", pdf("Busy."))
    gone = await dropped(tmp_path, "gone.pdf", pdf("Gone."))
    record, other = await added(catalog, busy), await added(catalog, gone)
    await originals.keep(busy, record)
    await originals.keep(gone, other)
    await catalog.save(replace(record, document=replace(record.document, digest=""), state="embedding"))
    await catalog.remove(other.document.id)
    await originals.forget_unused({gone.digest})
    assert kept(tmp_path) == [f"{busy.digest}.pdf"]
    await originals.forget_unused()
    assert kept(tmp_path) == [f"{busy.digest}.pdf"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.md", b"# Notes\n\nNone."),
        ("fake.pdf", b"<html>no PDF</html>"),
        ("plain.html", b"<html><body><p>No picture.</p></body></html>"),
        ("plain.docx", zip_of({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"})),
    ],
)
async def test_other_files_are_not_kept(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals, name: str, content: bytes
) -> None:
    blob = await dropped(tmp_path, name, content)
    await originals.keep(blob, await added(catalog, blob))
    assert originals.path(blob.digest) is None
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", b"<html><body><p>x</p><img src='data:image/png;base64,AAAA'></body></html>"),
        (
            "plan.docx",
            zip_of(
                {"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>", "word/media/image1.png": b"x"}
            ),
        ),
        (
            "show.pptx",
            zip_of(
                {
                    "[Content_Types].xml": b"<x/>",
                    "ppt/presentation.xml": b"<x/>",
                    "ppt/media/image1.png": b"x",
                }
            ),
        ),
        ("book.epub", zip_of({"mimetype": b"application/epub+zip", "OPS/a.xhtml": b"x", "OPS/a.png": b"x"})),
        ("plan.odt", zip_of({"mimetype": _ODT, "content.xml": b"<x/>", "Pictures/a.png": b"x"})),
        ("page.mht", b"MIME-Version: 1.0\r\nContent-Type: image/png\r\n\r\nAAAA"),
    ],
)
async def test_a_file_with_pictures_is_kept_until_nobody_has_it(
    name: str, content: bytes, tmp_path: Path, catalog: SqliteCatalog, originals: Originals
) -> None:
    blob = await dropped(tmp_path, name, content)
    record = await added(catalog, blob)
    await originals.keep(blob, record)
    assert kept(tmp_path) == [f"{blob.digest}.{name.rpartition('.')[2]}"]
    await catalog.remove(record.document.id)
    await originals.forget_unused()
    assert kept(tmp_path) == []


async def test_a_file_that_was_not_taken_in_is_not_kept(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals
) -> None:
    blob = await dropped(tmp_path, "logs.pdf", pdf("Logs."))
    await originals.keep(blob, replace(await added(catalog, blob), state="failed"))
    assert kept(tmp_path) == []


async def test_a_file_that_changed_since_it_was_read_is_not_kept(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals
) -> None:
    blob = await dropped(tmp_path, "logs.pdf", pdf("Logs."))
    blob.path.write_bytes(pdf("Something else."))
    await originals.keep(blob, await added(catalog, blob))
    assert kept(tmp_path) == []


async def test_where_there_is_no_room_nothing_more_is_kept(
    tmp_path: Path, catalog: SqliteCatalog, caplog: pytest.LogCaptureFixture
) -> None:
    one = await dropped(tmp_path, "one.pdf", pdf("one"))
    second = await dropped(tmp_path, "two.pdf", pdf("two"))
    originals = Originals(tmp_path / "originals", catalog=catalog, most_bytes=one.size + second.size - 1)
    await originals.keep(one, await added(catalog, one))
    await originals.keep(second, await added(catalog, second))
    assert kept(tmp_path) == [f"{one.digest}.pdf"]
    assert "the folder is full" in caplog.text
    await catalog.remove(DocumentId("team-one.pdf"))
    await originals.forget_unused()
    await originals.keep(second, await added(catalog, second))
    assert kept(tmp_path) == [f"{second.digest}.pdf"]


async def test_a_folder_that_cannot_be_written_costs_only_the_picture(
    tmp_path: Path, catalog: SqliteCatalog, originals: Originals, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "originals").write_text("a file in its place")
    blob = await dropped(tmp_path, "logs.pdf", pdf("Logs."))
    await originals.keep(blob, await added(catalog, blob))
    assert originals.path(blob.digest) is None
    assert "could not be stored" in caplog.text


@pytest.mark.parametrize("digest", ["", "..", "../footnote", "/etc/passwd", "a" * 63, "A" * 64, "\0" * 64])
def test_what_is_no_digest_leads_nowhere(originals: Originals, digest: str) -> None:
    assert originals.path(digest) is None
