from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Reason: TypeAlias = Literal["missing", "faint", "slow", "exhausted", "large", "failed", "many", "damaged"]

MISSING: Final = (
    "text recognition (OCR) is not installed on this server; the operator can install Tesseract "
    "(`footnote doctor` says how) and add the file again"
)
_REASONS: Final[Mapping[Reason, tuple[str, str]]] = {
    "missing": (
        f"it is a picture, such as a scan, and {MISSING}",
        f"they are pictures, such as scans, and {MISSING}",
    ),
    "faint": ("its letters cannot be made out", "their letters cannot be made out"),
    "slow": ("recognising its text took too long", "recognising their text took too long"),
    "exhausted": (
        "recognising the pages before it took all the time that one file may take",
        "recognising the pages before them took all the time that one file may take",
    ),
    "large": ("its picture is too large", "their pictures are too large"),
    "many": (
        "of so many pictures in one file the last is not read",
        "of so many pictures in one file the last are not read",
    ),
    "failed": ("its text could not be recognised", "their text could not be recognised"),
    "damaged": ("it is damaged", "they are damaged"),
}
_MOST_NAMED: Final = 10


def notices(unread: Mapping[Reason, Sequence[int]], pages: int) -> Iterator[Section]:
    for reason, numbers in unread.items():
        if numbers:
            yield Section(text=sentence(reason, numbers, pages), anchor=f"p. {numbers[0]}", kind="notice")


def no_text(unread: Mapping[Reason, Sequence[int]], pages: int, *, otherwise: str) -> str:
    return (
        " ".join(sentence(reason, numbers, pages) for reason, numbers in unread.items() if numbers)
        or otherwise
    )


def sentence(reason: Reason, numbers: Sequence[int], pages: int) -> str:
    one, several = _REASONS[reason]
    if len(numbers) == pages == 1:
        return f"The page could not be read: {one}."
    if len(numbers) == pages:
        return f"None of the {pages} pages could be read: {several}."
    counted = f"{len(numbers)} of {pages} pages could not be read ({page_list(numbers)})"
    return f"{counted}: {one if len(numbers) == 1 else several}."


def page_list(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    shown = ", ".join(f"p. {'–'.join(map(str, run))}" for run in runs[:_MOST_NAMED])
    rest = sum(run[-1] - run[0] + 1 for run in runs[_MOST_NAMED:])
    return f"{shown} and {rest} more" if rest else shown
