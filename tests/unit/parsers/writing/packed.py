"""Files that contain files (archives, books, Apple documents), and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ocr import drawn
from tests.unit.parsers.writing.office import write_pdf, write_xlsx
from tests.unit.parsers.writing.words import CHINESE, GERMAN, zip_of

if TYPE_CHECKING:
    from pathlib import Path


def write_zip(path: Path) -> None:
    write_xlsx(path)
    members = {"notes/leave.md": f"# Leave\n\n{GERMAN}\n".encode(), "budget.xlsx": path.read_bytes()}
    path.write_bytes(zip_of({**members, "run.exe": b"MZ\x90\x00" * 99}))


def write_pages(path: Path) -> None:
    """A Pages document with a preview."""
    write_pdf(path)
    path.write_bytes(zip_of({"Index/Document.iwa": b"x", "QuickLook/Preview.pdf": path.read_bytes()}))


def write_epub(path: Path) -> None:
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{}</h1><p>{}</p></body></html>"
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in "ab"
    )
    package = f'<package><manifest>{items}</manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
        "book.opf": package,
        "a.xhtml": page.format("Leave", GERMAN),
        "b.xhtml": page.format("Reports", CHINESE),
    }
    path.write_bytes(zip_of({name: content.encode() for name, content in members.items()}))


def write_png(path: Path) -> None:
    """A picture of English words, since other OCR languages depend on the machine."""
    drawn(zoom=2).save(path)
