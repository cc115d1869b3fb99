"""What files say of themselves, from real files to the filter that finds them."""

from __future__ import annotations

import struct
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pymupdf
import pytest

from rag_engine import plugins
from rag_engine.ingestion.stated_properties import properties_section, stated_properties
from rag_engine.metadata.properties import usable
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.pool import parser_pool
from rag_engine.types import Blob, Section
from tests.unit.parsers.ole_files import ole, outlook

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_CORE = """<?xml version="1.0"?><cp:coreProperties
 xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
 <dc:creator>Anna Li</dc:creator><dc:title>Budget</dc:title><cp:keywords>money; travel</cp:keywords>
 <dcterms:created>2024-01-31T10:00:00Z</dcterms:created><cp:lastModifiedBy>Bob</cp:lastModifiedBy></cp:coreProperties>"""
_CUSTOM = """<?xml version="1.0"?><Properties xmlns="urn:custom" xmlns:vt="urn:vt">
 <property name="Cost Center"><vt:lpwstr>A12</vt:lpwstr></property></Properties>"""
_RELATIONS = """<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
 <Relationship Id="r1" Target="docProps/core.xml"
 Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"/>
 <Relationship Id="r2" Target="docProps/custom.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/custom-properties"/></Relationships>"""
_META = """<?xml version="1.0"?><office:document-meta
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><meta:initial-creator>Anna Li</meta:initial-creator>
 <dc:creator>Bob</dc:creator><dc:date>2025-02-01T00:00:00</dc:date><meta:creation-date>2024-01-31</meta:creation-date>
 <meta:user-defined meta:name="Cost Center">A12</meta:user-defined></office:meta></office:document-meta>"""


def packed(path: Path, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return path


def stated(path: Path, parser: str) -> Mapping[str, tuple[str, ...]]:
    return usable(plugins.load(FAMILY, parser).properties(path))


def pdf(path: Path) -> Path:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "The budget of the year.")
        document.set_metadata(
            {
                "author": "Anna Li",
                "keywords": "money, travel",
                "creationDate": "D:20240131",
                "creator": "Writer",
            }
        )
        document.save(path)
    return path


def test_of_a_pdf(tmp_path: Path) -> None:
    found = stated(pdf(tmp_path / "a.pdf"), "pdf")
    assert found == {
        "author": ("Anna Li",),
        "keywords": ("money", "travel"),
        "created": ("2024-01-31",),
        "program": ("Writer",),
    }


@pytest.mark.parametrize("parser", ["docx", "pptx", "sheet"])
def test_of_an_office_file(tmp_path: Path, parser: str) -> None:
    parts = {
        "_rels/.rels": _RELATIONS,
        "docProps/core.xml": _CORE,
        "docProps/custom.xml": _CUSTOM,
    }
    assert stated(packed(tmp_path / "a.zip", **parts), parser) == {
        "author": ("Anna Li",),
        "title": ("Budget",),
        "keywords": ("money", "travel"),
        "created": ("2024-01-31",),
        "last modified by": ("Bob",),
        "cost center": ("A12",),
    }


@pytest.mark.parametrize("parser", ["odt", "ods", "odp"])
def test_of_an_opendocument_file(tmp_path: Path, parser: str) -> None:
    assert stated(packed(tmp_path / "a.zip", **{"meta.xml": _META}), parser) == {
        "author": ("Anna Li",),
        "last modified by": ("Bob",),
        "modified": ("2025-02-01",),
        "created": ("2024-01-31",),
        "cost center": ("A12",),
    }


