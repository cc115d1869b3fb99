from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_PAGES: Final = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
_CATALOG: Final = b"<</Type/Catalog/Pages 2 0 R>>"
_FONT: Final = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
_WORDS: Final = b"BT /F 12 Tf 72 700 Td (Good words) Tj ET"


def pdf(objects: dict[int, bytes], *, trailer: bytes = b"") -> bytes:
    """A PDF of these objects, the first of which is its catalog."""
    content = bytearray(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    for number, body in objects.items():
        places[number] = len(content)
        content += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(content)
    content += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in places.items():
        content += b"%d 1\n%010d 00000 n \n" % (number, place)
    size = max(objects) + 1
    content += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(content)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """A stream object."""
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), entries, data)


def page(resources: bytes = b"/Font<</F 5 0 R>>", box: bytes = b"[0 0 612 792]", more: bytes = b"") -> bytes:
    """A page whose content is object 4."""
    return b"<</Type/Page/Parent 2 0 R/MediaBox%s/Contents 4 0 R/Resources<<%s>>%s>>" % (box, resources, more)


def _one_page(content: bytes, others: dict[int, bytes] | None = None, **of_page: bytes) -> bytes:
    return pdf({1: _CATALOG, 2: _PAGES, 3: page(**of_page), 4: content, 5: _FONT, **(others or {})})


def _deep_tree(levels: int) -> bytes:
    objects = {1: _CATALOG}
    for level in range(2, levels):
        objects[level] = b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (level + 1)
    objects[levels] = b"<</Type/Page/MediaBox[0 0 9 9]>>"
    return pdf(objects)


def _outline(next_one: int) -> bytes:
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
            2: _PAGES,
            3: page(),
            4: stream(_WORDS),
            5: _FONT,
            6: b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>",
            7: b"<</Title(words)/Parent 6 0 R/Next %d 0 R/Dest[3 0 R/Fit]>>" % next_one,
            8: b"<</Title(others)/Parent 6 0 R/Next 7 0 R/First 7 0 R/Dest[3 0 R/Fit]>>",
        }
    )


def _forms(count: int, width: int) -> bytes:
    """Forms that draw the next one so many times: the page is drawn `width` to the power of `count` times."""
    objects: dict[int, bytes] = {}
    for number in range(10, 10 + count):
        names = b"/XObject<</X %d 0 R>>/Font<</F 5 0 R>>" % (number + 1)
        draw = b"/X Do " * width if number + 1 < 10 + count else _WORDS
        objects[number] = stream(
            draw, b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<<%s>>" % names
        )
    return _one_page(stream(b"/X Do"), objects, resources=b"/XObject<</X 10 0 R>>")


def _twice_deflated(data: bytes) -> bytes:
    return stream(zlib.compress(zlib.compress(data, 9), 9), b"/Filter[/FlateDecode/FlateDecode]")


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "plain.pdf": lambda: _one_page(stream(_WORDS)),
    "tree-loop.pdf": lambda: pdf({1: _CATALOG, 2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 999999>>"}),
    "deep-tree.pdf": lambda: _deep_tree(100_000),
    "wrong-count.pdf": lambda: pdf({1: _CATALOG, 2: b"<</Type/Pages/Kids[]/Count 2147483647>>"}),
    "same-page.pdf": lambda: pdf(
        {1: _CATALOG, 2: b"<</Type/Pages/Kids[%s]/Count 20000>>" % (b"3 0 R " * 20_000), 3: page(), 4: stream(_WORDS), 5: _FONT}
    ),
    "deep-array.pdf": lambda: _one_page(stream(_WORDS), more=b"/X" + b"[" * 100_000 + b"]" * 100_000),
    "deep-dictionary.pdf": lambda: _one_page(stream(_WORDS), more=b"/X" + b"<</A" * 100_000 + b" 1" + b">>" * 100_000),
    "deep-content.pdf": lambda: _one_page(stream(b"[" * 1_000_000 + _WORDS)),
    "saved-states.pdf": lambda: _one_page(stream(b"q " * 1_000_000 + _WORDS)),
    "flate.pdf": lambda: _one_page(_twice_deflated(b"0 0 m " * 60_000_000)),
    "flate-text.pdf": lambda: _one_page(_twice_deflated(_WORDS.replace(b"ET", b"") + b"(words) Tj " * 5_000_000 + b"ET")),
    "hex-chain.pdf": lambda: _one_page(stream(_WORDS.hex().encode(), b"/Filter[%s]" % (b"/ASCIIHexDecode" * 5_000))),
    "large-image.pdf": lambda: _one_page(
        stream(b"q 612 0 0 792 0 0 cm /I Do Q " + _WORDS),
        {6: stream(zlib.compress(bytes(50 << 20)), b"/Type/XObject/Subtype/Image/Width 100000/Height 100000/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode")},
        resources=b"/Font<</F 5 0 R>>/XObject<</I 6 0 R>>",
    ),
    "forms-in-forms.pdf": lambda: _forms(30, 10),
    "form-loop.pdf": lambda: _one_page(
        stream(b"/X Do"),
        {6: stream(b"/X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>")},
        resources=b"/XObject<</X 6 0 R>>",
    ),
    "glyph-loop.pdf": lambda: _one_page(
        stream(_WORDS),
        {
            6: b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 71/LastChar 71/Widths[1]"
            b"/Encoding<</Differences[71/G]>>/CharProcs<</G 7 0 R>>/Resources<</Font<</F 6 0 R>>>>>>",
            7: stream(_WORDS),
        },
        resources=b"/Font<</F 6 0 R>>",
    ),
    "bad-font.pdf": lambda: _one_page(
        stream(_WORDS),
        {
            6: b"<</Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor 7 0 R>>",
            7: b"<</Type/FontDescriptor/FontName/X/Flags 4/FontFile2 8 0 R>>",
            8: stream(b"\x00\x01\x00\x00\xff\xff" + b"\xff" * 100_000),
        },
        resources=b"/Font<</F 6 0 R>>",
    ),
    "outline-loop.pdf": lambda: _outline(7),
    "outline-circle.pdf": lambda: _outline(8),
    "table-loop.pdf": lambda: pdf({1: _CATALOG, 2: _PAGES, 3: page(), 4: stream(_WORDS), 5: _FONT}, trailer=b"/Prev 9"),
    "length-loop.pdf": lambda: _one_page(b"<</Length 4 0 R>>stream\n%s\nendstream" % _WORDS),
    "reference-loop.pdf": lambda: pdf({1: b"2 0 R", 2: b"1 0 R"}),
    "large-page.pdf": lambda: _one_page(stream(_WORDS), box=b"[0 0 14400000 14400000]"),
    "no-page.pdf": lambda: _one_page(stream(_WORDS), box=b"[0 0 0 0]"),
    "many-notes.pdf": lambda: _one_page(
        stream(_WORDS), more=b"/Annots[%s]" % (b"<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(x)>>" * 100_000)
    ),
    "script.pdf": lambda: pdf(
        {1: b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/Launch/F(/bin/sh)>>>>", 2: _PAGES, 3: page(), 4: stream(_WORDS), 5: _FONT}
    ),
    "two-headers.pdf": lambda: b"%PDF-1.7\n" * 100_000,
    "nothing.pdf": lambda: b"%PDF-1.7\n",
    "cut.pdf": lambda: _one_page(stream(_WORDS))[:-200],
}  # fmt: skip
