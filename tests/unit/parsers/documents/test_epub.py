"""EPUB: reading order, titles from the table of contents, copy protection and damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers.documents import epub
from rag_engine.parsing.media_types import parser_name
from tests.unit.parsers.files import zip_of

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section

_CONTAINER = b'<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
_XHTML = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="e"><head><title>Book</title></head><body>{}</body></html>'


def _opf(order: list[str], more: str = "", spine: str = "") -> bytes:
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in order
    )
    references = "".join(f'<itemref idref="{name}"/>' for name in order)
    return (
        f"<package><manifest>{items}{more}</manifest><spine {spine}>{references}</spine></package>".encode()
    )


def _read(folder: Path, members: dict[str, bytes | str]) -> list[Section]:
    path = folder / "book.epub"
    packed = {
        name: content if isinstance(content, bytes) else _XHTML.format(content).encode()
        for name, content in members.items()
    }
    path.write_bytes(zip_of({"META-INF/container.xml": _CONTAINER, **packed}))
    assert parser_name(path, path.name) == "epub"
    return list(epub.parse(path))


def test_pages_follow_the_spine_under_their_chapters(tmp_path: Path) -> None:
    nav = (
        '<nav epub:type="toc"><ol><li><span>Part One</span><ol><li><a href="b.xhtml">1 Leave</a></li></ol></li>'
        '<li><a href="a.xhtml#x">Reports</a></li></ol></nav>'
    )
    opf = _opf(
        ["b", "b2", "a"],
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
    )
    sections = _read(
        tmp_path,
        {
            "OPS/book.opf": opf,
            "OPS/a.xhtml": "<h1>Reports</h1><p>Quarterly.</p>",
            "OPS/b.xhtml": '<h2>Leave</h2><p>Thirty<span epub:type="pagebreak">12</span> days.</p>',
            "OPS/b2.xhtml": "<p>Goes on.</p>",
            "OPS/nav.xhtml": nav,
        },
    )
    assert [(section.headings, section.anchor, section.text) for section in sections] == [
        (("Part One", "Leave"), "§ Leave", "Leave\n\nThirty days."),
        (("Part One", "1 Leave"), "§ 1 Leave", "Goes on."),
        (("Reports",), "§ Reports", "Reports\n\nQuarterly."),
    ]


def test_epub_2_table_of_contents_is_the_fallback(tmp_path: Path) -> None:
    ncx = (
        "<ncx><navMap><navPoint><navLabel><text>Leave</text></navLabel><content src='a%20b.xhtml'/></navPoint>"
        "</navMap></ncx>"
    )
    opf = (
        b'<package><manifest><item id="a" href="a%20b.xhtml" media-type="application/xhtml+xml"/>'
        b'<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
        b'<spine toc="ncx"><itemref idref="a"/></spine></package>'
    )
    [section] = _read(
        tmp_path, {"OPS/book.opf": opf, "OPS/toc.ncx": ncx.encode(), "OPS/a b.xhtml": "<p>Days.</p>"}
    )
    assert (section.anchor, section.text) == ("§ Leave", "Days.")


def test_nonlinear_pages_come_last(tmp_path: Path) -> None:
    opf = _opf(["a", "b"]).replace(b'<itemref idref="a"/>', b'<itemref idref="a" linear="no"/>')
    sections = _read(
        tmp_path, {"OPS/book.opf": opf, "OPS/a.xhtml": "<p>Notes</p>", "OPS/b.xhtml": "<p>Text</p>"}
    )
    assert [section.text for section in sections] == ["Text", "Notes"]


def test_copy_protection_is_an_error_and_obfuscated_fonts_are_not(tmp_path: Path) -> None:
    def encryption(algorithm: str) -> bytes:
        return f'<e><EncryptedData><EncryptionMethod Algorithm="{algorithm}"/></EncryptedData></e>'.encode()

    members: dict[str, bytes | str] = {"OPS/book.opf": _opf(["a"]), "OPS/a.xhtml": "<p>Days.</p>"}
    fonts = encryption("http://www.idpf.org/2008/embedding")
    assert _read(tmp_path, {**members, "META-INF/encryption.xml": fonts})[0].text == "Days."
    with pytest.raises(EncryptedFile, match="copy protection"):
        _read(tmp_path, {**members, "META-INF/encryption.xml": encryption("aes128-cbc")})


def test_missing_chapters_are_a_notice_and_a_book_without_any_an_error(tmp_path: Path) -> None:
    *_, notice = _read(tmp_path, {"OPS/book.opf": _opf(["a", "b"]), "OPS/a.xhtml": "<p>Days.</p>"})
    assert (notice.kind, notice.text[:36]) == ("notice", "1 of 2 chapters could not be read: t")
    with pytest.raises(CorruptFile):
        _read(tmp_path, {"OPS/book.opf": _opf(["a"])})


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    page = (
        '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'
        "<html><body><p>Days &b;&eacute;</p></body></html>"
    )
    [section] = _read(tmp_path, {"OPS/book.opf": _opf(["a"]), "OPS/a.xhtml": page.encode()})
    assert section.text == "Days é"


def test_note_marks_do_not_stick_to_words(tmp_path: Path) -> None:
    page = (
        '<p>Thirty days<sup><a epub:type="noteref" href="#n">1</a></sup> a year<a role="doc-noteref" href="#m">2</a>.</p>'
        '<aside epub:type="footnote" id="n"><p>Pro rata. <a role="doc-backlink" href="#r">↩</a></p></aside>'
    )
    [section] = _read(tmp_path, {"OPS/book.opf": _opf(["a"]), "OPS/a.xhtml": page.encode()})
    assert section.text == "Thirty days a year.\n\nPro rata."
