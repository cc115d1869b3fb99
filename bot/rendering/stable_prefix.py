from __future__ import annotations

from typing import TYPE_CHECKING, Final

import regex

from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.rendering.markdown.blocks import SourceLine

_ONLY_MARKS: Final = lazy(lambda: regex.compile(r"[\s>*+\-#_=~`|:.\d)\[\]xX\\]*"))
_FENCE: Final = lazy(lambda: regex.compile(r"[\s>*+\-\d.)]*(?:`{3,}|~{3,})"))
_END_OF_CODE: Final = lazy(lambda: regex.compile(r"[\s>`~]*"))
_DELIMITER: Final = lazy(lambda: regex.compile(r"[\s>|:\-]*"))


def decided(lines: Sequence[SourceLine]) -> tuple[int, bool]:
    last = lines[-1]
    if not _waits(last):
        return len(lines), True
    count = len(lines) - 1
    before = lines[count - 1] if count else None
    header = before is not None and before.kind in ("prose", "header") and before.content.startswith("|")
    if header and (last.kind == "delimiter" or _DELIMITER.fullmatch(last.written)):
        count -= 1
    return count, False


def _waits(line: SourceLine) -> bool:
    match line.kind:
        case "code" | "close":
            return _END_OF_CODE.fullmatch(line.written) is not None
        case "prose":
            return (
                line.content.startswith("|")
                or _ONLY_MARKS.fullmatch(line.written) is not None
                or _FENCE.match(line.written) is not None
            )
        case _:
            return True
