"""Tracebacks for the log, without users' text, which messages of libraries may quote."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Final, cast

from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF_THE_INTERPRETER: Final = frozenset(
    {
        AttributeError,
        ImportError,
        IndexError,
        MemoryError,
        ModuleNotFoundError,
        NameError,
        RecursionError,
        TypeError,
        UnboundLocalError,
        ZeroDivisionError,
    }
)
"""The interpreter's messages contain only names and types of code."""
_NUMBERS: Final = ("status", "status_code", "code")
"""Attributes with a server's status."""
_FRAMES: Final = -30


def loggable_text(error: BaseException, *, harmless: tuple[type[BaseException], ...] = ()) -> str:
    """Our own sentence (or that of `harmless` kinds), else kind and numbers."""
    if _is_harmless(error, harmless):
        return str(error) or type(error).__name__
    return " ".join([type(error).__qualname__, *_facts(error)])


def formatted(
    error: BaseException,
    *,
    harmless: tuple[type[BaseException], ...] = (),
    frames: int = _FRAMES,
) -> str:
    """`frames` is as in `traceback`."""
    return "".join(_lines(error, harmless, frames, seen=set())).rstrip("\n")


def _lines(
    error: BaseException, harmless: tuple[type[BaseException], ...], frames: int, seen: set[int]
) -> Iterator[str]:
    seen.add(id(error))
    before, why = error.__cause__, "The above exception was the direct cause of the following exception:"
    if before is None and not error.__suppress_context__:
        before, why = (
            error.__context__,
            "During handling of the above exception, another exception occurred:",
        )
    if before is not None and id(before) not in seen:
        yield from _lines(before, harmless, frames, seen)
        yield f"\n{why}\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__, frames)
    kind = type(error).__qualname__
    text = loggable_text(error, harmless=harmless)
    yield f"{text}\n" if text.startswith(kind) else f"{kind}: {text}\n"
    if isinstance(error, BaseExceptionGroup):
        for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            if id(one) not in seen:
                yield from _lines(one, harmless, frames, seen)


def _is_harmless(error: BaseException, harmless: tuple[type[BaseException], ...]) -> bool:
    return isinstance(error, harmless) or (isinstance(error, RagError) and not isinstance(error, UserError))


def _facts(error: BaseException) -> Iterator[str]:
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        yield f"[Errno {error.errno}] {error.strerror}"
    if type(error) in _OF_THE_INTERPRETER and not _was_raised_by_code(error):
        yield f"({error})"
    name = getattr(error, "sqlite_errorname", None)
    if isinstance(name, str):
        yield name
    numbers = (getattr(error, name, None) for name in _NUMBERS)
    yield from sorted({str(number) for number in numbers if type(number) is int})


def _was_raised_by_code(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__, -1)
    return not frames or (frames[0].line or "raise").lstrip().startswith("raise")
