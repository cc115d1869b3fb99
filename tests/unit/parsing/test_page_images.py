"""Pictures of pages: the mark is where the words are, and a hostile PDF costs the picture and nothing else."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

import pymupdf
import pytest

from rag_engine.errors import CorruptFile, FileTooLarge, UserError
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.parsing.page_images import WIDTH, draw
from rag_engine.parsing.pool import parser_pool
from tests.conftest import PROJECT
from tests.page_marks import PNG, area, marked_area, marks, pdf, places, share_marked

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Blob

HANDBOOK = PROJECT / "samples" / "lumen-harbour" / "handbook.pdf"
LINES = ["Logs are kept for two weeks.", "Backups are kept for one year.", "Mail is kept for ever."]


def saved(folder: Path, content: bytes) -> Path:
    path = folder / "made.pdf"
    path.write_bytes(content)
    return path


def assert_marked(picture: bytes, content: bytes, page: int, *words: str, width: float = 595.0) -> None:
    """Exactly these words are marked: most of each rectangle, and not much beside them."""
    rectangles = [place for each in words for place in places(content, page, each)]
    for rectangle in rectangles:
        assert share_marked(picture, rectangle, width=width) > 0.5
    assert marked_area(picture, width=width) < 1.5 * sum(area(rectangle) for rectangle in rectangles)


def test_the_quoted_line_is_marked_and_no_other(tmp_path: Path) -> None:
    content = pdf(LINES)
    picture, marked = draw(saved(tmp_path, content), 1, [LINES[1]])
    assert picture.startswith(PNG)
    assert marked == 1
    assert pymupdf.Pixmap(picture).width == pytest.approx(WIDTH, abs=1)
    assert_marked(picture, content, 1, LINES[1])
    assert share_marked(picture, places(content, 1, LINES[0])[0]) < 0.2


def test_words_broken_at_the_end_of_a_line_are_found(tmp_path: Path) -> None:
    content = pdf(["The committee discussed infra-", "structure budgets at length.", "Nothing else."])
    picture, marked = draw(
        saved(tmp_path, content), 1, ["The committee discussed infrastructure budgets at length."]
    )
    assert marked == 1
    assert_marked(picture, content, 1, "The committee discussed infra", "structure budgets at length")


def test_ligatures_are_found() -> None:
    content = HANDBOOK.read_bytes()
    assert "\ufb03" in pymupdf.open(HANDBOOK)[0].get_text()
    with pymupdf.open(HANDBOOK) as document:
        width = document[0].rect.width
    quote = "Owner: Marit Osterlund, Head of Office."
    picture, marked = draw(HANDBOOK, 1, [quote])
    assert marked == 1
    assert_marked(picture, content, 1, "Owner: Marit Osterlund, Head of", width=width)


def test_the_row_of_a_table_is_found_across_its_cells() -> None:
    content = HANDBOOK.read_bytes()
    picture, marked = draw(HANDBOOK, 4, ["Home office allowance | 400 euros, once | after probation"])
    with pymupdf.open(HANDBOOK) as document:
        width = document[3].rect.width
    assert marked == 1
    assert_marked(picture, content, 4, "400 euros, once", "after probation", "allowance", width=width)


def test_what_looks_the_same_is_the_same(tmp_path: Path) -> None:
    content = pdf(LINES)
    _, marked = draw(saved(tmp_path, content), 1, ["t\uff57o wee\u212as."])
    assert marked == 1


def test_a_row_is_found_where_the_table_is_drawn_column_by_column(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        for column, cells in enumerate((("Ann", "Ben", "Cleo"), ("a5", "b6", "c7"))):
            for row, cell in enumerate(cells):
                page.insert_text((72 + 200 * column, 100 + 20 * row), cell, fontsize=12)
        content = document.tobytes()
    picture, marked = draw(saved(tmp_path, content), 1, ["Ben | b6"])
    assert marked == 1
    assert_marked(picture, content, 1, "Ben", "b6")


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_on_a_page_that_is_turned_the_mark_is_turned_with_it(tmp_path: Path, degrees: int) -> None:
    content = pdf(LINES, rotated=degrees)
    width = 595.0 if degrees == 180 else 842.0
    picture, marked = draw(saved(tmp_path, content), 1, [LINES[1]])
    assert marked == 1
    assert_marked(picture, content, 1, LINES[1], width=width)


def test_a_page_that_shows_a_part_of_its_sheet_is_marked_in_that_part(tmp_path: Path) -> None:
    with pymupdf.open(stream=pdf(LINES), filetype="pdf") as document:
        document[0].set_cropbox(pymupdf.Rect(50, 60, 350, 360))
        content = document.tobytes()
    picture, marked = draw(saved(tmp_path, content), 1, [LINES[1]])
    assert marked == 1
    assert_marked(picture, content, 1, LINES[1], width=300.0)


def test_of_a_quote_that_spans_pages_each_page_has_its_part_marked(tmp_path: Path) -> None:
    content = pdf(
        ["Some words first.", "The lamp is changed"], ["every nine months by Field.", "More words."]
    )
    path = saved(tmp_path, content)
    quote = "The lamp is changed every nine months by Field."
    for page, words in ((1, "The lamp is changed"), (2, "every nine months by Field")):
        picture, marked = draw(path, page, [quote])
        assert marked == 1
        assert_marked(picture, content, page, words)


def test_several_quotes_are_marked_and_overlapping_ones_no_darker(tmp_path: Path) -> None:
    content = pdf(LINES)
    picture, marked = draw(saved(tmp_path, content), 1, [LINES[0], "kept for two weeks", LINES[2]])
    assert marked == 3
    assert_marked(picture, content, 1, LINES[0], LINES[2])


@pytest.mark.parametrize("quote", ["Nobody wrote this sentence here.", "", "…", "12"])
def test_what_is_not_on_the_page_is_not_marked(tmp_path: Path, quote: str) -> None:
    picture, marked = draw(saved(tmp_path, pdf(LINES)), 1, [quote])
    assert marked == 0
    assert not marks(picture).any()


@pytest.mark.parametrize("page", [0, -1, 2, 10**9])
def test_a_page_that_is_not_there_has_no_picture(tmp_path: Path, page: int) -> None:
    with pytest.raises(CorruptFile, match="no such page"):
        draw(saved(tmp_path, pdf(LINES)), page, [LINES[0]])


def test_a_page_of_odd_size_has_a_picture_of_bounded_size(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        document.new_page(width=20, height=14_000).insert_text((1, 7_000), "long", fontsize=4)
        picture, _ = draw(saved(tmp_path, document.tobytes()), 1, ["longer"])
    drawn = pymupdf.Pixmap(picture)
    assert drawn.width <= WIDTH
    assert drawn.height <= 2401


# --- hostile ones, in the process that is made for them


def raw(*objects: bytes) -> bytes:
    """A PDF of these objects, the first of which is the catalog."""
    file = io.BytesIO()
    file.write(b"%PDF-1.7\n")
    offsets: list[int] = []
    for number, content in enumerate(objects, 1):
        offsets.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for offset in offsets:
        file.write(b"%010d 00000 n \n" % offset)
    file.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))
    return file.getvalue()


def stream(dictionary: bytes, content: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (dictionary, len(content), content)


def page_drawing(content: bytes, *more: bytes, resources: bytes) -> bytes:
    return raw(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << %s >> >>"
        % resources,
        stream(b"", content),
        *more,
    )


def endless() -> bytes:
    """Forms within forms, ten times each: what is drawn has twelve digits."""
    forms = [
        stream(
            b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /F %d 0 R >> >>"
            % (number + 6),
            b"/F Do " * 10,
        )
        for number in range(11)
    ]
    last = stream(b"/Type /XObject /Subtype /Form /BBox [0 0 595 842]", b"0 0 595 842 re f " * 10)
    return page_drawing(b"/F Do", *forms, last, resources=b"/XObject << /F 5 0 R >>")


def bloated() -> bytes:
    """A picture of 40,000 times 40,000 pixels, in a few kilobytes."""
    packed = zlib.compress(b"\0" * (8 << 20), 9)
    picture = stream(
        b"/Type /XObject /Subtype /Image /Width 40000 /Height 40000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode",
        packed,
    )
    return page_drawing(b"595 0 0 842 0 0 cm /I Do", picture, resources=b"/XObject << /I 5 0 R >>")


async def blob(folder: Path, name: str, content: bytes) -> Blob:
    path = folder / name
    path.write_bytes(content)
    return await blob_from_path(path)


@pytest.mark.process
async def test_what_never_ends_is_ended_and_the_next_picture_is_drawn(tmp_path: Path) -> None:
    async with parser_pool(workers=1, seconds=2, memory_bytes=1 << 30) as pool:
        with pytest.raises(FileTooLarge, match="took longer than 2 seconds"):
            await pool.picture(await blob(tmp_path, "endless.pdf", endless()), page=1, quotes=["all"])
        drawn = await pool.picture(await blob(tmp_path, "good.pdf", pdf(LINES)), page=1, quotes=LINES[:2])
    assert drawn.marked == 2
    assert_marked(drawn.content, pdf(LINES), 1, LINES[0], LINES[1])


@pytest.mark.process
@pytest.mark.parametrize("part", ["", "as a figure"])
async def test_what_takes_too_much_memory_has_no_picture_or_an_empty_one(part: str, tmp_path: Path) -> None:
    content = bloated().replace(b"595 0 0 842 0 0 cm", b"395 0 0 442 0 0 cm") if part else bloated()
    async with parser_pool(workers=1, seconds=20, memory_bytes=512 << 20) as pool:
        try:
            large = await blob(tmp_path, "bloated.pdf", content)
            drawn = await pool.picture(large, page=1, quotes=[], figure=bool(part))
        except UserError:
            drawn = None
        assert drawn is None or drawn.content.startswith(PNG)
        good = await pool.picture(await blob(tmp_path, "good.pdf", pdf(LINES)), page=1, quotes=[])
    assert good.marked == 0


@pytest.mark.parametrize("content", [b"no PDF at all", b"%PDF-1.7\n1 0 obj << /Type", b"%PDF-" + bytes(5000)])
@pytest.mark.process
async def test_what_is_damaged_has_no_picture(tmp_path: Path, content: bytes) -> None:
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        with pytest.raises(UserError):
            await pool.picture(await blob(tmp_path, "damaged.pdf", content), page=1, quotes=["x"])


@pytest.mark.process
async def test_the_pool_continues_to_read_files_after_a_picture(tmp_path: Path) -> None:
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        good = await blob(tmp_path, "good.pdf", pdf(LINES))
        await pool.picture(good, page=1, quotes=[])
        sections = [section async for batch in pool.parse(good) for section in batch]
    assert [section.anchor for section in sections] == ["p. 1"]
