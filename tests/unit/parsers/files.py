"""Small files of every format; their writers are in `writing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.unit.parsers.writing.messages import write_eml, write_ics, write_mbox, write_msg, write_vcf
from tests.unit.parsers.writing.office import write_docx, write_pdf, write_pptx, write_xlsx
from tests.unit.parsers.writing.old_office import write_doc, write_ppt, write_rtf, write_xls
from tests.unit.parsers.writing.opendocument import write_odp, write_ods, write_odt
from tests.unit.parsers.writing.packed import write_epub, write_pages, write_png, write_zip
from tests.unit.parsers.writing.texts import TEXTS
from tests.unit.parsers.writing.words import CHINESE, GERMAN, zip_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = [
    "CHINESE",
    "GERMAN",
    "WRITERS",
    "write_docx",
    "write_pdf",
    "write_pptx",
    "write_xlsx",
    "zip_of",
]

WRITERS: Final[Mapping[str, Callable[[Path], None]]] = {
    "pdf": write_pdf,
    "docx": write_docx,
    "pptx": write_pptx,
    "xlsx": write_xlsx,
    "odt": write_odt,
    "odp": write_odp,
    "ods": write_ods,
    "rtf": write_rtf,
    "doc": write_doc,
    "ppt": write_ppt,
    "xls": write_xls,
    "eml": write_eml,
    "msg": write_msg,
    "mbox": write_mbox,
    "ics": write_ics,
    "vcf": write_vcf,
    "zip": write_zip,
    "epub": write_epub,
    "pages": write_pages,
    "png": write_png,
    **TEXTS,
}
"""Suffix -> writer of a file with `GERMAN` (or Köln) and `CHINESE`; a picture has `tests.ocr.NOTICE`."""