def test_of_an_e_mail(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(
        b"From: =?utf-8?q?Anna_L=C3=AD?= <anna@example.org>\r\nTo: Bob <bob@example.org>, carl@example.org\r\n"
        b"Subject: Budget\r\nDate: Wed, 31 Jan 2024 12:00:00 +0100\r\n\r\nHello.\r\n"
    )
    assert stated(path, "eml") == {
        "author": ("Anna Lí",),
        "to": ("Bob", "carl@example.org"),
        "subject": ("Budget",),
        "created": ("2024-01-31",),
    }


def _summary(texts: Mapping[int, bytes], times: Mapping[int, datetime]) -> bytes:
    """A summary information stream ([MS-OLEPS] 2.21) of these properties."""
    values = {1: struct.pack("<II", 2, 1252)}
    for number, text in texts.items():
        padded = text + bytes(4 - len(text) % 4)
        values[number] = struct.pack("<II", 30, len(padded)) + padded
    for number, moment in times.items():
        ticks = int((moment - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
        values[number] = struct.pack("<IQ", 64, ticks)
    table, content = b"", b""
    for number, value in values.items():
        table += struct.pack("<II", number, 8 + 8 * len(values) + len(content))
        content += value
    section = struct.pack("<II", 8 + len(table) + len(content), len(values)) + table + content
    return struct.pack("<HHI16xI", 0xFFFE, 0, 2, 1) + bytes(16) + struct.pack("<I", 48) + section


@pytest.mark.parametrize("parser", ["doc", "xls", "ppt"])
def test_of_an_office_file_before_2007(tmp_path: Path, parser: str) -> None:
    told = _summary(
        {2: b"Budget", 4: "Anna Müller".encode("cp1252"), 5: b"money; travel", 8: b"Bob"},
        {12: datetime(2004, 1, 31, tzinfo=UTC), 13: datetime(1601, 1, 1, tzinfo=UTC)},
    )
    (tmp_path / "a").write_bytes(ole({"\x05SummaryInformation": told}))
    assert stated(tmp_path / "a", parser) == {
        "title": ("Budget",),
        "author": ("Anna Müller",),
        "keywords": ("money", "travel"),
        "last modified by": ("Bob",),
        "created": ("2004-01-31",),
    }


def test_of_an_outlook_message(tmp_path: Path) -> None:
    path = tmp_path / "a.msg"
    path.write_bytes(
        outlook({0x0C1A: "Anna Li", 0x5D01: "anna@example.org", 0x0E04: "Bob; Carl", 0x37: "Budget"})
    )
    assert stated(path, "msg") == {"author": ("Anna Li",), "to": ("Bob", "Carl"), "subject": ("Budget",)}


def test_of_a_book(tmp_path: Path) -> None:
    container = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>Harbours</dc:title><dc:creator>Anna Li</dc:creator><dc:creator>Bob</dc:creator>"
        '<dc:date>2024-01-31</dc:date><dc:subject>sea</dc:subject><meta property="dcterms:modified">'
        "2025-02-01T00:00:00Z</meta></metadata></package>"
    )
    path = packed(tmp_path / "a.epub", **{"META-INF/container.xml": container, "book.opf": opf})
    assert stated(path, "epub") == {
        "title": ("Harbours",),
        "author": ("Anna Li", "Bob"),
        "created": ("2024-01-31",),
        "keywords": ("sea",),
        "modified": ("2025-02-01",),
    }


def test_of_front_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        '---\ntitle: "Budget"\nauthor: [Anna Li, Bob]\ndate: 2024-01-31\ntags:\n  - draft\n  - money\n---\n# Text\n'
    )
    assert stated(path, "markdown") == {
        "title": ("Budget",),
        "author": ("Anna Li", "Bob"),
        "created": ("2024-01-31",),
        "tags": ("draft", "money"),
    }
    path.write_text("# Text\nauthor: nobody\n")
    assert stated(path, "markdown") == {}


def test_of_a_web_page(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Budget
        2024</title><meta name="Author" content=" Anna Lí "><meta name="viewport" content="width=1">
        <meta property="article:published_time" content="2024-01-31T10:00:00+01:00">
        <meta http-equiv="last-modified" content="Thu, 01 Feb 2024 12:00:00 GMT">
        <meta name="keywords" content="money, travel,"><meta name="author" content="Bob"><meta name="author">
        </head><body><meta name="author" content="Mallory"><p>The budget.</p></body></html>"""
    )
    assert stated(path, "html") == {
        "title": ("Budget 2024",),
        "author": ("Anna Lí", "Bob"),
        "created": ("2024-01-31",),
        "modified": ("2024-02-01",),
        "keywords": ("money", "travel"),
    }
    path.write_bytes(
        "<meta charset='latin-1'><meta name='DC.creator' content='Zoë'>"
        "<meta name='citation_date' content='2024/01/31'>".encode("latin-1")
    )
    assert stated(path, "html") == {"author": ("Zoë",), "created": ("2024-01-31",)}


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n",
        "plain text",
        "<div>" * 50_000,
        "<meta name='author'",
        "<html><head><meta content='x'></head></html>",
        "<title></title><meta name='date' content='soon'>",
        "<!--<meta name='author' content='Mallory'>" * 9_000,
    ],
)
def test_a_web_page_without_properties_has_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(content)
    assert stated(path, "html") == {}


@pytest.mark.process
async def test_the_pool_gives_them_after_the_text_and_their_loss_costs_nothing(tmp_path: Path) -> None:
    good = pdf(tmp_path / "a.pdf")
    broken = tmp_path / "a.md"
    broken.write_bytes(b"---\nauthor: " + b"\xff" * 100_000 + b"\n---\ntext\n")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        read = {
            path.name: [section async for batch in pool.parse(blob(path)) for section in batch]
            for path in (good, broken)
        }
    *text, last = read["a.pdf"]
    assert {section.kind for section in text} == {"prose"}
    assert last.kind == "properties"
    assert stated_properties([last])["author"] == ("Anna Li",)
    assert "text" in read["a.md"][-1].text


def blob(path: Path) -> Blob:
    return Blob(
        name=path.name, media_type="", path=path, digest="", size=path.stat().st_size, uri=path.as_uri()
    )


@pytest.mark.parametrize("text", ["", "[]", "7", '{"a": 3}', '{"a": [1]}', "[" * 100_000, '{"tag": ["x"]}'])
def test_hostile_properties_become_none(text: str) -> None:
    assert stated_properties([Section(text=text, kind="properties")]) == {}


def test_what_was_stored_is_stated_again() -> None:
    stored = {"author": ("Anna Li", "Bob"), "created": ("2024-01-31",), "cost center": ("A12",)}
    assert stated_properties([properties_section(stored)]) == stored
