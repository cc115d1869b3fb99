"""Scans and pictures read by Tesseract."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, cast

import pymupdf
import pytest

from rag_engine.errors import CorruptFile, EmptyDocument, UnsupportedFile
from rag_engine.parsers._ocr.limits import RecognitionLimits, limits
from rag_engine.parsers.documents import pdf
from rag_engine.parsers.media import picture
from tests.ocr import INSPECTION, NOTICE, blurred, drawn, needs_tesseract, scan
from tests.unit.parsers.tiff import tiff

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.types import Section

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def own_limits() -> Iterator[RecognitionLimits]:
    """Separate time limits for each test, and English only, to be independent of the machine."""
    given = RecognitionLimits(languages=("eng",))
    token = limits.set(given)
    yield given
    limits.reset(token)


@pytest.fixture
def tesseract() -> None:
    needs_tesseract()


def _text(sections: list[Section]) -> str:
    return " ".join(" ".join(section.text for section in sections if section.kind != "notice").split())


@pytest.mark.usefixtures("tesseract")
def test_a_mixed_pdf_gets_text_from_its_text_pages_and_its_scans(tmp_path: Path) -> None:
    path = scan(tmp_path / "mixed.pdf", drawn(), None, blurred(drawn()), drawn(turned=180), drawn(turned=7))
    *read, notice = pdf.parse(path)
    by_page = {section.anchor: " ".join(section.text.split()) for section in read}
    assert list(by_page) == ["p. 1", "p. 2", "p. 4", "p. 5"]
    assert all(by_page[page] == " ".join(NOTICE) for page in ("p. 1", "p. 4", "p. 5")), by_page
    assert by_page["p. 2"].startswith("This page is text")
    assert (notice.kind, notice.anchor) == ("notice", "p. 3")
    assert notice.text == "1 of 5 pages could not be read (p. 3): its letters cannot be made out."


@pytest.mark.usefixtures("tesseract")
@pytest.mark.parametrize("turned", [90, 270])
def test_a_page_that_lies_on_its_side_is_read(tmp_path: Path, turned: int) -> None:
    assert INSPECTION in _text(list(pdf.parse(scan(tmp_path / "a.pdf", drawn(turned=turned)))))


@pytest.mark.usefixtures("tesseract")
def test_a_page_with_a_stamp_over_its_scan_gets_both_and_each_once(tmp_path: Path) -> None:
    document = cast("Any", pymupdf.open(scan(tmp_path / "scan.pdf", drawn())))
    document[0].insert_text((30, 20), "Received 2 May", fontsize=11)
    document.save(tmp_path / "stamped.pdf")
    text = _text(list(pdf.parse(tmp_path / "stamped.pdf")))
    assert text.count("Received 2 May") == 1
    assert text.count(INSPECTION) == 1


@pytest.mark.usefixtures("tesseract")
def test_a_scan_with_a_usable_layer_of_text_keeps_it(tmp_path: Path) -> None:
    document = cast("Any", pymupdf.open(scan(tmp_path / "scan.pdf", drawn())))
    layer = [f"Line {number} of a layer that another program has recognised." for number in range(8)]
    document[0].insert_text((30, 20), layer, fontsize=8, render_mode=3)
    document.save(tmp_path / "layered.pdf")
    text = _text(list(pdf.parse(tmp_path / "layered.pdf")))
    assert "Line 7 of a layer that another program has recognised." in text
    assert INSPECTION not in text


@pytest.mark.usefixtures("tesseract")
def test_a_scan_of_which_nothing_can_be_made_out_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(
        EmptyDocument, match=r"^The page could not be read: its letters cannot be made out\.$"
    ):
        list(pdf.parse(scan(tmp_path / "a.pdf", blurred(drawn()))))


@pytest.mark.usefixtures("tesseract")
def test_a_screenshot_is_read_with_the_anchor_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    drawn(zoom=1.3).save(path)
    sections = list(picture.parse(path))
    assert _text(sections) == " ".join(NOTICE)
    assert {section.anchor for section in sections} == {"picture"}


@pytest.mark.usefixtures("tesseract")
def test_light_letters_on_dark_ground_are_read(tmp_path: Path) -> None:
    path = tmp_path / "dark.jpg"
    pixmap = drawn(zoom=2)
    pixmap.invert_irect()
    pixmap.save(path)
    assert INSPECTION in _text(list(picture.parse(path)))


@pytest.mark.usefixtures("tesseract")
def test_the_pages_of_a_tiff_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "fax.tif"
    path.write_bytes(tiff(drawn(NOTICE[:2]), drawn(NOTICE[2:])))
    sections = list(picture.parse(path))
    assert [(section.anchor, " ".join(section.text.split())) for section in sections] == [
        ("p. 1", " ".join(NOTICE[:2])),
        ("p. 2", " ".join(NOTICE[2:])),
    ]


@pytest.mark.usefixtures("tesseract")
def test_umlauts_are_read_where_german_is_installed(tmp_path: Path, own_limits: RecognitionLimits) -> None:
    needs_tesseract("deu")
    own_limits.languages = ("deu",)
    path = tmp_path / "a.png"
    drawn(
        ["Die Überprüfung der Größe ist äußerst wichtig.", "Rückfragen bitte bis spätestens Freitag."]
    ).save(path)
    assert "Überprüfung der Größe ist äußerst wichtig" in _text(list(picture.parse(path)))


def test_a_picture_without_words_has_no_text(tmp_path: Path) -> None:
    needs_tesseract()
    path = tmp_path / "a.png"
    circles = cast("Any", pymupdf.open()).new_page(width=300, height=300)
    for step in range(12):
        circles.draw_circle(
            (20 * step, 150), 40, color=(0.1 * (step % 8), 0.5, 0.5), fill=(1, 0.08 * step, 0)
        )
    circles.get_pixmap(dpi=150).save(path)
    with pytest.raises(EmptyDocument, match="no text in it that can be made out"):
        list(picture.parse(path))


@pytest.mark.usefixtures("tesseract")
def test_a_notice_names_the_pages_after_the_time_limit(tmp_path: Path, own_limits: RecognitionLimits) -> None:
    reports: list[bool] = []

    def report(*, is_running: bool) -> None:
        reports.append(is_running)
        own_limits.seconds = 0 if len(reports) == 2 else own_limits.seconds

    own_limits.on_page = report
    path = scan(tmp_path / "long.pdf", drawn(), drawn(), drawn())
    *read, notice = pdf.parse(path)
    assert {section.anchor for section in read} == {"p. 1"}
    assert notice.text == (
        "2 of 3 pages could not be read (p. 2–3): recognising the pages before them took all the time that one file may take."
    )
    assert reports == [True, False]


@pytest.mark.usefixtures("tesseract")
def test_a_page_that_takes_too_long_is_left_out(tmp_path: Path, own_limits: RecognitionLimits) -> None:
    own_limits.page_seconds = 1
    dense = ["The crane inspection is due every eleven weeks and reported to the foreman."] * 110
    path = scan(tmp_path / "a.pdf", drawn(dense, zoom=2, size=9), None)
    *_, notice = pdf.parse(path)
    assert notice.text == "1 of 2 pages could not be read (p. 1): recognising its text took too long."


def test_scans_and_pictures_report_that_tesseract_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EmptyDocument, match=r"\(OCR\) is not installed on this server; .*`footnote doctor`"):
        list(pdf.parse(scan(tmp_path / "a.pdf", drawn(), drawn())))
    *read, notice = pdf.parse(scan(tmp_path / "b.pdf", drawn(), None))
    assert {section.anchor for section in read} == {"p. 2"}
    assert notice.text.startswith(
        "1 of 2 pages could not be read (p. 1): it is a picture, such as a scan, and text"
    )
    drawn().save(tmp_path / "a.png")
    with pytest.raises(
        UnsupportedFile, match=r"^Pictures cannot be read here: text recognition \(OCR\) is not"
    ):
        list(picture.parse(tmp_path / "a.png"))


@pytest.mark.usefixtures("tesseract")
@pytest.mark.parametrize("name", ["png", "jpg", "tif"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6])
def test_a_truncated_picture_is_reported(tmp_path: Path, name: str, share: float) -> None:
    pixmap = drawn(NOTICE[:1], zoom=1)
    content = tiff(pixmap, pixmap) if name == "tif" else pixmap.tobytes(name)
    path = tmp_path / f"a.{name}"
    path.write_bytes(content[: max(12, int(len(content) * share))])
    with contextlib.suppress(CorruptFile, EmptyDocument):
        assert list(picture.parse(path))
