from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST: Final = 100_000
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_LINE: Final = re.compile(r'([A-Za-z0-9.-]+)((?:;[^:;"]*(?:"[^"]*"[^:;"]*)*)*):(.*)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ContentLine:
    name: str
    parameters: str
    value: str


def content_lines(lines: Iterable[str]) -> Iterator[ContentLine]:
    for line in _unfolded(lines):
        found = _LINE.match(line)
        if found is None:
            continue
        name, parameters, value = found.groups()
        if "QUOTED-PRINTABLE" in parameters.upper():
            value = binascii.a2b_qp(value.encode("utf-8", "replace")).decode("utf-8", "replace")
        yield ContentLine(name.rpartition(".")[2].upper(), parameters.upper(), value)


def plain(value: str) -> str:
    return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], value).strip()


def _unfolded(lines: Iterable[str]) -> Iterator[str]:
    pieces: list[str] = []
    size = 0
    for line in lines:
        soft = _goes_on(pieces)
        if line.startswith((" ", "\t")) or soft:
            if size < _LONGEST:
                pieces[-1:] = [pieces[-1][:-1]] if soft else pieces[-1:]
                pieces.append(line if soft else line[1:])
                size += len(line)
            continue
        if pieces:
            yield "".join(pieces)
        pieces, size = [line], len(line)
    if pieces:
        yield "".join(pieces)


def _goes_on(pieces: list[str]) -> bool:
    if not pieces or not pieces[-1].endswith("="):
        return False
    return "QUOTED-PRINTABLE" in pieces[0].partition(":")[0].upper()
