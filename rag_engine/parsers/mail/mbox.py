from __future__ import annotations

import mmap
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UserError
from rag_engine.parsers._archives.nested_files import SEPARATOR
from rag_engine.parsers._archives.unpacking_limits import Exhausted, Unpacking
from rag_engine.parsers._ocr.ocr import PROGRAMS
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers.mail._mail.mime import message
from rag_engine.parsers.mail.eml import message_sections
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["PROGRAMS", "parse", "within"]

_BEGINNING: Final = re.compile(rb"(?:(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\r?\n(?=>?[!-9;-~]+:)")


def parse(path: Path) -> Iterator[Section]:
    """Anchored "message 3", attachments "message 3 › budget.xlsx › Budget!A2:D4"."""
    yield from within(path, Unpacking())


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as source:
        yield from joined(_messages(source, unpacking))


def _messages(source: mmap.mmap, unpacking: Unpacking) -> Iterator[Section]:
    start = number = unread = 0
    for end in (*(found.start() for found in _BEGINNING.finditer(source)), len(source)):
        number += 1
        anchor = f"message {number}"
        try:
            for section in message_sections(message(source, start, end), unpacking):
                inner = "" if section.anchor in {"", "message"} else f"{SEPARATOR}{section.anchor}"
                yield replace(section, anchor=f"{anchor}{inner}")
        except Exhausted:
            yield Section(
                text=f"What comes after message {number} was left out: it is too much.", kind="notice"
            )
            return
        except UserError:
            unread += 1
        start = end
    if unread:
        yield Section(text=f"{unread} of {number} messages could not be read.", kind="notice")
