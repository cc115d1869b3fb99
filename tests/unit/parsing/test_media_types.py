"""The true type of a file, whatever it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile, UnsupportedFile, UserError
from rag_engine.parsing.media_types import is_readable, parser_name, shown, suffix_of
from tests.unit.parsers.files import WRITERS, zip_of
from tests.unit.parsers.ole_files import ole

if TYPE_CHECKING:
    from pathlib import Path


def _file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "blob"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("suffix", "parser"),
    [
        *(
            ("pdf", "pdf"),
            ("docx", "docx"),
            ("pptx", "pptx"),
            ("xlsx", "sheet"),
            ("csv", "sheet"),
            ("tsv", "sheet"),
        ),
        *(
            ("txt", "text"),
            ("md", "markdown"),
            ("html", "html"),
            ("json", "json"),
            ("jsonl", "json"),
            ("py", "code"),
        ),
    ],
)
def test_a_good_file_goes_to_its_parser(tmp_path: Path, suffix: str, parser: str) -> None:
    path = tmp_path / "blob"
    WRITERS[suffix](path)
    assert parser_name(path, f"file.{suffix}") == parser
    assert parser_name(path, f"FILE.{suffix.upper()}") == parser


@pytest.mark.parametrize(
    ("suffix", "parser"), [("pdf", "pdf"), ("docx", "docx"), ("pptx", "pptx"), ("xlsx", "sheet")]
)
@pytest.mark.parametrize("name", ["a.txt", "a.pdf", "a.docx", "a.doc", "a.csv", "a", "a.unheard-of"])
def test_content_wins_over_a_wrong_name(tmp_path: Path, suffix: str, parser: str, name: str) -> None:
    path = tmp_path / "blob"
    WRITERS[suffix](path)
    assert parser_name(path, name) == parser


def test_a_pdf_may_begin_with_junk(tmp_path: Path) -> None:
    assert parser_name(_file(tmp_path, b"junk " * 100 + b"%PDF-1.4\n"), "a.pdf") == "pdf"


def test_text_about_pdf_is_text(tmp_path: Path) -> None:
    assert parser_name(_file(tmp_path, b"Every file begins with %PDF- and a version."), "a.md") == "markdown"


@pytest.mark.parametrize("name", ["a.doc", "a.xls", "a.pdf", "a", "a.php3"])
def test_html_under_another_name(tmp_path: Path, name: str) -> None:
    assert parser_name(_file(tmp_path, b"<!-- saved -->\n<!DOCTYPE html><html><body>Hi"), name) == "html"


def test_an_old_spreadsheet_of_tabs_is_a_sheet(tmp_path: Path) -> None:
    assert parser_name(_file(tmp_path, b"Office\tDays\nBerlin\t30\n"), "export.xls") == "sheet"


@pytest.mark.parametrize("name", ["notes", "a.unheard-of", "README", ".htaccess", "a.toto", "trailing.txt. "])
def test_unknown_text_is_text(tmp_path: Path, name: str) -> None:
    assert parser_name(_file(tmp_path, "Grüße aus Köln".encode("cp1252")), name) == "text"


@pytest.mark.parametrize("name", ["Makefile", "Dockerfile", "run"])
def test_code_without_a_suffix(tmp_path: Path, name: str) -> None:
    assert parser_name(_file(tmp_path, b"#!/bin/sh\necho hello\n"), name) == "code"


def test_plain_text_under_a_binary_name_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        CorruptFile, match=r"^a\.pdf is plain text, not a \.pdf file; .*rename it to \.txt\.$"
    ):
        parser_name(_file(tmp_path, b"Access denied."), "a.pdf")


@pytest.mark.parametrize("name", ["a.pdf", "a.txt", "a.csv", "a.docx", "a.xlsx", "a", "a.bin"])
def test_noise_is_refused(tmp_path: Path, name: str) -> None:
    noise = bytes(index * 97 % 251 for index in range(0, 9000, 7))
    with pytest.raises(UserError, match=r"^a"):
        parser_name(_file(tmp_path, noise), name)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a.docx"),
        (b"GIF89a<html>", "a.html"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "a"),
        (b"II*\x00" + bytes(50), "a.pdf"),
        (b"RIFF\x00\x00\x00\x00WEBP" + bytes(50), "a.txt"),
    ],
)
def test_a_picture_is_one_whatever_it_is_called(tmp_path: Path, content: bytes, name: str) -> None:
    assert parser_name(_file(tmp_path, content), name) == "picture"


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument):
        parser_name(_file(tmp_path, b""), "a.pdf")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match="cannot be opened"):
        parser_name(tmp_path / "none", "a.pdf")


def test_encrypted_office_files(tmp_path: Path) -> None:
    with pytest.raises(EncryptedFile):
        parser_name(_file(tmp_path, ole({"EncryptedPackage": b"x"})), "a.docx")


@pytest.mark.parametrize(
    ("content", "name", "parser"),
    [
        (ole({"WordDocument": b"x"}), "a.doc", "doc"),
        (ole({"Workbook": b"x"}), "a.xls", "xls"),
        (ole({"PowerPoint Document": b"x"}), "a.ppt", "ppt"),
        (ole({"__properties_version1.0": b"x"}), "a.msg", "msg"),
        # What is embedded does not make the file.
        (ole({"WordDocument": b"x", "ObjectPool/1/Workbook": b"x"}), "a.xls", "doc"),
        (
            ole({"__properties_version1.0": b"x", "a/b": "EncryptedPackage".encode("utf-16-le")}),
            "a.doc",
            "msg",
        ),
        (b"{\\rtf1 words}", "a.doc", "rtf"),
        (b"MIME-Version: 1.0\n\n<p>", "a.doc", "eml"),
        (zip_of({"a.txt": b"x"}), "a.zip", "archive"),
        (zip_of({"a.txt": b"x"}), "a", "archive"),
        (b"\x1f\x8b\x08\x00" + bytes(50), "a.log.gz", "archive"),
        (bytes(257) + b"ustar" + bytes(250), "a.tar", "archive"),
        (zip_of({"META-INF/container.xml": b""}), "a.zip", "epub"),
        (zip_of({"[Content_Types].xml": b"", "xl/workbook.bin": b""}), "a.xlsb", "sheet"),
    ],
)
def test_containers_are_identified_by_what_they_hold(
    tmp_path: Path, content: bytes, name: str, parser: str
) -> None:
    assert parser_name(_file(tmp_path, content), name) == parser


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (
            zip_of({"Index/Document.iwa": b"", "preview.jpg": b""}),
            "a.pages",
            "an Apple iWork file.* Export To",
        ),
        (zip_of({"a.class": b""}), "a.jar", "a program"),
        (b"7z\xbc\xaf'\x1c" + bytes(50), "a.7z", r"an archive.* pack them as \.zip"),
        (b"Rar!\x1a\x07\x00" + bytes(50), "a.rar", r"an archive.* pack them as \.zip"),
        (b"x\x9f\x3e\x22" + bytes(50), "winmail.dat", r"an attachment that Outlook packed \(winmail\.dat\)"),
        (b"8BPS" + bytes(50), "a.docx", "a picture"),
        (b"\x00\x00\x00\x18ftypheic" + bytes(50), "a.heic", r"a picture.* Save it as \.jpg"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(50), "a.mp4", "a video"),
        (b"RIFF\x00\x00\x00\x00AVI " + bytes(50), "a.avi", "a video"),
        (b"MZ\x90\x00\x03" + bytes(50), "a.exe", "a program"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes, name: str, sentence: str) -> None:
    with pytest.raises(UnsupportedFile, match=rf"^{name} is {sentence}") as caught:
        parser_name(_file(tmp_path, content), name)
    hints = ("and add it again.", "PDF, Word, PowerPoint", "add that file.", "pack them as .zip.")
    assert any(hint in str(caught.value) for hint in hints)


def test_words_that_look_like_magic_are_words(tmp_path: Path) -> None:
    assert parser_name(_file(tmp_path, b"BMW and MZ built motorcycles."), "a.txt") == "text"


def test_a_cut_off_archive_is_damaged(tmp_path: Path) -> None:
    content = zip_of({"[Content_Types].xml": b"x" * 500, "word/document.xml": b"y" * 500})
    with pytest.raises(CorruptFile, match=r"^a\.docx is damaged"):
        parser_name(_file(tmp_path, content[:-60]), "a.docx")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a/b.PDF", "pdf"),
        ("..\\..\\boot.INI", "ini"),
        ("file.pdf.txt", "txt"),
        ("none", ""),
        ("x.tar.gz", "gz"),
    ],
)
def test_the_suffix_of_a_name(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


def test_readable_names() -> None:
    assert is_readable("Report.PDF")
    assert is_readable("Makefile")
    assert not is_readable("film.mp4")
    assert not is_readable("no_suffix")


@given(st.text(max_size=300))
def test_any_name_can_be_shown(name: str) -> None:
    assert len(shown(name)) <= 80
    assert shown(name).isprintable()
    suffix_of(name)


@pytest.mark.timeout(20)
def test_a_text_that_begins_with_many_comments_is_recognised_at_once(tmp_path: Path) -> None:
    comments = "<!-- a -->" * 300
    assert parser_name(_file(tmp_path, f"{comments}text".encode()), "notes.xyz") == "text"
    assert parser_name(_file(tmp_path, f"{comments}<html>".encode()), "notes.xyz") == "html"
