from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Final, Literal

from rag_engine.citations.markers.partial_patterns import (
    Automaton,
    Part,
    either,
    joined,
    maybe,
    repeated,
    sequence,
    signs,
    text,
)
from rag_engine.text.lazy_pattern import lazy

LONGEST_MARKER: Final = 64
"""Characters."""
LONGEST_TAG: Final = 200
_LONGEST_RANGE: Final = 4

OPENERS: Final = "[【［〔〖(（#＃<~*_^rR"

_WORDS: Final = (
    "id ids source sources passage passages document documents doc docs reference references ref refs citation citations cite "
    "chunk excerpt quelle quellen fuente fuentes fonte fonti 来源 來源 资料 資料 文档 文件 引用 参考 參考 出典 ｉｄ"
)
_TAGS: Final = (
    "source sources context contexts passage passages document documents chunk chunks excerpt excerpts reference references ref refs "
    "citation citations cite answer response question query user_query search_results results think thinking reasoning thought"
)
_REASONING: Final = frozenset({"think", "thinking", "reasoning", "thought"})
_CITING: Final = frozenset(
    {"source", "passage", "document", "chunk", "excerpt", "reference", "ref", "citation", "cite"}
)

_EMPHASIS: Final = ("~~", "***", "**", "*", "__", "_", "^")

Kind = Literal["marker", "cited_tag", "cited_tag_end", "reasoning", "reasoning_end", "tag"]


@dataclass(frozen=True, slots=True)
class MarkerToken:
    """`numbers` are the passages as written."""

    kind: Kind
    end: int
    numbers: tuple[int, ...] = ()


def _number() -> Part:
    return sequence(signs("0"), maybe(signs("0"), maybe(signs("0"))))


def _space() -> Part:
    return maybe(signs(" "), maybe(signs(" ")))


def _words(words: str) -> Part:
    return either(*map(text, words.split()))


def _label() -> Part:
    return sequence(_words(_WORDS), _space(), maybe(signs(":：.#№=")), _space(), maybe(signs("#")))


def _numbers() -> Part:
    span = sequence(_number(), maybe(_space(), signs("-–—‑~～"), _space(), _number()))
    joint = either(
        sequence(_space(), signs(",，;；、&"), _space(), maybe(text("and "))),
        sequence(signs(" "), either(text("and"), text("und"), text("y"), text("et")), signs(" ")),
        signs("和及与"),
    )
    return joined(span, sequence(joint, maybe(_label())))


def _bracketed() -> Part:
    dagger = sequence(_space(), signs("†"), repeated(signs("[]【】\n", excluded=True)))
    place = sequence(_space(), signs(",:："), _space(), either(text("p"), text("s."), text("§"), text("l")))
    trailer = either(dagger, sequence(place, repeated(signs("[]【】()\n", excluded=True))))
    inner = sequence(_space(), maybe(signs("^#@")), maybe(_label()), _numbers(), maybe(trailer), _space())
    turn = sequence(_number(), signs(":"), _number(), dagger)
    opening, closing = signs("[【［〔〖"), signs("]】］〕〗")
    return sequence(opening, maybe(opening), either(inner, turn), closing, maybe(closing))


def _core() -> Part:
    labelled = sequence(signs("(（"), _space(), _label(), _numbers(), _space(), signs(")）"))
    hashed = either(
        sequence(text("##"), _number(), text("$$")),
        sequence(signs("#"), _number(), signs("#")),
        sequence(signs("＃"), _number(), signs("＃")),
    )
    return either(_bracketed(), labelled, hashed)


def _wrapped() -> Part:
    """~~[1]~~, **[1][2]**. `_marker` checks that both ends agree."""
    group = joined(_core(), sequence(_space(), maybe(signs(",;")), _space()))
    ends = either(*map(text, _EMPHASIS))
    return either(
        sequence(ends, _space(), group, _space(), ends),
        sequence(text("<sup>"), group, text("</sup>")),
    )


