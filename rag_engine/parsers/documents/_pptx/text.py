from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.math import math_text
from rag_engine.parsers._ooxml.package import MC, A, M, chosen_alternative, number
from rag_engine.parsers._shared.numerals import numeral
from rag_engine.parsers._shared.sections import clean, is_blank
from rag_engine.parsers._shared.symbols import as_written, raised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._ooxml.package import Element

_NUMBER_FORMATS: Final = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "ea1Chs": "chineseCounting",
    "ea1Cht": "chineseCounting",
    "ea1JpnKor": "chineseCounting",
    "circleNum": "decimalEnclosedCircle",
}
_NUMBER_TYPE: Final = re.compile(
    r"([a-zA-Z1]+?)(ParenBoth|ParenR|Period|Plain|Minus|DbPlain|WdWhitePlain|WdBlackPlain)?"
)
_PUNCTUATION: Final = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Minus": "- {} -"}
_SYMBOL_FONTS: Final = re.compile("wingdings|symbol", re.IGNORECASE)
_SUPERSCRIPT: Final = re.compile(r"[1-9]\d*%?")
_DEEPEST: Final = 8


def body_text(body: Element) -> str:
    return "\n".join(_lines(body))


def _lines(body: Element) -> Iterator[str]:
    counts: dict[int, int] = {}
    for paragraph in body.iterfind(f"{A}p"):
        text = clean(paragraph_text(paragraph)).strip()
        if is_blank(text):
            continue
        properties = paragraph.find(f"{A}pPr")
        level = 0 if properties is None else min(max(number(properties.get("lvl")), 0), _DEEPEST)
        label = _label(properties, level, counts)
        indent = "  " * level
        yield f"{indent}{label} {text}" if label else text


def _label(properties: Element | None, level: int, counts: dict[int, int]) -> str:
    for deeper in [at for at in counts if at > level]:
        del counts[deeper]
    counted = None if properties is None else properties.find(f"{A}buAutoNum")
    if counted is not None:
        counts[level] = counts[level] + 1 if level in counts else number(counted.get("startAt"), 1)
        found = _NUMBER_TYPE.fullmatch(counted.get("type") or "arabicPeriod")
        number_format, punctuation = (found[1], found[2] or "") if found is not None else ("arabic", "Period")
        return _PUNCTUATION.get(punctuation, "{}").format(
            numeral(counts[level], _NUMBER_FORMATS.get(number_format, "decimal"))
        )
    counts.pop(level, None)
    if properties is not None and properties.find(f"{A}buNone") is not None:
        return ""
    has_sign = properties is not None and properties.find(f"{A}buChar") is not None
    return "-" if level or has_sign else ""


def paragraph_text(paragraph: Element) -> str:
    return "".join(_pieces(paragraph))


def _pieces(parent: Element) -> Iterator[str]:
    for child in parent:
        if child.tag == f"{A}r":
            yield _run(child)
        elif child.tag == f"{A}br":
            yield "\n"
        elif child.tag == f"{A}fld":
            if child.get("type") != "slidenum":
                yield _run(child)
        elif child.tag == f"{M}oMath":
            yield f" {math_text(child)} "
        elif child.tag == f"{MC}AlternateContent":
            for one in chosen_alternative(child):
                yield from _pieces_of(one)
        elif child.tag not in {f"{A}pPr", f"{A}endParaRPr"}:
            yield from _pieces(child)


def _pieces_of(child: Element) -> Iterator[str]:
    if child.tag == f"{A}r":
        yield _run(child)
    elif child.tag == f"{M}oMath":
        yield f" {math_text(child)} "
    else:
        yield from _pieces(child)


def _run(run: Element) -> str:
    text = run.find(f"{A}t")
    if text is None or not text.text:
        return ""
    # Some programs store a line break as a vertical tab.
    words = text.text.replace("\v", "\n").replace("_x000B_", "\n")
    properties = run.find(f"{A}rPr")
    if properties is None:
        return as_written(words, "")
    if _SUPERSCRIPT.fullmatch(properties.get("baseline") or ""):
        return raised(words)
    latin, symbols = properties.find(f"{A}latin"), properties.find(f"{A}sym")
    font = "" if latin is None else latin.get("typeface") or ""
    if _SYMBOL_FONTS.match(font):
        return as_written(words, font)
    font = "" if symbols is None else symbols.get("typeface") or ""
    if not _SYMBOL_FONTS.match(font):
        return as_written(words, "")
    return "".join(as_written(one, font) if "\uf020" <= one <= "\uf0ff" else one for one in words)
