from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_A: Final = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P: Final = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_R: Final = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_S: Final = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES: Final = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
)
_RELATIONS: Final = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>'
LAUGHS: Final = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">'
        for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)
QUADRATIC: Final = f'<!DOCTYPE x [<!ENTITY a "{"x" * 50_000}">]>'
OUTSIDE: Final = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
FETCHED: Final = (
    '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p"> %p;]>'
)


def word(body: str, *, prolog: str = "", more: dict[str, bytes] | None = None) -> bytes:
    """A Word file with this body."""
    document = f"{prolog}<w:document {_W}><w:body>{body}</w:body></w:document>"
    return _package(
        "word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        {"word/document.xml": document.encode(), **(more or {})},
    )  # fmt: skip


def paragraph(text: str) -> str:
    """A paragraph of a Word file."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def workbook(sheet: str, *, strings: str = "", prolog: str = "") -> bytes:
    """An Excel file with this content of its one sheet, and of its shared strings."""
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    book = f'<workbook {_S} {_R}><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>'
    entries = (
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    )
    return _package(
        "xl/workbook.xml", f"{main}.sheet.main+xml",
        {
            "xl/workbook.xml": book.encode(),
            "xl/_rels/workbook.xml.rels": _RELATIONS.format(entries=entries).encode(),
            "xl/worksheets/sheet1.xml": f"{prolog}<worksheet {_S}><sheetData>{sheet}</sheetData></worksheet>".encode(),
            "xl/sharedStrings.xml": f"{prolog}<sst {_S}>{strings}</sst>".encode(),
        },
        {
            "xl/worksheets/sheet1.xml": f"{main}.worksheet+xml",
            "xl/sharedStrings.xml": f"{main}.sharedStrings+xml",
        },
    )  # fmt: skip


def slides(shapes: str, *, prolog: str = "") -> bytes:
    """A PowerPoint file whose one slide has these shapes."""
    main = "application/vnd.openxmlformats-officedocument.presentationml"
    tree = f"<p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree>"
    slide = f"{prolog}<p:sld {_A} {_P} {_R}><p:cSld>{tree}</p:cSld></p:sld>"
    show = (
        f'<p:presentation {_P} {_R}><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
    )
    entries = f'<Relationship Id="rId1" Type="{_OFFICE}/slide" Target="slides/slide1.xml"/>'
    return _package(
        "ppt/presentation.xml", f"{main}.presentation.main+xml",
        {
            "ppt/presentation.xml": show.encode(),
            "ppt/_rels/presentation.xml.rels": _RELATIONS.format(entries=entries).encode(),
            "ppt/slides/slide1.xml": slide.encode(),
        },
        {"ppt/slides/slide1.xml": f"{main}.slide+xml"},
    )  # fmt: skip


def shape(text: str, number: int = 2) -> str:
    """A box with text on a slide."""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def zipped(members: dict[str, bytes]) -> bytes:
    """An archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def overlapping(name: str, members: int, size: int) -> bytes:
    """An archive whose members are all the same bytes of the file: it holds `members` times what it seems to."""
    content = bytearray(zipped({name.format(0): bytes(size)}))
    start = content.rindex(b"PK\x01\x02")
    entry, end = bytes(content[start : start + 46 + len(name.format(0))]), content.rindex(b"PK\x05\x06")
    directory = b"".join(
        entry[:28]
        + len(name.format(number)).to_bytes(2, "little")
        + entry[30:46]
        + name.format(number).encode()
        for number in range(members)
    )
    tail = bytearray(content[end:])
    tail[8:10] = tail[10:12] = members.to_bytes(2, "little")
    tail[12:16] = len(directory).to_bytes(4, "little")
    return bytes(content[:start]) + directory + bytes(tail)


def understated(package: bytes, member: str) -> bytes:
    """The archive with a member that says it is small and is not."""
    content = bytearray(package)
    start = content.rindex(member.encode()) - 46
    content[start + 24 : start + 28] = (100).to_bytes(4, "little")
    return bytes(content)


def nested(levels: int, width: int) -> bytes:
    """Archives in archives, each of so many of the next: the innermost are zeros."""
    content = zlib.compress(bytes(10 << 20))
    for level in range(levels):
        content = zipped({f"{level}-{number}.zip": content for number in range(width)})
    return content


