"""Decisions are never revised. A marker precedes the final punctuation of what it supports, so punctuation waits for
the next character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import DocumentId, Hit

CitedPlace: TypeAlias = "tuple[DocumentId, str]"
MOST_MARKERS: Final = 4
_LONGEST_HELD: Final = 16
_CONTEXT: Final = 32
_CLOSERS: Final = 8
_BOUNDARY: Final = re.compile(r"[.?!…\n\r\f\v\x85\u2028\u2029．。？！；｡।॥۔؟።‽]")
_NO_SPACE_AFTER: Final = frozenset("([{（［【「『“‘«‹„|")
_NO_SPACE_BEFORE: Final = frozenset(",;:)]}，、；：）」』")
_EMPHASIS_OPENED: Final = re.compile(r"(?:\A|[\s(\[|])[*_~]{1,3}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Its place includes the space before it."""

    start: int
    end: int
    number: int
    passages: tuple[int, ...]
    """Of the prompt, from 0."""


@dataclass(slots=True)
class Counts:
    invalid: int = 0
    dropped: int = 0
    repeated: int = 0


def cited_places(passages: Sequence[Hit]) -> list[CitedPlace]:
    return [(hit.chunk.document, hit.chunk.anchor) for hit in passages]


class CitationNumbering:
    def __init__(self, places: Sequence[CitedPlace]) -> None:
        self._places = places
        self._numbers: dict[CitedPlace, int] = {}

    def peek(self, passage: int) -> int:
        return self._numbers.get(self._places[passage], len(self._numbers) + 1)

    def take(self, passage: int) -> int:
        return self._numbers.setdefault(self._places[passage], len(self._numbers) + 1)


