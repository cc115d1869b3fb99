"""Pure: the content lines of iCalendar and vCard: unfolded, taken apart, their escapes undone."""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST: Final = 100_000
"""Characters of one value: photographs are longer."""
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_LINE: Final = re.compile(r'([A-Za-z0-9.-]+)((?:;[^:;"]*(?:"[^"]*"[^:;"]*)*)*):(.*)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ContentLine:
    """One property: its name in upper case without a group, its parameters as written, and its value as text."""

    name: str
    parameters: str
    value: str


def content_lines(lines: Iterable[str]) -> Iterator[ContentLine]:
    """The properties in order; what is none is passed over."""
    for line in _unfolded(lines):
        found = _LINE.match(line)
        if found is None:
            continue
        name, parameters, value = found.groups()
        if "QUOTED-PRINTABLE" in parameters.upper():
            value = binascii.a2b_qp(value.encode("utf-8", "replace")).decode("utf-8", "replace")
        yield ContentLine(name.rpartition(".")[2].upper(), parameters.upper(), value)


def plain(value: str) -> str:
    """A value's text without its escapes."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], value).strip()


def _unfolded(lines: Iterable[str]) -> Iterator[str]:
    pending = ""
    for line in lines:
        soft = pending.endswith("=") and "QUOTED-PRINTABLE" in pending.partition(":")[0].upper()
        if line.startswith((" ", "\t")) or soft:
            pending = (pending[:-1] + line if soft else pending + line[1:])[:_LONGEST]
            continue
        if pending:
            yield pending
        pending = line
    if pending:
        yield pending