def _element() -> Part:
    names = either(*map(text, ("cite", "citation", "ref", "source")))
    inner = sequence(_space(), maybe(signs("[")), _numbers(), maybe(signs("]")), _space())
    return sequence(signs("<"), names, signs(">"), inner, text("</"), names, signs(">"))


def _named() -> Part:
    return sequence(text("ref"), maybe(signs(".")), maybe(signs(" ")), _number())


def _tag() -> Part:
    word = signs(" \n\"'<>=/", excluded=True)
    value = either(
        sequence(signs('"'), repeated(signs('"<>\n', excluded=True)), signs('"')),
        sequence(signs("'"), repeated(signs("'<>\n", excluded=True)), signs("'")),
        sequence(word, repeated(word)),
    )
    attribute = sequence(
        signs(" \n"), _space(), word, repeated(word), maybe(signs(" ")), signs("="), maybe(signs(" ")), value
    )
    return sequence(
        signs("<"),
        maybe(signs("/")),
        _words(_TAGS),
        repeated(attribute),
        _space(),
        maybe(signs("/")),
        signs(">"),
    )


class _Automata(threading.local):
    """Per thread, since they build their states lazily."""

    def __init__(self) -> None:
        self.markers = Automaton(either(_core(), _wrapped(), _element()), longest=LONGEST_MARKER)
        self.named = Automaton(_named(), longest=LONGEST_MARKER)
        self.tags = Automaton(_tag(), longest=LONGEST_TAG)


_AUTOMATA: Final = _Automata()


_SENTENCE_END: Final = lazy(lambda: re.compile(r"\s{0,2}(?:[.?!](?=\s|\Z)|[。！？]|\n|\Z)"))
_SENTENCE_END_SIGHT: Final = 5
_LINK_TARGET: Final = lazy(
    lambda: re.compile(
        r"\((?:(?:https?|ftp|file|mailto|tel|slack|data):|#|/|\.{1,2}/|www\.|<)", re.IGNORECASE
    )
)
_LINK_TARGET_SIGHT: Final = 9
_INDEXED: Final = lazy(
    lambda: re.compile(
        r"(?:\b(?:array|arr|lst|args|argv|vec|buf|idx|nums|vals|cols|dict|tuple|obj|params|tmp|foo|bar|baz|elems?)"
        r"|[A-Za-z]\w*_\w*|(?<![\w'’./])[a-z])\Z"
    )
)
_OPENING: Final = frozenset("[【［〔〖")
_CLOSING: Final = frozenset("]】］〕〗")
_EMPHASIS_SIGNS: Final = frozenset("~*_^")
_SPAN: Final = lazy(lambda: re.compile(r"(\d{1,3})(?:\s{0,2}[-–—‑~～]\s{0,2}(\d{1,3}))?"))
_ATTACHED: Final = lazy(lambda: re.compile(r"\[(\d{1,3})\]"))
_NOT_NUMBERS: Final = lazy(
    lambda: re.compile(r"†[^\[\]【】]*|[,:：]\s*(?:[pPlL§]|[sS]\.)[^\[\]【】]*|(?<=【)\d+:(?=\d+†)")
)
_TAG_NAME: Final = lazy(lambda: re.compile(r"<(/?)([a-z_]+)", re.IGNORECASE))
_TAG_NUMBER: Final = lazy(
    lambda: re.compile(
        r"\s(?:id|index|number|n|no|ref)\s?=\s?[\"']?(?:[a-z]{1,8}[-_ ]?)?(\d{1,3})\b", re.IGNORECASE
    )
)


def read_token(source: str, at: int, *, closed: bool) -> MarkerToken | Literal["text"] | None:
    """ "text" if there is none, None if that depends on text still to come. Looks back at most 32 characters."""
    if source[at] in "rR":
        return _read_named(source, at, closed=closed)
    end = _AUTOMATA.markers.read(source, at, closed=closed)
    if end is None:
        return None
    if end > at:
        return _marker(source, at, end, closed=closed)
    return _read_tag(source, at, closed=closed) if source[at] == "<" else "text"


