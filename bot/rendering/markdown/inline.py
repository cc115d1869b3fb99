"""Without pings, and with permitted links only. Code and links must end on their line: nothing depends on later lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import regex

from bot.rendering.safety import pings
from bot.rendering.safety.links import ADDRESS, core, counts, destination, in_parentheses, key, misleads
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from bot.rendering.dialect import Dialect
    from bot.rendering.safety.links import Links

_LONGEST_LABEL: Final = 400
_LONGEST_TARGET: Final = 2_500
_LONGEST_CODE: Final = 400
_LONGEST_LINK: Final = 500
"""A cut would make longer links misread."""
_CODE_PIECE: Final = 100
_MARKUP: Final = (
    r"(?P<escape>\\(?![<@&])[!-/:-@\[-`{-~])"
    r"|(?P<code>`+)"
    rf"|(?P<ping>(?:{pings.PING}))"
    r"|(?P<bracket>!?\[)"
    r"|(?P<end>\](?=\())"
    r"|(?P<angle>\\?<)"
    r"|(?P<strong>(?:(?<!\w|_|\\)__(?=[^\s_])|(?<=[^\s_\\])__(?!\w|_)))"
    r"|(?P<bars>\|\|)"
)
_TOKENS: Final = lazy(lambda: regex.compile(rf"(?=[\\`@<&\uff20!\[\]_|])(?:{_MARKUP})", regex.VERSION1))
_TOKENS_AND_ADDRESSES: Final = lazy(
    lambda: regex.compile(rf"{_MARKUP}|(?P<address>{ADDRESS})", regex.VERSION1)
)
_MAYBE_ADDRESS: Final = lazy(lambda: re.compile(r"[^\s.]\.[^\s.]|[^\s:]:[^\s:]"))
"""Quick; every address has such a dot or colon."""
# Scripts without blanks have no words.
_UNDECIDED: Final = lazy(
    lambda: regex.compile(
        r"[\S--\p{Han}--\p{Hiragana}--\p{Katakana}--\p{Hangul}--\p{Thai}--\p{Lao}--\p{Khmer}--\p{Myanmar}--[、。，！？；：「」]]+$",
        regex.VERSION1,
    )
)
_TARGET: Final = lazy(
    lambda: regex.compile(
        r"\(\s*+(?P<to><[^<>\n]*+>|[^\s()<>]*+(?>(?:\([^\s()]*+\)[^\s()]*+)*))(?P<title>\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?\s*+\)",
        regex.VERSION1,
    )
)
_AUTOLINK: Final = lazy(
    lambda: regex.compile(r"<(?P<to>[A-Za-z][A-Za-z0-9+.\-]{0,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>")
)
_TAG: Final = lazy(
    lambda: regex.compile(
        r"<(?:(?P<blank>br\s*/?)|/?(?P<strong>b|strong)|/?(?P<emphasis>i|em)|/?(?P<strike>s|del|strike)"
        r"|/?(?P<none>u|ins|sup|sub|mark|small|big|span|div|p|center|details|summary))>",
        regex.IGNORECASE,
    )
)
_MARKS: Final = {"blank": " ", "strong": "**", "emphasis": "*", "strike": "~~", "none": ""}
_MARKER: Final = lazy(lambda: regex.compile(r"\[\d{1,4}\]"))
_FREE: Final = lazy(lambda: regex.compile(r"[\s.,;:!?)\]*_~'\"]|$"))


@dataclass(slots=True)
class RenderedText:
    text: str = ""
    whole: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


@dataclass(slots=True)
class _Line:
    text: str
    dialect: Dialect
    links: Links
    growing: bool
    label: bool = False
    pairs: dict[int, int] = field(default_factory=dict[int, int])
    pieces: list[str] = field(default_factory=list[str])
    length: int = 0
    whole: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def put(self, text: str, *, whole: bool = False) -> None:
        if not text:
            return
        if whole:
            self.whole.append((self.length, self.length + len(text)))
        self.pieces.append(text)
        self.length += len(text)


def inline(text: str, dialect: Dialect, links: Links, *, growing: bool = False) -> RenderedText:
    """While `growing`, only what more text cannot change."""
    if dialect.verbatim:
        return RenderedText(text=text)
    line = _Line(text=text, dialect=dialect, links=links, growing=growing)
    _write(line)
    return RenderedText(text="".join(line.pieces), whole=line.whole)


def code(text: str) -> str:
    longest = max((len(run) for run in regex.findall("`+", text)), default=0)
    marks = "`" * (longest + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{marks}{blank}{pings.without_pings(text)}{blank}{marks}"


def _put_code(line: _Line, text: str) -> None:
    for start in range(0, len(text), _CODE_PIECE):
        _apart(line)
        line.put(code(text[start : start + _CODE_PIECE]), whole=True)


def _write(line: _Line) -> None:
    text = line.text
    line.pairs = _pairs(text, growing=line.growing) if "[" in text else {}
    decided = _decided(text) if line.growing else len(text)
    position = 0
    tokens = _TOKENS_AND_ADDRESSES if _MAYBE_ADDRESS.search(text) else _TOKENS
    while (found := tokens.search(text, position)) is not None and found.start() < decided:
        line.put(text[position : found.start()])
        after = _token(line, found)
        if after < 0:
            return
        position = after
    line.put(text[position:decided])


def _decided(text: str) -> int:
    undecided = _UNDECIDED.search(text)
    return undecided.start() if undecided else len(text)


def _pairs(text: str, *, growing: bool) -> dict[int, int]:
    """Outside code and escapes, none far apart or undecided."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    skipped = 0
    for found in _BRACKETS.finditer(text):
        if found.start() < skipped:
            continue
        match found.group()[0]:
            case "[":
                opened.append(found.start())
            case "]" if opened:
                start = opened.pop()
                if found.start() - start <= _LONGEST_LABEL:
                    pairs[start] = found.start()
            case "`":
                end = _code_end(text, found.start(), len(found.group()))
                if growing and _undecided_code(text, found.start(), end):
                    break
                skipped = max(end, found.end())
            case _:
                pass
    return pairs


