from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass, field, replace
from typing import Final

from rag_engine.errors import (
    CorruptFile,
    EmptyDocument,
    EncryptedFile,
    FileTooLarge,
    UnsupportedFile,
    UserError,
)

if sys.platform != "win32":
    import resource

_DEEPEST: Final = 3
_MOST_MEMBERS: Final = 1_000
_MOST_BYTES: Final = 1 << 30
_LARGEST_MEMBER: Final = 60 << 20
_DENSE: Final = 16 << 20
_DENSEST: Final = 150
"""Compression ratio above `_DENSE` bytes; texts reach 5 to 20."""
_SHARE_OF_TIME: Final = 0.7
"""Of the process's CPU time; after it no file is started."""
_LONGEST_LIST: Final = 230


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def _end_of_time() -> float:
    if sys.platform == "win32":
        return math.inf
    limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
    used = _processor_seconds()
    return math.inf if limit == resource.RLIM_INFINITY else used + max(limit - used, 0) * _SHARE_OF_TIME


class Exhausted(FileTooLarge): ...


@dataclass(slots=True)
class _Spent:
    members: int = 0
    size: int = 0
    until: float = field(default_factory=_end_of_time)


@dataclass(frozen=True, slots=True)
class Unpacking:
    depth: int = 0
    spent: _Spent = field(default_factory=_Spent)

    def deeper(self) -> Unpacking:
        return replace(self, depth=self.depth + 1)

    def begin(self) -> None:
        """Raises `FileTooLarge` if nested too deep, else `Exhausted`."""
        if self.depth >= _DEEPEST:
            raise FileTooLarge("It is packed too deeply.")
        self.spent.members += 1
        if self.spent.members > _MOST_MEMBERS or _processor_seconds() > self.spent.until:
            raise Exhausted

    def count(self, written: int, size: int, packed: int) -> None:
        """`size`: so far; raises `FileTooLarge` for bombs."""
        self.spent.size += written
        if self.spent.size > _MOST_BYTES:
            raise Exhausted
        dense = size > _DENSE and 0 < packed * _DENSEST < size
        if size > _LARGEST_MEMBER or dense:
            raise FileTooLarge("It unpacks to more than can be read.")


def left_out_sentence(errors: dict[str, Exception], found: int) -> str:
    last = next((name for name, error in errors.items() if isinstance(error, Exhausted)), None)
    failed = [(name, error) for name, error in errors.items() if name != last]
    rest = f"It holds more than is read at once: {last} and what comes after it was left out." if last else ""
    if not failed:
        return rest
    files = "1 file" if found == 1 else f"{found} files"
    verdict = (
        f"None of the {files} in it could be read"
        if len(failed) == found > 1
        else f"{len(failed)} of {files} in it could not be read"
    )
    return f"{verdict}{_name_list(failed, _LONGEST_LIST - len(verdict) - len(rest))}. {rest}".rstrip()


def _name_list(failed: list[tuple[str, Exception]], room: int) -> str:
    named: list[str] = []
    for name, error in failed:
        text = f"{name} ({_reason(error)})"
        room -= len(text) + 2
        if room < 0:
            break
        named.append(text)
    more = f" and {len(failed) - len(named)} more" if len(named) < len(failed) else ""
    return f": {', '.join(named)}{more}" if named else ""


def failure(errors: dict[str, Exception], found: int) -> UserError:
    if not found:
        return EmptyDocument("There are no files in it, so there is nothing to search.")
    if not errors:
        return UnsupportedFile("There is no text in any file in it, so there is nothing to search.")
    kinds = {type(error) for error in errors.values()}
    kind = kinds.pop() if len(kinds) == 1 else UnsupportedFile
    sentence = left_out_sentence(errors, found)
    if kind is EncryptedFile:
        return EncryptedFile(f"{sentence.removesuffix('.')}; pack them without a password and add it again.")
    return (kind if issubclass(kind, UserError) else CorruptFile)(sentence)


def _reason(error: Exception) -> str:
    match error:
        case EncryptedFile():
            return "protected by a password"
        case FileTooLarge() | MemoryError() | RecursionError():
            return "too large"
        case UserError() if not isinstance(error, CorruptFile):
            return "of a kind that is not read"
        case _:
            return "damaged"