def is_begun(source: str) -> bool:
    if source[0] not in "[【［〔〖(（" or any(sign in "]】］〕〗)）" for sign in source):
        return False
    return _AUTOMATA.markers.read(source, 0, closed=False) is None and any(map(str.isdecimal, source))


def _read_named(source: str, at: int, *, closed: bool) -> MarkerToken | Literal["text"] | None:
    if at and (source[at - 1].isalnum() or source[at - 1] in "_-./#"):
        return "text"
    end = _AUTOMATA.named.read(source, at, closed=closed)
    if end is None or (end > at and not closed and len(source) - end < _SENTENCE_END_SIGHT):
        return None
    if end == at or not _SENTENCE_END.match(source, end):
        return "text"
    return MarkerToken("marker", end, _numbers_in(source[at:end]) or ())


def _marker(source: str, at: int, end: int, *, closed: bool) -> MarkerToken | Literal["text"] | None:
    if source[at] in _OPENING and source[at + 1] in _OPENING:
        if source[end - 2] not in _CLOSING:
            return "text"
    elif source[at] in _OPENING and source[end - 2] in _CLOSING:
        end -= 1
    if source[at] in _EMPHASIS_SIGNS and not _is_wrapped(source[at:end]):
        return "text"
    if source[end - 1] == "]":
        following = source[end : end + _LINK_TARGET_SIGHT]
        if (
            not closed
            and len(following) < _LINK_TARGET_SIGHT
            and (not following or _may_be_target(following))
        ):
            return None
        if _LINK_TARGET.match(following) or _is_index(source, at, end):
            return "text"
    numbers = _numbers_in(source[at:end])
    return "text" if numbers is None else MarkerToken("marker", end, numbers)


def _is_wrapped(written: str) -> bool:
    core = written.strip("~*_^")
    opening, _, closing = written.partition(core)
    return opening == closing and opening in _EMPHASIS


def _may_be_target(following: str) -> bool:
    return following[0] == "(" and not any(sign.isspace() or sign == ")" for sign in following)


def _is_index(source: str, at: int, end: int) -> bool:
    attached = _ATTACHED.fullmatch(source, at, end)
    if (
        not attached
        or not at
        or not ((source[at - 1].isascii() and source[at - 1].isalnum()) or source[at - 1] == "_")
    ):
        return False
    return int(attached[1]) == 0 or _INDEXED.search(source, max(0, at - 32), at) is not None


def _numbers_in(written: str) -> tuple[int, ...] | None:
    numbers: list[int] = []
    for first, last in _SPAN.findall(_NOT_NUMBERS.sub("", written)):
        low, high = int(first), int(last or first)
        if last and not (0 < low <= high < low + _LONGEST_RANGE):
            return None
        numbers.extend(range(low, high + 1))
    return tuple(numbers)


def _read_tag(source: str, at: int, *, closed: bool) -> MarkerToken | Literal["text"] | None:
    end = _AUTOMATA.tags.read(source, at, closed=closed)
    if end is None:
        return None
    named = _TAG_NAME.match(source, at, end)
    if end == at or named is None:
        return "text"
    is_closing, name = bool(named[1]), named[2].lower()
    if name in _REASONING:
        return MarkerToken("reasoning_end" if is_closing else "reasoning", end)
    if name not in _CITING:
        return MarkerToken("tag", end)
    if is_closing:
        return MarkerToken("cited_tag_end", end)
    number = _TAG_NUMBER.search(source, at, end)
    if number is None:
        return MarkerToken("tag", end)
    return MarkerToken("marker" if source[end - 2] == "/" else "cited_tag", end, (int(number[1]),))
