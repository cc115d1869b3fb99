from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.sections import HeadingPath, entered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.parsers._shared.lines import NumberedLine

_LONGEST: Final = 90
_MOST_WORDS: Final = 12
_UNDERLINE: Final = re.compile(r"\s*([=\-~*_^#])\1{2,}\s*$")
_LEVELS: Final = {"=": 1, "*": 1, "#": 1}
_CHAPTER: Final = re.compile(
    r"\s*(?:(?:chapter|part|book|kapitel|teil|abschnitt|chapitre|partie|capítulo|parte|capitolo|глава|часть|appendix|anhang|annex)"
    r"\s+(?:\d{1,3}|[ivxlc]{1,7}|[a-z])\b.{0,70}|第\s?[0-9一二三四五六七八九十百]{1,5}\s?[章节節部编編篇条條].{0,40})$",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(r"\s*(?P<number>\d{1,3}(?:\.\d{1,3}){0,4})\.?\s+(?P<title>[^\W\d_].{1,80})$")
_SENTENCE_ENDS: Final = (".", ",", ";", ":", "!", "?", "。", "，", "；")


def headed(lines: Iterable[NumberedLine]) -> Iterator[tuple[HeadingPath, NumberedLine]]:
    path: HeadingPath = ()
    before_is_blank = True
    source = iter(lines)
    line = next(source, None)
    while line is not None:
        following = next(source, None)
        content = line.text
        if before_is_blank and content and len(content) <= _LONGEST:
            level = _level(content, following.text if following is not None else "")
            if level:
                path = entered(path, level, content.strip("\f"))
        before_is_blank = not content.strip()
        yield path, line
        line = following


def _level(content: str, following: str) -> int:
    words = content.split()
    if not words or len(words) > _MOST_WORDS or not any(map(str.isalpha, content)):
        return 0
    underline = _UNDERLINE.match(following)
    if underline is not None:
        alike = abs(len(following.strip()) - len(content.strip())) <= 3
        return _LEVELS.get(underline[1], 2) if alike else 0
    if following.strip() or content.rstrip().endswith(_SENTENCE_ENDS):
        return 0
    if _CHAPTER.match(content):
        return 1
    numbered = _NUMBERED.match(content)
    if numbered is not None:
        is_title = numbered["title"][0].isupper() or not numbered["title"][0].isascii()
        return numbered["number"].count(".") + 2 if is_title else 0
    letters = [character for character in content if character.isalpha()]
    return 2 if len(letters) >= 4 and all(letter.isupper() for letter in letters) else 0
