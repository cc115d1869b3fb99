"""Tesseract's output without Tesseract: filtering and layout of words."""

from __future__ import annotations

import numpy as np
import pytest

from rag_engine.parsers._ocr.layout import sections_of
from rag_engine.parsers._ocr.skew import skew
from rag_engine.parsers._ocr.unread_pages import no_text, notices
from rag_engine.parsers._ocr.words import Word, words_of
from rag_engine.parsing import tesseract
from tests.ocr import drawn

_HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def _tsv(*lines: str, confidence: float = 95.0) -> str:
    """Tesseract output with one block per line; two spaces make a wide gap."""
    rows = [_HEADER, "1\t1\t0\t0\t0\t0\t0\t0\t900\t900\t-1\t"]
    for number, line in enumerate(lines, 1):
        left = 20
        for place, word in enumerate(line.split(" "), 1):
            if word:
                rows.append(
                    f"5\t1\t1\t1\t{number}\t{place}\t{left}\t{40 * number}\t{10 * len(word)}\t18\t{confidence}\t{word}"
                )
            left += 10 * len(word) + (8 if word else 60)
    return "\n".join(rows) + "\n"


def _texts(*lines: str) -> list[str]:
    return [section.text for section in sections_of(words_of(_tsv(*lines)).words, "p. 1")]


def test_confident_words_are_kept() -> None:
    words = words_of(_tsv("The crane inspection is due"))
    assert [word.text for word in words.words] == ["The", "crane", "inspection", "is", "due"]
    assert not words.unreadable
    assert words.confidence == pytest.approx(95)


def test_uncertain_text_is_unreadable() -> None:
    words = words_of(_tsv("ehT enarc noitcepsni", "si eud yreve", confidence=28))
    assert not words.words
    assert words.unreadable


def test_specks_are_left_out_silently() -> None:
    specks = _tsv("| —", "~ ee", confidence=30).splitlines()[2:]
    words = words_of(
        _tsv("The crane inspection is due") + "\n".join(specks).replace("\t1\t1\t1\t", "\t1\t9\t1\t")
    )
    assert " ".join(word.text for word in words.words) == "The crane inspection is due"
    assert not words.unreadable


def test_nothing_is_neither_text_nor_unreadable() -> None:
    words = words_of(_HEADER + "\n")
    assert not words.words
    assert not words.unreadable
    assert list(sections_of(words.words, "p. 1")) == []


@pytest.mark.parametrize("tsv", ["", "no table", _HEADER, _HEADER + "\n5\t1\t1", "\n\n"])
def test_a_table_that_is_cut_off_has_no_words(tsv: str) -> None:
    assert words_of(tsv).words == ()


def test_full_lines_and_broken_words_are_joined() -> None:
    assert _texts("The yearly inspec-", "tion of the crane", "is due.", "Then: rest") == [
        "The yearly inspection of the crane is due.\nThen: rest"
    ]


def test_rows_of_short_cells_are_a_table() -> None:
    sections = list(sections_of(words_of(_tsv("Parts   12", "Labour   340", "Paint   7")).words, "picture"))
    assert [(section.kind, section.text, section.anchor) for section in sections] == [
        ("table", "Parts | 12\nLabour | 340\nPaint | 7", "picture")
    ]


def test_a_table_recognised_by_columns_is_rebuilt_by_rows() -> None:
    def cell(text: str, block: int, row: int, left: int) -> Word:
        return Word(
            text=text,
            line=(str(block), "1", str(row)),
            left=left,
            top=40 * row,
            width=60,
            height=18,
            confidence=95,
        )

    names = [cell(text, 1, row, 20) for row, text in enumerate(("Parts", "Labour", "Paint"))]
    costs = [cell(text, 2, row, 400) for row, text in enumerate(("12", "340", "7"))]
    (section,) = sections_of([*names, *costs], "p. 1")
    assert section.text == "Parts | 12\nLabour | 340\nPaint | 7"


def test_chinese_has_no_blanks() -> None:
    assert _texts("季 度 报告 显示 2025 年") == ["季度报告显示 2025 年"]


@pytest.mark.parametrize("degrees", [-12.0, -3.0, 0.0, 2.0, 7.0, 15.0])
def test_skew_of_a_page(degrees: float) -> None:
    pixmap = drawn(["The crane inspection is due every eleven weeks."] * 12, turned=degrees, zoom=1.5)
    gray = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
    assert skew(gray) == pytest.approx(degrees, abs=0.5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 500), (600, 2), (600, 800)])
def test_a_page_without_lines_has_no_skew(shape: tuple[int, int]) -> None:
    blank = np.full(shape, 255, dtype=np.uint8)
    noise = np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)
    assert skew(blank) == skew(noise) == 0.0


def test_a_notice_names_unreadable_pages() -> None:
    (notice,) = notices({"faint": [3, 7]}, 12)
    assert notice.kind == "notice"
    assert notice.text == "2 of 12 pages could not be read (p. 3, p. 7): their letters cannot be made out."
    (notice,) = notices({"slow": [2, 3, 4, 9], "faint": []}, 10)
    assert notice.text.startswith("4 of 10 pages could not be read (p. 2–4, p. 9): ")
    (notice,) = notices({"faint": list(range(1, 200, 2))}, 200)
    assert "p. 19 and 90 more)" in notice.text


def test_a_file_without_readable_pages_is_an_error_with_the_reason() -> None:
    assert no_text({"missing": [1, 2]}, 2, otherwise="").startswith(
        "None of the 2 pages could be read: they are pictures"
    )
    assert "footnote doctor" in no_text({"missing": [1]}, 1, otherwise="")
    assert no_text({"faint": []}, 1, otherwise="Empty.") == "Empty."


def test_the_languages_are_those_wanted_or_those_installed() -> None:
    installed = ("deu", "eng", "osd", "script/Latin")
    assert tesseract.chosen(installed, ()) == ("eng", "deu")
    assert tesseract.chosen(installed, ("deu", "fra")) == ("deu",)
    assert tesseract.chosen(installed, ("fra",)) == ("eng", "deu")
    assert tesseract.chosen(("osd",), ()) == ()
    many = tuple(f"l{number:02}" for number in range(100))
    assert tesseract.chosen((*many, "eng"), ()) == ("eng",)


def test_the_command_that_installs_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tesseract.shutil, "which", lambda name: name if name == "apt-get" else None)
    assert tesseract.install_command() == "sudo apt-get install tesseract-ocr"
    assert tesseract.install_command(["fra", "chi_sim"]) == (
        "sudo apt-get install tesseract-ocr-fra tesseract-ocr-chi-sim"
    )
    monkeypatch.setattr(tesseract.shutil, "which", lambda name: name if name == "brew" else None)
    assert tesseract.install_command(["fra"]) == "brew install tesseract-lang"
    monkeypatch.setattr(tesseract.shutil, "which", lambda _: None)
    assert tesseract.install_command().startswith("https://")
