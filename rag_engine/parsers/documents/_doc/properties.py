"""Word's property lists (MS-DOC sprm), reduced to those that affect the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIZES: Final = (1, 1, 2, 4, 2, 2, 0, 3)
_VANISHED: Final = 0x083C
_DELETED: Final = 0x0800
_IN_TABLE: Final = 0x2416
_ROW_END: Final = 0x2417
_TABLE_DEPTH: Final = 0x6649
_LIST: Final = 0x460B
_LIST_LEVEL: Final = 0x260A
_OUTLINE: Final = 0x2640
_TABLE_DEFINITION: Final = 0xD608
_NO_OUTLINE: Final = 9
_DEEPEST_LIST: Final = 8


@dataclass(frozen=True, slots=True)
class Properties:
    style: int = 0
    outline: int | None = None
    listed: bool = False
    level: int = 0
    in_table: bool = False
    row_end: bool = False


def paragraph_properties(run: bytes) -> Properties:
    if len(run) < 2:
        return Properties()
    values = dict(_operands(run[2:]))
    outline = values.get(_OUTLINE)
    return Properties(
        style=int.from_bytes(run[:2], "little"),
        outline=outline[0] if outline and outline[0] <= _NO_OUTLINE else None,
        listed=any(values.get(_LIST, b"")),
        level=min(int.from_bytes(values.get(_LIST_LEVEL, b""), "little"), _DEEPEST_LIST),
        in_table=any(values.get(_IN_TABLE, b"")) or any(values.get(_TABLE_DEPTH, b"")),
        row_end=any(values.get(_ROW_END, b"")),
    )


def text_is_unseen(run: bytes) -> bool:
    return any(code in {_VANISHED, _DELETED} and operand[:1] == b"\1" for code, operand in _operands(run))


def _operands(run: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 2 < len(run):
        code = int.from_bytes(run[at : at + 2], "little")
        at += 2
        size = _SIZES[code >> 13]
        if code == _TABLE_DEFINITION:
            size = int.from_bytes(run[at : at + 2], "little") - 1
            at += 2
        elif not size:
            size = run[at]
            at += 1
        yield code, run[at : at + max(size, 0)]
        at += max(size, 0)
