"""Tracebacks and errors for the log: where it happened and what kind of error it was, and nothing that anybody wrote.

Libraries put what they were given into the messages of their errors: `int()` quotes the word that is no number, a client repeats the
body of the answer, a validator shows its input. Our own lines of code, which a traceback shows, hold no text.
"""

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
"""Errors whose messages tell of names and types in code, as long as the interpreter raises them."""
_NUMBERS: Final = ("status", "status_code", "code")
"""Where libraries keep what a server answered."""
_FRAMES: Final = -30
"""The innermost are shown: what calls for ever must not fill the log."""


def told(error: BaseException, *, harmless: tuple[type[BaseException], ...] = ()) -> str:
    """What may be logged of an error: our own sentence (also that of the `harmless` kinds), else its kind and its numbers."""
    if _is_harmless(error, harmless):
        return str(error) or type(error).__name__
    return " ".join([type(error).__qualname__, *_facts(error)])


def formatted(
    error: BaseException,
    *,
    harmless: tuple[type[BaseException], ...] = (),
    frames: int = _FRAMES,
) -> str:
    """The traceback, with the errors it came from, as Python shows it; of each error what `told` says. `frames` is as in `traceback`."""
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
    said = told(error, harmless=harmless)
    yield f"{said}\n" if said.startswith(kind) else f"{kind}: {said}\n"
    if isinstance(error, BaseExceptionGroup):
        for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            if id(one) not in seen:
                yield from _lines(one, harmless, frames, seen)


def _is_harmless(error: BaseException, harmless: tuple[type[BaseException], ...]) -> bool:
    # What a person can mend may name their file.
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
    """Whether a `raise` somewhere chose the words."""
    frames = traceback.extract_tb(error.__traceback__, -1)
    return not frames or (frames[0].line or "raise").lstrip().startswith("raise")
