from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["code", "heading", "table", "item", "quote", "prose"]

_LINE: Final = lazy(lambda: re.compile(r"[^\n]*\n|[^\n]+"))
_SINGLE: Final = frozenset({"code", "heading"})
_FENCE: Final = lazy(
    lambda: re.compile(r"[ \t>]{0,12}(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,}(?=[^`]*\Z)|~{3,})")
)
_FENCE_END: Final = lazy(lambda: re.compile(r"[ \t>]{0,12}(`{3,}|~{3,})[ \t]*\Z"))
_HEADING: Final = lazy(
    lambda: re.compile(
        r"[ \t]{0,3}#{1,6}(?:[ \t]|\Z)|[ \t]{0,3}(?:\*\*[^*\n]{1,120}[^*.!?。！？\n]\*\*|__[^_\n]{1,120}__):?[ \t]*\Z"
        r"|[ \t]{0,3}(?:[-=*_][ \t]?){3,}\Z"
    )
)
_TABLE_RULE: Final = lazy(
    lambda: re.compile(
        r"[ \t]*+(?:\|[ \t]*+)?:?-{2,}+:?[ \t]*+(?>(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*)(?:\|[ \t]*+)?\Z"
    )
)
_ITEM: Final = lazy(lambda: re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|[a-zA-Z][)])[ \t]+"))
_QUOTE: Final = lazy(lambda: re.compile(r"[ \t]{0,3}>"))
_FINAL: Final = lazy(
    lambda: re.compile(r"[ \t]?[.?!…．。？！；｡।॥۔؟።‽]{1,16}[\"'”’»›)\]}）】』」》〉*_~]{0,16}\Z")
)
_SHELTERED: Final = lazy(
    lambda: re.compile(
        r"(?<!`)`++[^`\n]{1,400}`++|\[[^\]\n]{0,200}\]\([^)\s]{0,400}\)|<[^>\s]{0,200}>|https?://\S+"
    )
)
_INTRODUCTION: Final = lazy(lambda: re.compile(r"[:：][*_]{0,2}\Z"))
_QUESTION: Final = lazy(lambda: re.compile(r"[?？؟][\"'”’»)）*_]{0,3}\Z"))
_NO_CLAIM: Final = lazy(
    lambda: re.compile(
        r"(?:[>*_#\-\s]|\d{1,3}[.)]\s)*(?:"
        r"(?:i(?:'m| am)? (?:did not|didn['’]t|could not|couldn['’]t|cannot|can['’]t|was not able|was unable|am unable|unable|have not"
        r"|sorry|don['’]t|do not)\b"
        r"|(?:unfortunately|sorry)\b|no (?:information|mention|passage|document|source)s?\b"
        r"|(?:the|these|those|your|none of the) (?:\w+ )?(?:passages?|sources?|documents?|files?|context)"
        r" (?:do|does|did|doesn['’]t|don['’]t|didn['’]t|contain no|make no|mention no|say nothing|provided do)\b"
        r"|sure[,.!]|certainly[,.!]|of course[,.!]|hello\b|hi\b|great question|i hope\b|let me know\b|feel free\b|if you (?:need|have|want)\b"
        r"|here (?:is|are)\b[^.]*:?\Z|based on (?:the|your)[^,.]*[:,]?\Z|in summary[,:]?\Z)"
        r"|(?:ich (?:habe|konnte|kann)\b[^.]*\b(?:nicht|nichts|keine?n?)\b|leider\b|keine (?:angaben|informationen)\b|gerne[,.!]|hallo\b)"
        r"|(?:no (?:he|encontré|pude|hay)\b|lo siento\b|lamentablemente\b|hola\b|claro[,.!])"
        r"|(?:je n['’](?:ai|e)\b|désolé|malheureusement\b|bonjour\b|bien sûr[,.!])"
        r"|(?:抱歉|对不起|很遗憾|对不起|您好|你好|没有找到|未找到|我没有|希望(?:这|以上)|文中没有|文档中没有|资料中没有|提供的\S{0,8}(?:没有|未))"
        r"|(?:申し訳|残念ながら|こんにちは|見つかりません)"
        r")",
        re.IGNORECASE,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    start: int
    end: int
    insertion: int
    kind: Kind
    block: int
    states: bool
    """False for questions, greetings, introductions and admissions that nothing was found."""


def claims(text: str) -> list[Claim]:
    found: list[Claim] = []
    for number, (kind, start, end) in enumerate(blocks(text)):
        if kind == "table":
            trimmed = start + len(text[start:end].rstrip())
            found.append(
                Claim(start=start, end=trimmed, insertion=trimmed, kind=kind, block=number, states=True)
            )
        elif kind not in ("code", "heading"):
            found.extend(_claims_of(text, kind, number, start, end))
    return found


def _claims_of(text: str, kind: Kind, block: int, start: int, end: int) -> Iterator[Claim]:
    for sentence in split_sentences(text[start:end]):
        trimmed = sentence.rstrip()
        if any(map(str.isalnum, trimmed)):
            yield Claim(
                start=start,
                end=start + len(trimmed),
                insertion=start + _insertion(trimmed),
                kind=kind,
                block=block,
                states=not (
                    _QUESTION.search(trimmed) or _INTRODUCTION.search(trimmed) or _NO_CLAIM.match(trimmed)
                ),
            )
        start += len(sentence)


def _insertion(sentence: str) -> int:
    final = _FINAL.search(sentence, max(0, len(sentence) - 33))
    if final is None:
        return len(sentence)
    for sheltered in _SHELTERED.finditer(sentence):
        if sheltered.start() < final.start() < sheltered.end() and not sheltered[0].startswith("http"):
            return len(sentence)
    return final.start()


def blocks(text: str) -> Iterator[tuple[Kind, int, int]]:
    kind: Kind | None = None
    start = last = position = 0
    fence = ""
    lines = _LINE.findall(text)
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        begin, position = position, position + len(line)
        if fence:
            last = position
            fence = "" if _closes(line, fence) else fence
            continue
        opening = _FENCE.match(line)
        found = "code" if opening else _kind_of(line.rstrip(), following.rstrip(), kind)
        if kind is not None and (found != kind or found in _SINGLE or _ITEM.match(line)):
            yield kind, start, last
            kind = None
        if kind is None:
            kind, start = found, begin
        last = position
        fence = opening[1] if opening else ""
    if kind is not None:
        yield kind, start, last


def _kind_of(line: str, following: str, kind: Kind | None) -> Kind | None:
    if not line:
        return None
    if _HEADING.match(line):
        return "heading"
    if line.lstrip().startswith("|") or ("|" in line and (kind == "table" or _TABLE_RULE.match(following))):
        return "table"
    if _ITEM.match(line):
        return "item"
    if _QUOTE.match(line):
        return "quote"
    return kind if kind in ("item", "quote") else "prose"


def _closes(line: str, fence: str) -> bool:
    closing = _FENCE_END.match(line.rstrip())
    return closing is not None and closing[1].startswith(fence)
