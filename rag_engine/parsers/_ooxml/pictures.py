from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UserError
from rag_engine.parsers._archives.nested_files import NestedFile, parsed, written
from rag_engine.parsers._ocr.unread_pages import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._archives.unpacking_limits import Unpacking
    from rag_engine.parsers._ooxml.package import OoxmlPackage
    from rag_engine.types import Section

UNREAD: Final = f"pictures, such as scans, and {MISSING}"
_SMALLEST: Final = 2_000
_NUMBERS: Final = re.compile(r"\d+|\D+")


class PictureReader:
    def __init__(self, package: OoxmlPackage, unpacking: Unpacking) -> None:
        self._package = package
        self._unpacking = unpacking
        self.is_missing = False

    def sections(self, part: str, anchor: str, headings: tuple[str, ...], most: int) -> Iterator[Section]:
        package = self._package
        pictures = {one for one in package.related(part, "image") if package.packed(one) >= _SMALLEST}
        largest = sorted(pictures, key=package.packed)[-most:]
        for picture in sorted(largest, key=_by_number):
            for section in self._read(picture):
                yield replace(section, anchor=anchor, headings=headings)

    def _read(self, part: str) -> Iterator[Section]:
        package = self._package
        member = NestedFile(
            name=PurePosixPath(part).name, chunks=lambda: package.chunks(part), packed=package.packed(part)
        )
        try:
            with written(member, self._unpacking) as path:
                for section in parsed(path, member.name, self._unpacking.deeper()):
                    if section.kind != "notice":
                        yield section
        except UserError as error:
            self.is_missing = self.is_missing or "OCR" in str(error)


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(run), "") if run.isdecimal() else (0, run) for run in _NUMBERS.findall(name)]
