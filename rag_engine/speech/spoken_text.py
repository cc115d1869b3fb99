from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

_MARKERS: Final = re.compile(r"\s?\[\d{1,3}(?:, ?\d{1,3}){0,9}\]")
_ADDRESS: Final = re.compile(r"\b(?:https?://|www\.)[^\s<>()]{1,2000}", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]{0,200}>")
_SPACES: Final = re.compile(r"\s+")
_BEFORE_STOP: Final = re.compile(r"\s+([.,;:!?。，；：！？])")
_SILENT: Final = frozenset({"So", "Sk", "Cs", "Co", "Cn", "Cc", "Cf"})
_JOINERS: Final = "\u200c\u200d"
_ENDS: Final = ".!?:;,…。！？：；，।؟"
_OMITTED: Final = {"fence": "code", "code_block": "code", "table_open": "table"}


def spoken(markdown: str, *, omitted: dict[str, str]) -> str:
    """`omitted` replaces `code` and `table`."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    return "\n".join(line for line in _lines(tokens, omitted) if line)


def cut(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    kept = 0
    for sentence in split_sentences(text):
        if kept + len(sentence.rstrip()) > characters:
            break
        kept += len(sentence)
    if kept:
        return text[:kept].strip()
    beginning = text[:characters]
    return (beginning.rpartition(" ")[0] or beginning).strip()


def _lines(tokens: Sequence[Token], omitted: dict[str, str]) -> Iterator[str]:
    table = 0
    for token in tokens:
        table += token.nesting if token.type in ("table_open", "table_close") else 0
        if (what := _OMITTED.get(token.type)) is not None:
            yield _ended(omitted[what])
        elif token.type == "inline" and not table:
            yield _ended(_words("".join(_inline(token.children or []))))


def _inline(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "image" and token.content:
            yield f" {token.content} "


def _words(text: str) -> str:
    text = _TAG.sub(" ", _ADDRESS.sub(" ", _MARKERS.sub("", text)))
    audible = "".join(
        letter
        if letter in _JOINERS or unicodedata.category(letter) not in _SILENT or letter.isspace()
        else " "
        for letter in text
    ).replace("\ufe0f", "")
    return _BEFORE_STOP.sub(r"\1", _SPACES.sub(" ", audible)).strip()


def _ended(line: str) -> str:
    return f"{line}." if line and line[-1] not in _ENDS and any(map(str.isalnum, line)) else line
