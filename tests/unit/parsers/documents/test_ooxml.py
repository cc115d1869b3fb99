"""What Word and PowerPoint files share: parts, relations, hostile packages."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile, FileTooLarge
from rag_engine.parsers._ooxml.math import math_text
from rag_engine.parsers._shared.reading_order import Placed, in_reading_order
from rag_engine.parsers.documents import docx, pptx
from rag_engine.parsing.pool import parser_pool
from rag_engine.types import Blob
from tests.unit.parsers.files import write_xlsx, zip_of
from tests.unit.parsers.ooxml import NAMESPACES, paragraph, part, relations, write_parts, write_word

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LAUGHS = (
    '<!DOCTYPE w:document [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + at)} "{f"&{chr(97 + at)};" * 10}">' for at in range(9))
    + "]>"
)


def _texts(path: Path) -> list[str]:
    return [section.text for section in docx.parse(path)]


def test_the_strict_format_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "file"
    text = part("w:document", f"<w:body>{paragraph('Leave', 'Heading1')}{paragraph('x' * 70_000)}</w:body>")
    for plain, strict in (("wordprocessingml", "wordprocessingml"), ("officeDocument", "officeDocument")):
        text = text.replace(f"schemas.openxmlformats.org/{plain}/2006", f"purl.oclc.org/ooxml/{strict}")
    assert "purl.oclc.org" in text
    links = relations({"s": ("styles", "styles.xml")}).replace(
        "schemas.openxmlformats.org/officeDocument/2006", "purl.oclc.org/ooxml/officeDocument"
    )
    write_parts(path, {"word/document.xml": text, "word/_rels/document.xml.rels": links}, "word/document.xml")
    assert next(section.anchor for section in docx.parse(path)) == "§ Leave"


@pytest.mark.parametrize("name", ["word\\document.xml", "WORD/Document.XML", "/word/document.xml"])
def test_parts_are_found_despite_odd_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    body = part("w:document", f"<w:body>{paragraph('found')}</w:body>")
    write_parts(path, {name: body}, "word/document.xml")
    assert _texts(path) == ["found"]


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(zip_of({"[Content_Types].xml": b"", "word/document.xml": bytes(100 << 20)}))
    with pytest.raises(FileTooLarge, match="unpacks to far more"):
        list(docx.parse(path))


@pytest.mark.parametrize("parse", [docx.parse, pptx.parse])
def test_an_archive_without_a_document_is_damaged(tmp_path: Path, parse: Callable[[Path], Any]) -> None:
    path = tmp_path / "file"
    path.write_bytes(zip_of({"[Content_Types].xml": b"<Types/>", "other": b""}))
    with pytest.raises(CorruptFile):
        list(parse(path))


@pytest.mark.parametrize(
    "document",
    [
        _LAUGHS + f"<w:document {NAMESPACES}><w:body>&j;</w:body></w:document>",
        f'<!DOCTYPE w:document [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document {NAMESPACES}><w:p>&x;</w:p></w:document>',
        part("w:document", "<w:body><w:p>" * 9_000),
        part("w:document", "<w:body>") + "\x00",
        "",
    ],
)
def test_hostile_and_broken_parts(tmp_path: Path, document: str) -> None:
    path = tmp_path / "file"
    write_parts(path, {"word/document.xml": document}, "word/document.xml")
    with pytest.raises(CorruptFile):
        list(docx.parse(path))


def test_relations_that_are_missing_external_or_circular(tmp_path: Path) -> None:
    path = tmp_path / "file"
    chunk = '<w:altChunk r:id="self"/><w:altChunk r:id="none"/><w:altChunk r:id="up"/>'
    write_parts(
        path,
        {
            "word/document.xml": part("w:document", f"<w:body>{paragraph('text')}{chunk}</w:body>"),
            "word/_rels/document.xml.rels": relations(
                {
                    "self": ("aFChunk", "document.xml"),
                    "up": ("aFChunk", "../../../../etc/passwd"),
                    "f": ("footnotes", "nowhere.xml"),
                }
            ),
        },
        "word/document.xml",
    )
    assert _texts(path)[0] == "text"


def test_an_inserted_part_of_another_format_is_read_in_place(tmp_path: Path) -> None:
    path = tmp_path / "file"
    body = f"{paragraph('before')}<w:altChunk r:id='h'/>{paragraph('after')}"
    write_parts(
        path,
        {
            "word/document.xml": part("w:document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": relations({"h": ("aFChunk", "chunk.html")}),
            "word/chunk.html": "<html><body><p>from a page</p></body></html>",
        },
        "word/document.xml",
    )
    assert "\n".join(_texts(path)).split() == ["before", "from", "a", "page", "after"]


def test_a_part_under_a_password(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_word(path, paragraph("x"))
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        places = [member.header_offset + 6 for member in archive.infolist()]
    central = content.find(b"PK\x01\x02")
    while central >= 0:
        places.append(central + 8)
        central = content.find(b"PK\x01\x02", central + 4)
    for place in places:
        content[place] |= 1
    path.write_bytes(content)
    with pytest.raises(EncryptedFile):
        list(docx.parse(path))


def test_a_document_without_words(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_word(path, "<w:p/>")
    with pytest.raises(EmptyDocument):
        list(docx.parse(path))


def test_an_embedded_workbook_is_read_in_place(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "book")
    path = tmp_path / "file"
    shown = "<w:p><w:r><w:object><o:OLEObject r:id='x'/></w:object></w:r></w:p>"
    write_parts(
        path,
        {
            "word/document.xml": part(
                "w:document", f"<w:body>{paragraph('Costs', 'Heading1')}{shown}</w:body>"
            ),
            "word/_rels/document.xml.rels": relations({"x": ("package", "embeddings/book.xlsx")}),
            "word/embeddings/book.xlsx": (tmp_path / "book").read_bytes(),
        },
        "word/document.xml",
    )
    _, table, *_ = docx.parse(path)
    assert (table.anchor, table.headings) == ("§ Costs", ("Costs", "Budget"))
    assert "Köln | 2024-03-01" in table.text


@pytest.mark.process
async def test_all_of_it_in_the_sandbox(tmp_path: Path) -> None:
    path = tmp_path / "file.docx"
    write_parts(
        path,
        {
            "word/document.xml": part(
                "w:document", f"<w:body>{paragraph('a')}<w:altChunk r:id='h'/></w:body>"
            ),
            "word/_rels/document.xml.rels": relations({"h": ("aFChunk", "chunk.html")}),
            "word/chunk.html": "<p>b</p>",
        },
        "word/document.xml",
    )
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=path.stat().st_size, uri="")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        assert [section.text async for batch in pool.parse(blob) for section in batch] == ["a\n\nb"]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<m:rad><m:deg/><m:e>{x}</m:e></m:rad>", "√x"),
        ("<m:rad><m:deg>{x}</m:deg><m:e>{long}</m:e></m:rad>", "√[x](a+b)"),
        ('<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{long}</m:sub><m:sup>{x}</m:sup><m:e>{x}</m:e></m:nary>',
         "∑_(a+b)^x x"),
        ('<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>{x}</m:e><m:e>{x}</m:e></m:d>', "[x|x]"),
        ("<m:func><m:fName>{x}</m:fName><m:e>{long}</m:e></m:func>", "x (a+b)"),
        ("<m:m><m:mr><m:e>{x}</m:e><m:e>{x}</m:e></m:mr><m:mr><m:e>{x}</m:e></m:mr></m:m>", "[x, x; x]"),
        ("<m:sSubSup><m:e>{x}</m:e><m:sub>{x}</m:sub><m:sup>{long}</m:sup></m:sSubSup>", "x_x^(a+b)"),
        ("<m:limLow><m:e>{x}</m:e><m:lim>{x}</m:lim></m:limLow>", "x_x"),
    ],
)  # fmt: skip
def test_formulas(inside: str, text: str) -> None:
    filled = inside.format(x="<m:r><m:t>x</m:t></m:r>", long="<m:r><m:t>a+b</m:t></m:r>")
    root: Any = etree.fromstring(f"<m:oMath {NAMESPACES}>{filled}</m:oMath>")
    assert math_text(root) == text


def test_boxes_that_overlap_and_many_boxes() -> None:
    def placed(left: float, top: float) -> Placed[tuple[float, float]]:
        return Placed(item=(left, top), left=left, top=top, width=100, height=100)

    assert in_reading_order([placed(50, 50), placed(0, 0)]) == [(0, 0), (50, 50)]
    many = [placed(at % 37, at % 11) for at in range(3_000)]
    assert len(in_reading_order(many)) == 3_000


def test_a_damaged_member_is_damage_however_it_is_packed(tmp_path: Path) -> None:
    path = tmp_path / "file.docx"
    words = " ".join(f"word{number}" for number in range(3_000))
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    document = f'<w:document xmlns:w="{namespace}"><w:body><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:body></w:document>'
    for packing in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(path, "w", packing) as archive:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr("word/document.xml", document)
            begins = archive.getinfo("word/document.xml").header_offset
        content = bytearray(path.read_bytes())
        for at in range(begins + 200, begins + 1_200):
            content[at] ^= 0xA5
        path.write_bytes(content)
        with pytest.raises(CorruptFile):
            list(docx.parse(path))