_BRACKETS: Final = lazy(lambda: regex.compile(r"\\.|`+|\[|\]"))


def _code_end(text: str, start: int, marks: int) -> int:
    fence = "`" * marks
    farthest = start + _LONGEST_CODE
    at = text.find(fence, start + marks, farthest)
    while at >= 0:
        end = at
        while end < len(text) and text[end] == "`":
            end += 1
        if end - at == marks:
            return end
        at = text.find(fence, end, farthest)
    return -1


def _undecided_code(text: str, start: int, end: int) -> bool:
    return end == len(text) or (end < 0 and len(text) <= start + _LONGEST_CODE)


def _token(line: _Line, found: regex.Match[str]) -> int:
    match found.lastgroup:
        case "code":
            return _code(line, found)
        case "ping":
            return _ping(line, found)
        case "bracket":
            return _bracket(line, found)
        case "angle":
            return _angle(line, found.end() - 1, escaped=found.group() != "<")
        case "address":
            return _address(line, found)
        case "end":
            line.put("]\\(")
            return found.end() + 1
        case "strong" if line.dialect.underscores_underline:
            line.put("**")
        case "bars" if line.dialect.bars_hide:
            line.put("\\|\\|")
        case _:
            line.put(found.group())
    return found.end()


def _code(line: _Line, found: regex.Match[str]) -> int:
    end = _code_end(line.text, found.start(), len(found.group()))
    if line.growing and _undecided_code(line.text, found.start(), end):
        return -1
    if end < 0:
        line.put("".join(f"\\{mark}" for mark in found.group()))
        return found.end()
    _apart(line)
    line.put(pings.without_pings(line.text[found.start() : end]), whole=True)
    return end


def _apart(line: _Line) -> None:
    if line.pieces and line.pieces[-1].endswith("`"):
        line.put(pings.BREAK)


