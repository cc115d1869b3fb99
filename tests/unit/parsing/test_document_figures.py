"""Of Word, PowerPoint, HTML and EPUB files the picture beside the quoted words is shown, made anew from its pixels."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from typing import TYPE_CHECKING, Any, cast

import docx
import pptx
import pymupdf
import pytest
from PIL import Image
from pptx.util import Inches

from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.parsers._figures import webp
from rag_engine.parsers._figures.limits import MOST_BYTES
from rag_engine.parsing.document_figures import draw
from rag_engine.parsing.page_images import WIDTH
from rag_engine.parsing.pool import parser_pool
from tests.page_marks import plain_picture
from tests.unit.parsers.files import zip_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLUE, GREEN = (200, 220, 255), (210, 255, 210)
PUMP, VALVE = "The pump lifts water to the upper basin.", "The valve closes within two seconds."
FAR = "Nobody may enter the plant without a helmet. " * 30


def two_colours() -> bytes:
    """Blue on the left, green on the right."""
    row = bytes(BLUE) * 150 + bytes(GREEN) * 150
    return pymupdf.Pixmap(pymupdf.csRGB, 300, 200, row * 200, False).tobytes("png")


def colours(content: bytes) -> set[tuple[int, ...]]:
    image = pymupdf.Pixmap(content)
    found = [image.pixel(x, y) for x in range(0, image.width, 7) for y in range(0, image.height, 7)]
    return {tuple(round(channel / 8) for channel in one) for one in found}


def nearly(colour: tuple[int, int, int]) -> set[tuple[int, ...]]:
    """JPEG changes the last bits."""
    return {tuple(round(channel / 8) for channel in colour)}


def word(folder: Path) -> Path:
    document = docx.Document()
    document.add_paragraph(PUMP)
    document.add_picture(io.BytesIO(plain_picture(BLUE)))
    document.add_paragraph("Figure 1: Section of the upper basin")
    document.add_paragraph(FAR)
    document.add_heading("Valves")
    document.add_picture(io.BytesIO(plain_picture(GREEN, kind="jpg")))
    document.add_paragraph(VALVE)
    document.add_heading("Paint")
    document.add_paragraph("All pipes are red.")
    document.save(str(folder / "plant.docx"))
    return folder / "plant.docx"


def slides(folder: Path) -> Path:
    show = pptx.Presentation()
    for words, colour in ((PUMP, BLUE), (VALVE, GREEN), ("All pipes are red.", None)):
        slide = show.slides.add_slide(show.slide_layouts[5])
        cast("Any", slide.shapes.title).text = words
        if colour:
            slide.shapes.add_picture(io.BytesIO(plain_picture(colour)), Inches(1), Inches(2))
    show.save(str(folder / "plant.pptx"))
    return folder / "plant.pptx"


def _data(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def _markup(blue: str, green: str) -> str:
    return (
        f"<html><body><h1>Plant</h1><p>{PUMP}</p><img src='{blue}'><p>Figure 1: Section of the upper basin</p>"
        f"<p>{FAR}</p><h2>Valves</h2><figure><img src='{green}' alt='A closed valve'></figure><p>{VALVE}</p>"
        "<h2>Paint</h2><p>All pipes are red.</p></body></html>"
    )


def page(folder: Path) -> Path:
    (folder / "plant.html").write_text(_markup(_data(plain_picture(BLUE)), _data(plain_picture(GREEN))))
    return folder / "plant.html"


def web_archive(folder: Path) -> Path:
    parts = [("text/html", "page", _markup("cid:blue@x", "https://example.org/green.png").encode())]
    parts += [("image/png", "blue", plain_picture(BLUE)), ("image/png", "green", plain_picture(GREEN))]
    named = {
        "page": "",
        "blue": "Content-ID: <blue@x>\r\n",
        "green": "Content-Location: https://example.org/green.png\r\n",
    }
    body = "".join(
        f"--edge\r\nContent-Type: {kind}\r\nContent-Transfer-Encoding: base64\r\n{named[name]}\r\n"
        f"{base64.encodebytes(content).decode()}\r\n"
        for kind, name, content in parts
    )
    head = 'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="edge"; type="text/html"\r\n\r\n'
    (folder / "plant.mht").write_text(f"{head}{body}--edge--\r\n")
    return folder / "plant.mht"


def book(folder: Path) -> Path:
    opf = (
        b'<package><manifest><item id="c" href="text/c.xhtml" media-type="application/xhtml+xml"/></manifest>'
        b'<spine><itemref idref="c"/></spine></package>'
    )
    container = b'<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    members = {
        "META-INF/container.xml": container,
        "OPS/book.opf": opf,
        "OPS/text/c.xhtml": _markup("../img/blue.png", "../img/green%20one.png").encode(),
        "OPS/img/blue.png": plain_picture(BLUE),
        "OPS/img/green one.png": plain_picture(GREEN),
    }
    (folder / "plant.epub").write_bytes(zip_of(members))
    return folder / "plant.epub"


_PICTURE = '<draw:frame><draw:image xlink:href="Pictures/{}.png"/><svg:title>{}</svg:title></draw:frame>'
_FRAMES = {"blue": _PICTURE.format("blue", ""), "green": _PICTURE.format("green", "A closed valve")}


def opendocument(kind: str, body: str) -> bytes:
    names = {"draw": "drawing", "svg": "svg-compatible", "presentation": "presentation"} | {
        name: name for name in ("office", "text")
    }
    spaces = "".join(
        f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in names.items()
    )
    content = (
        f'<office:document-content{spaces} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body>'
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    members = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(),
        "content.xml": content.encode(),
        "Pictures/blue.png": plain_picture(BLUE),
        "Pictures/green.png": plain_picture(GREEN),
    }
    return zip_of(members)


def open_text(folder: Path) -> Path:
    (folder / "plant.odt").write_bytes(
        opendocument(
            "text",
            f"<text:p>{PUMP}</text:p><text:p>{_FRAMES['blue']}</text:p>"
            f"<text:p>Figure 1: Section of the upper basin</text:p><text:p>{FAR}</text:p><text:h>Valves</text:h>"
            f"<text:p>{_FRAMES['green']}</text:p><text:p>{VALVE}</text:p><text:h>Paint</text:h>"
            "<text:p>All pipes are red.</text:p>",
        )
    )
    return folder / "plant.odt"


def open_slides(folder: Path) -> Path:
    written = ((PUMP, _FRAMES["blue"]), (VALVE, _FRAMES["green"]), ("All pipes are red.", ""))
    pages = "".join(
        f"<draw:page><draw:frame><draw:text-box><text:p>{words}</text:p></draw:text-box></draw:frame>{picture}"
        f"<presentation:notes>{_FRAMES['green']}</presentation:notes></draw:page>"
        for words, picture in written
    )
    (folder / "plant.odp").write_bytes(opendocument("presentation", pages))
    return folder / "plant.odp"


@pytest.mark.parametrize("make", [word, slides, page, web_archive, book, open_text, open_slides])
def test_the_picture_beside_the_quote_is_shown(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    anchors = (
        ("slide 1", "slide 2", "slide 3")
        if make in (slides, open_slides)
        else ("§ Plant", "§ Valves", "§ Paint")
    )
    first = draw(path, path.name, anchors[0], [PUMP])
    second = draw(path, path.name, anchors[1], [VALVE])
    assert first
    assert second
    assert colours(first) == nearly(BLUE)
    assert colours(second) == nearly(GREEN)
    assert draw(path, path.name, anchors[2], ["All pipes are red."]) is None
    assert draw(path, path.name, anchors[0], ["Words that are nowhere in it."]) is None


@pytest.mark.parametrize("make", [word, page, web_archive, book, open_text])
def test_a_quoted_caption_names_its_picture(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    content = draw(path, path.name, "§ Plant", ["Figure 1: Section of the upper basin"])
    assert content
    assert colours(content) == nearly(BLUE)


@pytest.mark.parametrize(("make", "encoded"), [(page, base64.b64encode), (web_archive, base64.encodebytes)])
def test_a_picture_beyond_the_limit_is_passed_over(
    make: Callable[[Path], Path], encoded: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = make(tmp_path)
    small, large = plain_picture(BLUE), plain_picture(BLUE) + b"\0" * MOST_BYTES
    path.write_bytes(path.read_bytes().replace(encoded(small), encoded(large)))
    assert draw(path, path.name, "§ Plant", [PUMP]) is None


@pytest.mark.parametrize("make", [page, open_text])
def test_a_quoted_description_names_its_picture(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    content = draw(path, path.name, "§ Valves", ["A closed valve"])
    assert content
    assert colours(content) == nearly(GREEN)


def test_what_was_cropped_away_is_not_shown(tmp_path: Path) -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    cast("Any", slide.shapes.title).text = PUMP
    shown = slide.shapes.add_picture(io.BytesIO(two_colours()), Inches(1), Inches(2))
    shown.crop_right = 0.5
    show.save(str(tmp_path / "cropped.pptx"))
    content = draw(tmp_path / "cropped.pptx", "cropped.pptx", "slide 1", [PUMP])
    assert content
    assert colours(content) == nearly(BLUE)


def _shown(folder: Path, content: bytes, kind: str) -> bytes | None:
    address = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    (folder / "one.html").write_text(f"<html><body><p>{PUMP}</p><img src='{address}'></body></html>")
    return draw(folder / "one.html", "one.html", "", [PUMP])


def _web_picture(width: int = 300, height: int = 200) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (width, height), BLUE).save(made, "WEBP", lossless=True)
    return made.getvalue()


@pytest.mark.skipif(webp.png(_web_picture(), most_pixels=60_000) == b"", reason="Tesseract is not installed")
def test_webp_is_shown(tmp_path: Path) -> None:
    shown = _shown(tmp_path, _web_picture(), "webp")
    assert shown
    assert colours(shown) == nearly(BLUE)
    assert _shown(tmp_path, _web_picture()[:40], "webp") is None
    assert _shown(tmp_path, _web_picture(4_001, 4_000), "webp") is None


def _drawing(inside: str, *, width: int = 120) -> bytes:
    return (
        '<?xml version="1.0"?><!-- A plant --><svg xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" height="80">{inside}</svg>'
    ).encode()


def test_svg_is_shown_large(tmp_path: Path) -> None:
    filled = f'<rect width="120" height="80" fill="rgb{BLUE}"/>'
    shown = _shown(tmp_path, _drawing(filled), "svg+xml")
    assert shown
    assert colours(shown) == nearly(BLUE)
    assert pymupdf.Pixmap(shown).width > 500
    assert _shown(tmp_path, _drawing(filled, width=20), "svg+xml") is None
    assert _shown(tmp_path, b"<svg", "svg+xml") is None


def test_svg_reads_no_other_file_and_no_bomb(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(plain_picture(GREEN))
    filled = f'<rect width="120" height="80" fill="rgb{BLUE}"/>'
    for address in (f"file://{tmp_path}/secret.png", f"{tmp_path}/secret.png", "secret.png"):
        linked = f'{filled}<image xlink:href="{address}" href="{address}" width="120" height="80"/>'
        shown = _shown(tmp_path, _drawing(linked), "svg+xml")
        assert shown is None or colours(shown) == nearly(BLUE)
    bomb = f'{filled}<image xlink:href="{_data(_bomb())}" width="120" height="80"/>'
    assert _shown(tmp_path, _drawing(bomb), "svg+xml") is None


def test_hidden_pictures_are_not_shown(tmp_path: Path) -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    cast("Any", slide.shapes.title).text = PUMP
    hidden = slide.shapes.add_picture(io.BytesIO(plain_picture(BLUE)), Inches(1), Inches(2))
    cast("Any", hidden)._element.nvPicPr.cNvPr.set("hidden", "1")
    show.save(str(tmp_path / "hidden.pptx"))
    assert draw(tmp_path / "hidden.pptx", "hidden.pptx", "slide 1", [PUMP]) is None
    source = f"<p>{PUMP}</p><div style='display:none'><img src='{_data(plain_picture(BLUE))}'></div>"
    (tmp_path / "hidden.html").write_text(f"<html><body>{source}</body></html>")
    content = opendocument(
        "text", f"<text:section text:display='none'><text:p>{PUMP}{_FRAMES['blue']}</text:p></text:section>"
    )
    (tmp_path / "hidden.odt").write_bytes(content)
    assert draw(tmp_path / "hidden.odt", "hidden.odt", "", [PUMP]) is None
    assert draw(tmp_path / "hidden.html", "hidden.html", "", [PUMP]) is None


def test_large_pictures_become_small_ones_without_what_the_camera_wrote(tmp_path: Path) -> None:
    large = plain_picture(BLUE, width=3_000, height=1_500)
    secret = b"taken at 52.1 N 4.3 E"
    chunk = b"tEXt" + b"Comment\0" + secret
    marked = (
        large[:33]
        + struct.pack(">I", len(chunk) - 4)
        + chunk
        + struct.pack(">I", zlib.crc32(chunk))
        + large[33:]
    )
    (tmp_path / "large.html").write_text(
        f"<html><body><p>{PUMP}</p><img src='{_data(marked)}'></body></html>"
    )
    content = draw(tmp_path / "large.html", "large.html", "", [PUMP])
    assert content
    assert abs(pymupdf.Pixmap(content).width - WIDTH) <= 2
    assert secret not in content


def _bomb() -> bytes:
    def chunk(kind: bytes, inside: bytes) -> bytes:
        return struct.pack(">I", len(inside)) + kind + inside + struct.pack(">I", zlib.crc32(kind + inside))

    head = struct.pack(">IIBBBBB", 40_000, 40_000, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(5_001) * 40_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\nno picture",
        b"%PDF-1.7 no picture",
        plain_picture(BLUE, width=20),
        _bomb(),
    ],
    ids=["damaged", "another format", "an icon", "a bomb"],
)
def test_what_is_no_picture_to_show_is_passed_over(content: bytes, tmp_path: Path) -> None:
    source = f"<p>{PUMP}</p><img src='{_data(content)}'><p>and</p><img src='{_data(plain_picture(GREEN))}'>"
    (tmp_path / "odd.html").write_text(f"<html><body>{source}</body></html>")
    shown = draw(tmp_path / "odd.html", "odd.html", "", [PUMP])
    assert shown
    assert colours(shown) == nearly(GREEN)


def test_no_address_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(plain_picture(BLUE))
    for address in (f"file://{tmp_path}/secret.png", "secret.png", "http://127.0.0.1:9/x.png"):
        (tmp_path / "linked.html").write_text(f"<html><body><p>{PUMP}</p><img src='{address}'></body></html>")
        assert draw(tmp_path / "linked.html", "linked.html", "", [PUMP]) is None


@pytest.mark.process
async def test_it_is_drawn_in_the_sandbox(tmp_path: Path) -> None:
    blob = await blob_from_path(word(tmp_path))
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        found = await pool.figure(blob, anchor="", quotes=[PUMP])
        nothing = await pool.figure(blob, anchor="§ Paint", quotes=["All pipes are red."])
    assert found is not None
    assert colours(found.content) == nearly(BLUE)
    assert nothing is None
