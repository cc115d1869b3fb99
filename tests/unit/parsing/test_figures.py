"""A picture in a page is cut out with its caption when it is surely the one; else the page is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymupdf
import pytest

from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.parsing.page_images import WIDTH, draw
from rag_engine.parsing.pool import parser_pool
from tests.page_marks import plain_picture

if TYPE_CHECKING:
    from pathlib import Path

PRESSURE = "Figure 1: Intake pressure over time,"
CURVE = "Figure 2: Pump curve at 50 Hz"
BELOW = "Unrelated text far below."
BLUE, GREEN = (200, 220, 255), (210, 255, 210)


def _saved(folder: Path, *, second: bool = True, rotation: int = 0, whole: bool = False) -> Path:
    document = pymupdf.open()
    page = document.new_page()
    places = [(BLUE, pymupdf.Rect(72, 120, 372, 270))]
    places += [(GREEN, pymupdf.Rect(72, 400, 372, 550))] if second else []
    if whole:
        places = [(BLUE, page.rect)]
    for colour, place in places:
        image = plain_picture(colour, width=60, height=30)
        page.insert_image(place, stream=image, keep_proportion=False)
    page.insert_text((72, 290), PRESSURE, fontsize=10)
    page.insert_text((72, 303), "as measured in the hall.", fontsize=10)
    if second:
        page.insert_text((72, 570), CURVE, fontsize=10)
    page.insert_text((72, 700), BELOW, fontsize=11)
    page.set_rotation(rotation)
    path = folder / "figures.pdf"
    document.save(path)
    return path


def _colours(content: bytes) -> set[tuple[int, ...]]:
    picture = pymupdf.Pixmap(content)
    return {picture.pixel(x, y) for x in range(0, picture.width, 7) for y in range(0, picture.height, 7)}


@pytest.mark.parametrize(("quote", "shown", "other"), [(PRESSURE, BLUE, GREEN), (CURVE, GREEN, BLUE)])
def test_the_figure_of_the_quoted_caption(
    quote: str, shown: tuple[int, ...], other: tuple[int, ...], tmp_path: Path
) -> None:
    content, marked = draw(_saved(tmp_path), 1, [quote], figure=True)
    picture = pymupdf.Pixmap(content)
    assert (marked, abs(picture.width - WIDTH) <= 2) == (0, True)
    assert picture.height < 0.8 * picture.width
    assert shown in _colours(content)
    assert other not in _colours(content)


def test_the_only_figure_of_a_page_comes_with_its_whole_caption(tmp_path: Path) -> None:
    content, _ = draw(_saved(tmp_path, second=False), 1, [BELOW], figure=True)
    picture = pymupdf.Pixmap(content)
    # 300 by 150 points of picture, then two lines that end at 305.
    assert picture.height / picture.width == pytest.approx((306 - 120 + 8) / (300 + 8), abs=0.03)


@pytest.mark.parametrize("reason", ["several, none quoted", "turned", "background", "not asked for"])
def test_else_the_page(reason: str, tmp_path: Path) -> None:
    path = _saved(tmp_path, rotation=90 if reason == "turned" else 0, whole=reason == "background")
    quote = BELOW if reason == "several, none quoted" else CURVE
    asked = reason != "not asked for"
    content, marked = draw(path, 1, [quote], figure=asked)
    assert marked == 1
    assert draw(path, 1, [quote])[0] == content


@pytest.mark.process
async def test_it_is_cut_out_in_the_worker(tmp_path: Path) -> None:
    blob = await blob_from_path(_saved(tmp_path))
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        whole = await pool.picture(blob, page=1, quotes=[CURVE])
        cut = await pool.picture(blob, page=1, quotes=[CURVE], figure=True)
    assert (whole.marked, cut.marked) == (1, 0)
    assert GREEN in _colours(cut.content)
    assert BLUE not in _colours(cut.content)


def _drawn(folder: Path, caption: str) -> Path:
    document = pymupdf.open()
    page = document.new_page()
    for step in range(6):
        page.draw_rect(pymupdf.Rect(100 + 40 * step, 200 - 15 * step, 130 + 40 * step, 260), fill=(0, 0, 1))
    page.draw_line((90, 260), (350, 260))
    page.insert_text((100, 285), caption, fontsize=10)
    page.insert_text((72, 700), BELOW, fontsize=11)
    document.save(folder / "drawn.pdf")
    return folder / "drawn.pdf"


def test_a_drawing_with_a_caption_is_a_figure(tmp_path: Path) -> None:
    content, marked = draw(
        _drawn(tmp_path, "Figure 3: Depth by month"), 1, ["Figure 3: Depth by month"], figure=True
    )
    picture = pymupdf.Pixmap(content)
    assert marked == 0
    assert picture.height < 0.7 * picture.width
    assert (0, 0, 255) in _colours(content)


def test_lines_of_a_table_are_none(tmp_path: Path) -> None:
    content, marked = draw(
        _drawn(tmp_path, "Table 3: Depth by month"), 1, ["Table 3: Depth by month"], figure=True
    )
    assert marked == 1
    assert pymupdf.Pixmap(content).height > pymupdf.Pixmap(content).width
