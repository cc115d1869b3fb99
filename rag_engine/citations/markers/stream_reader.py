"""A reader says whether it advanced; if not, it needs more of the stream."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.citations.markers.grammar import OPENERS, is_begun, read_token
from rag_engine.citations.markers.reasoning_prefix import LONGEST_REASONING_END, REASONING_END
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_engine.citations.markers.grammar import MarkerToken
    from rag_engine.citations.markers.placement import MarkerPlacement

_STOPS: Final = ".?!…．。？！；｡।॥۔؟።‽"
_SPECIAL: Final = re.escape("".join(sign for sign in OPENERS if sign not in "rR")) + r"`\]:" + _STOPS
_PLAIN: Final = lazy(
    lambda: re.compile(
        rf"(?:[^{_SPECIAL}rR]|(?<=\w)[rR]|[rR](?=[^eE])|[rR][eE](?=[^fF])|[rR][eE][fF](?=[^.\s\d]))+"
    )
)
_STOP_RUN: Final = lazy(lambda: re.compile(rf"[{_STOPS}]+"))
_CLOSING: Final = frozenset("\"'”’»›)]}）】』」》〉*_~")
_JOINTS: Final = frozenset(",;、，")
_LONGEST_RUN: Final = 16
_SHORTEST_FENCE: Final = 3
_BACKTICKS: Final = lazy(lambda: re.compile(r"`{1,16}"))
_TILDES: Final = lazy(lambda: re.compile(r"~{1,16}"))
_CODE: Final = lazy(lambda: re.compile(r"[^`\n]+"))
_LONGEST_FENCE_LINE: Final = 120
_OPENING_LINE: Final = "opening"
_LINE_START: Final = lazy(
    lambda: re.compile(r"(?:\A|[\n\r])[ \t>]{0,12}(?:(?:[-*+]|\d{1,3}[.)])[ \t]{1,4})?\Z")
)
_FENCE_END: Final = lazy(lambda: re.compile(r"[ \t>]{0,12}(`{3,}|~{3,})[ \t]*\r?\Z"))
_HOST: Final = lazy(lambda: re.compile(r"(?<!\w)www\Z", re.IGNORECASE))
_SCHEME: Final = lazy(lambda: re.compile(r"[A-Za-z][A-Za-z\d+.-]{1,15}\Z"))
_URL: Final = lazy(lambda: re.compile(r"[^\s<>\"`.?!\[\]()\u2026\u2e80-\U0010ffff]+"))
_URL_ENDS: Final = lazy(lambda: re.compile(r"[.,;:!?)]{0,2}(?:\s|\Z)"))
_URL_SIGHT: Final = 3
_TARGET: Final = lazy(lambda: re.compile(r"[^\s()]+"))
_KEPT: Final = 64


class StreamReader:
    def __init__(self, placement: MarkerPlacement) -> None:
        self.thoughts: list[str] = []
        self.reasoning_shown = 0
        self._placement = placement
        self._source = ""
        self._at = 0
        self._closed = False
        self._read: Callable[[], bool] = self._read_plain
        self._fence = ""
        self._line = ""
        self._backticks = 0
        self._depth = 0
        self._wrapped: list[int] = []
        self._wraps_text = False

    def feed(self, text: str) -> None:
        self._source += text
        while self._at < len(self._source) and self._read():
            pass
        if self._at > 8 * _KEPT:
            self._source = self._source[self._at - _KEPT :]
            self._at = _KEPT

    def close(self) -> None:
        self._closed = True
        self.feed("")
        self._end_wrapping()
        self._placement.close()

    def _read_plain(self) -> bool:
        plain = _PLAIN.match(self._source, self._at)
        if plain:
            self._put(plain[0])
            self._at = plain.end()
            return True
        sign = self._source[self._at]
        if sign in _STOPS:
            return self._read_stop()
        if sign == "`":
            return self._read_backticks()
        if sign == "]" or sign == ":":
            return self._read_link(sign)
        if sign == "~" and self._is_at_line_start():
            return self._read_tildes()
        return self._read_marker()

    def _put(self, text: str) -> None:
        if self._wrapped and "\n" in text:
            line, _, text = text.partition("\n")
            self._put_line(line)
            self._end_wrapping()
            text = f"\n{text}"
        self._put_line(text)

    def _put_line(self, text: str) -> None:
        placement = self._placement
        body = text.strip()
        if not body:
            if text:
                placement.space(text)
            return
        start = 0 if len(body) == len(text) else len(text) - len(text.lstrip())
        if start:
            placement.space(text[:start])
        if placement.in_stop and body[0] in _CLOSING:
            placement.stop(body[0])
            self._put_line(text[start + 1 :])
            return
        if placement.is_marked and body[0] in _JOINTS:
            placement.joint(body[0])
            self._put_line(text[start + 1 :])
            return
        self._wraps_text = True
        placement.text(body)
        end = start + len(body)
        if end < len(text):
            placement.space(text[end:])

    def _sign(self) -> bool:
        sign = self._source[self._at]
        if sign in _CLOSING and self._placement.in_stop:
            self._placement.stop(sign)
        else:
            self._wraps_text = True
            self._placement.text(sign)
        self._at += 1
        return True

    def _read_stop(self) -> bool:
        run = _STOP_RUN.match(self._source, self._at)
        if run is None:
            return self._sign()
        if self._wrapped and not self._wraps_text:
            self._end_wrapping()
        is_host = run[0][0] == "." and _HOST.search(self._source[max(0, self._at - 4) : self._at]) is not None
        stop = "." if is_host else run[0]
        self._placement.stop(stop)
        self._at += len(stop)
        if is_host:
            self._depth, self._read = 0, self._read_url
        return True

    def _read_marker(self) -> bool:
        found = read_token(self._source, self._at, closed=self._closed)
        if found is None:
            return False
        if found == "text":
            if self._closed and is_begun(self._source[self._at :]):
                self._placement.counts.invalid += 1
                self._placement.nothing()
                self._at = len(self._source)
                return True
            return self._sign()
        self._at = found.end
        self._take(found)
        return True

    def _take(self, found: MarkerToken) -> None:
        placement = self._placement
        match found.kind:
            case "marker":
                self._end_wrapping()
                placement.marker(found.numbers)
            case "cited_tag":
                self._end_wrapping()
                self._wrapped, self._wraps_text = list(found.numbers), False
                placement.nothing()
            case "cited_tag_end" if self._wrapped:
                self._end_wrapping()
            case "reasoning":
                placement.nothing()
                self._read = self._read_reasoning
            case "reasoning_end":
                placement.part()
                self.reasoning_shown = placement.length
            case _:
                placement.nothing()

    def _end_wrapping(self) -> None:
        if self._wrapped:
            numbers, self._wrapped = self._wrapped, []
            self._placement.marker(numbers)

    def _read_reasoning(self) -> bool:
        end = REASONING_END.search(self._source, self._at)
        stop = end.start() if end else max(self._at, len(self._source) - LONGEST_REASONING_END)
        self.thoughts.append(self._source[self._at : stop])
        self._at = end.end() if end else stop
        if end:
            self._read = self._read_plain
        return end is not None

    def _is_at_line_start(self) -> bool:
        return _LINE_START.search(self._source[max(0, self._at - 32) : self._at]) is not None

    def _run(self, pattern: re.Pattern[str]) -> str:
        run = pattern.match(self._source, self._at)
        if run is None or (
            run.end() == len(self._source) and len(run[0]) < _LONGEST_RUN and not self._closed
        ):
            return ""
        return run[0]

    def _read_backticks(self) -> bool:
        run = self._run(_BACKTICKS)
        if not run:
            return False
        before, after = (
            self._source[max(0, self._at - 1) : self._at],
            self._source[self._at + 1 : self._at + 2],
        )
        if run == "`" and before.isalnum() and after.isalnum():
            return self._sign()
        self._fence = run if len(run) > 2 and self._is_at_line_start() else ""
        self._backticks = len(run)
        self._pass(run, self._read_code)
        return True

    def _read_code(self) -> bool:
        sign = self._source[self._at]
        if sign == "`":
            run = self._run(_BACKTICKS)
            if run:
                self._fence = ""
                self._pass(run, self._read_plain if len(run) == self._backticks else self._read_code)
            return bool(run)
        if sign == "\n":
            self._read, self._line = self._read_fence if self._fence else self._read_plain, _OPENING_LINE
            return True
        code = _CODE.match(self._source, self._at)
        self._pass(code[0] if code else sign, self._read_code)
        return True

    def _read_tildes(self) -> bool:
        run = self._run(_TILDES)
        if not run:
            return False
        if len(run) < _SHORTEST_FENCE:
            return self._read_marker()
        self._fence, self._line = run, _OPENING_LINE
        self._pass(run, self._read_fence)
        return True

    def _read_fence(self) -> bool:
        end = self._source.find("\n", self._at)
        line = self._source[self._at : end if end >= 0 else len(self._source)]
        if line:
            self._line = (self._line + line)[:_LONGEST_FENCE_LINE]
            self._pass(line, self._read_fence)
        if end >= 0:
            closing = _FENCE_END.match(self._line)
            if closing and closing[1].startswith(self._fence):
                self._read = self._read_plain
            else:
                self._pass("\n", self._read_fence)
            self._line = ""
        return True

    def _pass(self, code: str, reader: Callable[[], bool]) -> None:
        self._placement.verbatim(code)
        self._at += len(code)
        self._read = reader

    def _read_link(self, sign: str) -> bool:
        joint = "](" if sign == "]" else "://"
        found = self._source[self._at : self._at + len(joint)]
        if sign == ":" and not _SCHEME.search(self._source[max(0, self._at - 16) : self._at]):
            return self._sign()
        if found != joint:
            return self._sign() if self._closed or not joint.startswith(found) else False
        self._placement.text(joint)
        self._at += len(joint)
        self._depth = 0
        self._read = self._read_target if sign == "]" else self._read_url
        return True

    def _read_target(self) -> bool:
        target = _TARGET.match(self._source, self._at)
        sign = target[0] if target else self._source[self._at]
        if sign.isspace():
            self._read = self._read_plain
            return True
        if sign == "(":
            self._depth += 1
        elif sign == ")":
            self._depth -= 1
            if self._depth < 0:
                self._read = self._read_plain
        self._placement.text(sign)
        self._at += len(sign)
        return True

    def _read_url(self) -> bool:
        part = _URL.match(self._source, self._at)
        sign = part[0] if part else self._source[self._at]
        if sign in ".?!":
            self._placement.stop(sign)
            self._at += 1
            return True
        if sign == "[":
            is_marker = self._is_marker_behind_url()
            if is_marker is None:
                return False
            self._depth += 1
        elif sign in "])":
            self._depth -= 1
            is_marker = self._depth < 0
        else:
            is_marker = part is None and sign != "("
            self._depth += sign == "("
        if is_marker:
            self._read = self._read_plain
            return True
        self._placement.text(sign)
        self._at += len(sign)
        return True

    def _is_marker_behind_url(self) -> bool | None:
        if self._placement.in_stop:
            return True
        found = read_token(self._source, self._at, closed=self._closed)
        if found is None or found == "text":
            return None if found is None else False
        if len(self._source) - found.end < _URL_SIGHT and not self._closed:
            return None
        return _URL_ENDS.match(self._source, found.end) is not None