def _package(
    main: str, main_type: str, members: dict[str, bytes], types: dict[str, str] | None = None
) -> bytes:
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>'
        for name, kind in {main: main_type, **(types or {})}.items()
    )
    relation = f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="{main}"/>'
    return zipped(
        {
            "[Content_Types].xml": _TYPES.format(overrides=overrides).encode(),
            "_rels/.rels": _RELATIONS.format(entries=relation).encode(),
            **members,
        }
    )


_MOST_PLAIN: Final = 60 << 20
"""Just below what one member may unpack to."""


def _repeated(piece: str, size: int = _MOST_PLAIN) -> str:
    return piece * (size // len(piece))


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "plain.docx": lambda: word(paragraph("Good words.")),
    "plain.xlsx": lambda: workbook('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings="<si><t>Good words.</t></si>"),
    "plain.pptx": lambda: slides(shape("Good words.")),
    "laughs.docx": lambda: word(paragraph("&j;"), prolog=LAUGHS),
    "laughs.xlsx": lambda: workbook(
        '<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings="<si><t>&j;</t></si>", prolog=LAUGHS
    ),
    "laughs.pptx": lambda: slides(shape("&j;"), prolog=LAUGHS),
    "quadratic.docx": lambda: word(paragraph("&a;" * 50_000), prolog=QUADRATIC),
    "quadratic.xlsx": lambda: workbook(
        '<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings=f"<si><t>{'&a;' * 50_000}</t></si>", prolog=QUADRATIC
    ),
    "outside-entity.docx": lambda: word(paragraph("before &a; after"), prolog=OUTSIDE),
    "outside-entity.xlsx": lambda: workbook(
        '<row r="1"><c r="A1" t="inlineStr"><is><t>before &a; after</t></is></c></row>', prolog=OUTSIDE
    ),
    "outside-entity.pptx": lambda: slides(shape("before &a; after"), prolog=OUTSIDE),
    "fetched-dtd.docx": lambda: word(paragraph("words"), prolog=FETCHED),
    "empty-paragraphs.docx": lambda: word(_repeated("<w:p/>")),
    "one-long-word.docx": lambda: word(paragraph("x" * _MOST_PLAIN)),
    "many-strings.xlsx": lambda: workbook(
        '<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings=_repeated("<si><t>a</t></si>")
    ),
    "empty-rows.xlsx": lambda: workbook(_repeated("<row/>")),
    "many-cells.xlsx": lambda: workbook(f'<row r="1">{_repeated("<c><v>1</v></c>")}</row>'),
    "far-corner.xlsx": lambda: workbook('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    "beyond-the-corner.xlsx": lambda: workbook('<row r="99999999999"><c r="ZZZZZZZ9"><v>1</v></c></row>'),
    "no-such-string.xlsx": lambda: workbook('<row r="1"><c r="A1" t="s"><v>999999999</v></c></row>'),
    "many-shapes.pptx": lambda: slides(_repeated(shape("x"), 20 << 20)),
    "deep-groups.pptx": lambda: slides("<p:grpSp>" * 100_000 + shape("words") + "</p:grpSp>" * 100_000),
    "deep-tables.docx": lambda: word(
        "<w:tbl><w:tr><w:tc>" * 100 + paragraph("words") + "</w:tc></w:tr></w:tbl>" * 100
    ),
    "deep-elements.docx": lambda: word("<w:sdt><w:sdtContent>" * 100_000 + "</w:sdtContent></w:sdt>" * 100_000),
    "overlapping.docx": lambda: overlapping("word/{0}.xml", 60_000, 1 << 20),
    "overlapping.zip": lambda: overlapping("{0}.txt", 60_000, 1 << 20),
    "understated.docx": lambda: understated(word(paragraph("x" * _MOST_PLAIN)), "word/document.xml"),
    "dense.docx": lambda: word("", more={"word/media/image.png": bytes(300 << 20)}),
    "nested.zip": lambda: nested(5, 10),
    "nested.docx": lambda: word(paragraph("words"), more={"word/embeddings/a.zip": nested(5, 10)}),
    "bomb.epub": lambda: zipped({"mimetype": b"application/epub+zip", "a.xhtml": bytes(100 << 20)}),
    "paths.docx": lambda: word(
        paragraph("words"),
        more={"../../../../tmp/footnote-path": b"x", "/etc/footnote-path": b"x", "word\\..\\..\\x": b"x", "a\u202etxt": b"x"},
    ),
    "twice.docx": lambda: word(paragraph("words")) + word(paragraph("others")),
    "cut.docx": lambda: word(paragraph("words" * 10_000))[:-30],
}  # fmt: skip