class MarkerPlacement:
    def __init__(self, places: Sequence[CitedPlace]) -> None:
        self.marks: list[Mark] = []
        self.counts = Counts()
        self.length = 0
        self._passages = len(places)
        self._numbering = CitationNumbering(places)
        self._shown: list[str] = []
        self._last = ""
        self._before = ""
        self._stop = ""
        self._between = ""
        self._waiting: list[int] | None = None
        self._behind = ""
        self._is_joint = False
        self._loose: Literal["", "space", "stop"] = ""
        """A run became too long: everything is shown until text comes."""
        self._is_marked = False
        self._since: list[str] = []
        self._context = 0
        self._sentence: dict[int, int] = {}

    def taken(self) -> str:
        shown = "".join(self._shown)
        self._shown.clear()
        return shown

    @property
    def in_stop(self) -> bool:
        """Closing quotes and brackets then belong to it."""
        is_held = self._stop and not (self._is_joint or self._between or self._waiting is not None)
        return self._loose == "stop" or bool(is_held)

    @property
    def is_marked(self) -> bool:
        return self._is_marked and not self._stop

    def text(self, text: str) -> None:
        if self._stop or self._waiting is not None:
            self._settle(text[0])
        elif self._before:
            text = self._before + text
            self._before = ""
        self._loose, self._is_marked = "", False
        self._show(text)

    def verbatim(self, text: str) -> None:
        self._settle(text[0])
        self._loose, self._is_marked = "", False
        self._show(text)

    def space(self, space: str) -> None:
        if self._loose:
            self._show(space)
            return
        held = self._before if not self._stop else self._between
        room = _LONGEST_HELD - len(self._behind if self._waiting is not None else held)
        now, rest = space[:room], space[room:]
        if self._waiting is not None:
            self._behind += now
        elif self._stop:
            self._between += now
        else:
            self._before += now
        if rest:
            self._settle("\n")
            self._loose = "space"
            self._show(rest)

    def stop(self, stop: str) -> None:
        if self._loose:
            self._show(stop)
            return
        if self._waiting is not None and self._stop and not self._is_joint:
            stop = self._stop_again(stop)
        elif self._waiting is not None or self._is_joint:
            self._before = self._stop = self._between = self._behind = ""
            self._waiting, self._is_joint = None, False
        elif self._between:
            self._show(self._before + self._stop)
            self._before, self._between, self._stop = self._between, "", ""
        if self._is_marked and not self._stop and "\n" not in self._before and stop[:1] in ".。":
            self._before = ""
        room = _LONGEST_HELD - len(self._stop)
        self._stop += stop[:room]
        if stop[room:]:
            self._settle("\n")
            self._loose = "stop"
            self._show(stop[room:])

    def joint(self, joint: str) -> None:
        self._before = self._behind = ""
        self._waiting, self._stop, self._is_joint = None, joint, True

    def nothing(self) -> None:
        if self._waiting:
            return
        if self._stop:
            self._between = self._merged(self._between, self._behind)
        else:
            self._before = self._merged(self._before, self._behind)
        self._waiting, self._behind = [], ""

    def part(self) -> None:
        self._settle("")
        self._loose = ""
        self.nothing()
        self._before = "\n\n" if self.length else ""

    def marker(self, numbers: Sequence[int]) -> None:
        valid = [number - 1 for number in numbers if 0 < number <= self._passages]
        self.counts.invalid += len(numbers) - len(valid)
        self._loose = ""
        if self._stop and not self._is_joint:
            self._wait(valid)
        elif not self._place(valid):
            self.nothing()

    def close(self) -> None:
        self._settle("")

    def _wait(self, valid: list[int]) -> None:
        if self._waiting and "\n" in self._behind:
            behind, self._behind = self._behind, ""
            self._settle("\n")
            self._before = behind
            if not self._place(valid):
                self.nothing()
            return
        self.nothing()
        waiting = self._waiting or []
        self._waiting = waiting + [passage for passage in valid if passage not in waiting]
        self._behind = ""

    def _place(self, valid: list[int]) -> bool:
        gap = self._merged(self._before, self._behind) if not self._is_joint else ""
        is_new_line = "\n" in gap
        accepted = self._accepted(valid, probe=f"{gap}X" if is_new_line else "")
        if not accepted:
            return False
        if is_new_line:
            self._show(gap)
        self._before = self._stop = self._between = self._behind = ""
        self._waiting, self._is_joint = None, False
        self._insert(accepted, is_apart=bool(gap))
        return True

    def _settle(self, following: str) -> None:
        waiting, self._waiting = self._waiting, None
        before, stop, between, behind = self._before, self._stop, self._between, self._behind
        is_joint, self._is_joint = self._is_joint, False
        self._before = self._stop = self._between = self._behind = ""
        gap = self._merged(between if stop else before, behind) if following else ""
        if not waiting:
            if waiting is not None and following in _NO_SPACE_BEFORE:
                gap = ""
            self._show(f"{before}{stop}{gap}" if stop else gap)
            return
        ends_line = following in {"", "\n"} or "\n" in behind
        goes_on = following.islower() if "\n" not in between else True
        if is_joint or (goes_on and not ends_line):
            self._leave(waiting, f"{before}{stop}", between, behind if following else "", following)
        else:
            self._insert(self._accepted(waiting), is_apart=True)
            self._show(f"{before}{stop}{gap}")

    def _leave(self, waiting: list[int], stop: str, between: str, behind: str, following: str) -> None:
        self._show(stop)
        accepted = self._accepted(waiting, probe=between + (following if following.islower() else "X"))
        if accepted:
            self._show(between)
            self._is_marked = False
            self._insert(accepted, is_apart=not between)
            self._show(behind)
        else:
            self._show(self._merged(between, behind))

    def _stop_again(self, stop: str) -> str:
        if self._behind:
            self._settle(stop[0])
            return stop
        waiting, self._waiting = self._waiting or [], None
        kept, self._stop, self._between = self._stop, "", ""
        self._insert(self._accepted(waiting), is_apart=True)
        self._stop = kept
        return stop[1:] if stop[0] in kept or stop[0] in ".。" else stop

    @staticmethod
    def _merged(before: str, behind: str) -> str:
        if "\n" in behind:
            return behind
        return before if "\n" in before else behind or before

    def _accepted(self, passages: list[int], *, probe: str = "") -> dict[int, list[int]]:
        accepted: dict[int, list[int]] = {}
        if not passages:
            return accepted
        if self._is_new_sentence(probe):
            self._sentence.clear()
        for passage in dict.fromkeys(passages):
            number = self._numbering.peek(passage)
            if number in accepted:
                accepted[number].append(passage)
                self.counts.repeated += 1
            elif number in self._sentence:
                self._add_to(self._sentence[number], passage)
            elif len(self._sentence) + len(accepted) >= MOST_MARKERS:
                self.counts.dropped += 1
            else:
                accepted[self._numbering.take(passage)] = [passage]
        return accepted

    def _add_to(self, index: int, passage: int) -> None:
        mark = self.marks[index]
        self.counts.repeated += 1
        if passage not in mark.passages:
            self.marks[index] = replace(mark, passages=(*mark.passages, passage))

    def _is_new_sentence(self, probe: str) -> bool:
        since, context = "".join(self._since), self._context
        self._since = [since[-_CONTEXT:]]
        self._context = len(self._since[0])
        if not _BOUNDARY.search(since + probe, max(0, context - _CLOSERS)):
            return False
        probed = f"{since}{probe or 'X'}"
        *_, last = split_sentences(probed)
        return len(probed) - len(last) > context

    def _insert(self, accepted: dict[int, list[int]], *, is_apart: bool) -> None:
        if not accepted:
            return
        for number, passages in accepted.items():
            lead = "" if self._is_marked else self._lead(is_apart=is_apart)
            start = self.length
            self._show(f"{lead}[{number}]")
            self._sentence[number] = len(self.marks)
            self.marks.append(Mark(start=start, end=self.length, number=number, passages=tuple(passages)))
            self._is_marked = True
        self._context += sum(map(len, self._since[1:]))

    def _lead(self, *, is_apart: bool) -> str:
        if not self._last or self._last[-1].isspace() or self._last[-1] in _NO_SPACE_AFTER:
            return ""
        return " " if is_apart or not _EMPHASIS_OPENED.search(self._last) else ""

    def _show(self, text: str) -> None:
        if not self.length:
            text = text.lstrip()
        if text:
            self.length += len(text)
            self._shown.append(text)
            self._since.append(text)
            self._last = (self._last + text[-5:])[-5:]