def _ping(line: _Line, found: regex.Match[str]) -> int:
    mark = found.group()
    line.put(("&lt;" if mark == "<" and line.dialect.angles else mark) + pings.BREAK)
    return found.end()


def _angle(line: _Line, start: int, *, escaped: bool) -> int:
    rest = line.text[start:]
    if escaped:
        ping = pings.BREAK if pings.PATTERN.match(line.text, start) else ""
        line.put(("&lt;" if line.dialect.angles else "\\<") + ping)
        return start + 1
    if (found := _AUTOLINK.match(rest)) is not None:
        _show_address(line, found["to"], bare=False)
        return start + found.end()
    if (found := _TAG.match(rest)) is not None:
        line.put(_MARKS[found.lastgroup or "none"])
        return start + found.end()
    if line.growing and len(rest) < 60 and ">" not in rest:
        return -1
    line.put("&lt;" if line.dialect.angles and regex.match(r"<[\p{L}/!@#?&]", rest) else "<")
    return start + 1


def _bracket(line: _Line, found: regex.Match[str]) -> int:
    text, start = line.text, found.end() - 1
    end = line.pairs.get(start, -1)
    if end < 0:
        if line.growing and len(text) - start <= _LONGEST_LABEL:
            return -1
    elif end + 1 == len(text) and line.growing:
        return -1
    elif text[end + 1 : end + 2] == "(":
        target = _TARGET.match(text, end + 1, end + 1 + _LONGEST_TARGET)
        if target is not None:
            _link(line, text[start + 1 : end], target)
            return target.end()
        if line.growing and len(text) - end <= _LONGEST_TARGET:
            return -1
    elif text[end + 1 : end + 2] == ":" and not text[: found.start()].strip():
        line.put("\\[")
        return found.end()
    elif (marker := _MARKER.match(text, start)) is not None:
        line.put(text[found.start() : marker.end()], whole=True)
        return marker.end()
    line.put(found.group())
    return found.end()


def _link(line: _Line, label: str, target: regex.Match[str]) -> None:
    address = destination(target["to"])
    permitted = not line.label and _permitted(line, address) and not misleads(label, address)
    inner = _Line(
        text=label, dialect=line.dialect, links=line.links, growing=False, label=line.label or permitted
    )
    _write(inner)
    shown = "".join(inner.pieces)
    named = bool(shown.strip()) and not ("://" in label and key(label.strip()) == key(address))
    if not permitted and address and not named:
        inner = _Line(text="", dialect=line.dialect, links=line.links, growing=False)
    if permitted:
        line.put(f"[{shown}]({in_parentheses(address)})" if named else f"<{address}>", whole=True)
    elif not address:
        _put_all(line, inner)
    else:
        title = (target["title"] or "").strip()
        _put_all(line, inner)
        line.put(" (" if named else "")
        _put_code(line, address)
        line.put(" " if title else "")
        _put_code(line, title)
        line.put(")" if named else "")


def _permitted(line: _Line, address: str) -> bool:
    return len(address) <= _LONGEST_LINK and line.links.permit(address)


def _put_all(line: _Line, inner: _Line) -> None:
    line.whole += [(line.length + start, line.length + end) for start, end in inner.whole]
    line.put("".join(inner.pieces))


def _address(line: _Line, found: regex.Match[str]) -> int:
    if not counts(found):
        # the dot may belong to another word; what precedes it is plain
        dot = line.text.index(".", found.start())
        line.put(line.text[found.start() : dot])
        return dot
    if line.growing and found.end() == len(line.text):
        return -1
    address = core(found.group())
    if not address:
        line.put(found.group())
        return found.end()
    after = found.start() + len(address)
    free = _FREE.match(line.text, after) is not None
    _show_address(line, address, bare=free)
    return after


def _show_address(line: _Line, address: str, *, bare: bool) -> None:
    if line.label:
        line.put(address)
    elif not _permitted(line, address):
        _put_code(line, address)
    elif bare:
        line.put(address, whole=True)
    else:
        line.put(f"<{address}>", whole=True)
