"""Names, codes, addresses and defined terms, by how they are written."""

from __future__ import annotations

import re
from collections import deque
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from rag_engine.graph.names import is_small, key_of
from rag_engine.graph.types import LONGEST_NAME, Extraction, Mention, Relation
from rag_engine.text.language import detect
from rag_engine.text.language.months import months
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.graph.types import EntityKind
    from rag_engine.types import Chunk

_MOST_MENTIONS: Final = 60
_MOST_CHARACTERS: Final = 8_000
_MOST_TITLE_WORDS: Final = 8

_ADDRESS: Final = lazy(
    lambda: re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}+(?>(?:\.[\w-]{1,63}+){1,5})", re.ASCII)
)
_CODE: Final = lazy(
    lambda: re.compile(
        r"(?<![\w./-])(?:[A-Z]{2,6} \d{2,6}(?>(?:[-/.]\w{1,8}+){0,3})"
        r"|(?=[\w/-]{0,24}?\d)(?=[\w/-]{0,24}?[A-Z])\w{1,12}+(?>(?:[-/]\w{1,12}+){0,4}))(?![\w/-])",
        re.ASCII,
    )
)
_CAPITALISED: Final = r"(?:[^\W\d_a-zß-öø-ÿ]\w*+(?>(?:[-'’.&]\w++)*))"
_BETWEEN: Final = r"(?:of|the|and|de|del|della|di|da|do|dos|du|des|la|le|van|von|der|den|zu|y|e|&|für|for)"
_NAME: Final = lazy(
    lambda: re.compile(
        rf"(?<![\w'’])(?=[^\W\d_]){_CAPITALISED}(?: (?:(?:{_BETWEEN} ){{0,2}}{_CAPITALISED}|\d{{1,4}}(?!\w))){{0,6}}"
    )
)
_DEFINED: Final = lazy(
    lambda: re.compile(
        r"[(（][^()（）]{0,60}?[\"“„«「『]\s?([^\"“”„«»」』()（）]{2,60}?)\s?[\"”“»」』]\s?[)）]"
    )
)
_SHORT: Final = lazy(lambda: re.compile(r"[(（]([A-ZÄÖÜ][\wÄÖÜ&.-]{1,9})(?:[,;][^()]{0,40})?[)）]"))
_MEANS: Final = lazy(
    lambda: re.compile(
        r"(?:^|(?<=[\n.;:。；]))\s{0,4}(?:[-*•]\s|\(?\w{1,3}[.)]\s){0,2}[\"“„«「『]([^\"“”„«»」』\n]{2,60})[\"”“»」』]"
        r",?\s{0,2}(?:means|shall mean|refers to|is defined as|bedeutet|bezeichnet|heißt|meint|ist|signifie|désigne|s'entend|"
        r"significa|designa|se refiere a|se entiende|是指|指的是|指|系指)"
    )
)
_QUOTED: Final = lazy(lambda: re.compile("[《『「【]([^《》『』「」【】\n]{2,30})[》』」】]"))
_SENTENCE_START: Final = lazy(
    lambda: re.compile(r"(?:^|[.!?:;•|–—\n\"“„«(])\s*$|(?:^|\n)[ \t]*\d{1,2}(?:\.\d{1,2}){0,3}[.)]?[ \t]+$")
)
_DAYS: Final = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
        "lunes",
        "martes",
        "miércoles",
        "jueves",
        "viernes",
        "sábado",
        "domingo",
        "lundi",
        "mardi",
        "mercredi",
        "jeudi",
        "vendredi",
        "samedi",
        "dimanche",
    ]
)
_BEFORE_GERMAN_NAME: Final = frozenset(
    [
        "bei",
        "von",
        "mit",
        "für",
        "durch",
        "an",
        "herr",
        "frau",
        "herrn",
        "dr",
        "prof",
        "firma",
        "laut",
        "gegen",
        "über",
    ]
)
_BRACKETED_END: Final = lazy(lambda: re.compile(r"\s*[(（\[][^()（）\[\]]{0,60}[)）\]]\s*$"))


def extract(chunk: Chunk) -> Extraction:
    """Takes linear time."""
    text = chunk.text[:_MOST_CHARACTERS]
    found: dict[str, Mention] = {}

    def add(name: str, kind: EntityKind, *, is_subject: bool = False) -> str:
        name = " ".join(name.split()).strip(" .,;:-–'’")
        key = key_of(name) if len(name) <= LONGEST_NAME else ""
        if key and len(found) < _MOST_MENTIONS:
            found.setdefault(key, Mention(key=key, name=name, kind=kind, is_subject=is_subject))
        return key

    for title in _titles(chunk):
        add(title, "name", is_subject=True)
    relations = [
        Relation(subject=add(long, "name"), object=add(short, kind), everywhere=kind == "abbreviation")
        for long, short, kind in _aliases(text)
    ]
    for match in _MEANS.finditer(text):
        add(match[1], "term")
    for match in _ADDRESS.finditer(text):
        add(match[0], "address")
    for match in _CODE.finditer(text):
        add(match[0], "code")
    for match in _QUOTED.finditer(text):
        add(match[1], "term")
    for name in _names(text, chunk.language or detect(text)):
        add(name, "abbreviation" if name.isupper() and len(name) <= 6 else "name")
    usable = (each for each in relations if each.subject in found and each.object in found)
    distinct = {(each.subject, each.object): each for each in usable if each.subject != each.object}
    return Extraction(mentions=tuple(found.values()), relations=tuple(distinct.values()))


def _titles(chunk: Chunk) -> Iterator[str]:
    stem = PurePath(chunk.title).stem if "." in chunk.title[-6:] else chunk.title
    first, _, rest = chunk.text.partition("\n")
    for title in (stem, *chunk.headings[-1:], first if rest else ""):
        plain = title.strip().lstrip("#").strip()
        short = _BRACKETED_END.sub("", plain) or plain
        if short and len(short.split()) <= _MOST_TITLE_WORDS and not short.endswith((".", ":", ",", "。")):
            yield short


def _aliases(text: str) -> Iterator[tuple[str, str, EntityKind]]:
    for match in _DEFINED.finditer(text):
        if long := _name_before(text, match.start()):
            yield long, match[1], "term"
    for match in _SHORT.finditer(text):
        if long := _spelled_out(text, match.start(), match[1]):
            yield long, match[1], "abbreviation"


def _name_before(text: str, end: int) -> str:
    last = next(iter(deque(_NAME.finditer(text, max(0, end - 120), end), maxlen=1)), None)
    return last[0] if last is not None and end - last.end() <= 40 else ""


def _spelled_out(text: str, end: int, short: str) -> str:
    letters = [letter.casefold() for letter in short if letter.isupper()]
    words = list(re.finditer(r"[^\W_][\w’'.-]*+", text[max(0, end - 120) : end]))
    if len(letters) < 2 or not words:
        return ""
    for count in range(len(letters), min(len(letters) + 4, len(words)) + 1):
        part = [word[0] for word in words[-count:]]
        initials = [word[0].casefold() for word in part if not is_small(word.casefold())]
        if initials == letters or [word[0].casefold() for word in part] == letters:
            return " ".join(part)
    name = _name_before(text, end)
    return name if name[:1].casefold() == letters[0] and name != short else ""


def _names(text: str, language: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        name, start = match[0], match.start()
        words = name.split(" ")
        opens = bool(_SENTENCE_START.search(text[max(0, start - 24) : start]))
        if (
            len(words) > 1
            and is_small(words[0].casefold())
            and (opens or words[0].casefold() in ("the", "a", "an"))
        ):
            start += len(words[0]) + 1
            name = name[len(words[0]) + 1 :]
            words = words[1:]
            if not name[:1].isupper():
                continue
        elif len(words) == 1 and not _is_name(text, start, name, language):
            continue
        parts = re.split(r" (?:and|und|y|e|et|&) ", name)
        yield from (part for part in dict.fromkeys((name, *parts)) if not all(map(_is_day, part.split(" "))))


def _is_day(word: str) -> bool:
    folded = word.casefold()
    return not _DAYS.isdisjoint((folded, folded.removesuffix("s"))) or is_small(folded)


def _is_name(text: str, start: int, word: str, language: str) -> bool:
    if len(word) < 2 or is_small(word.casefold()) or months(word):
        return False
    if any(letter.isupper() for letter in word[1:]):
        return True
    before = text[max(0, start - 24) : start]
    if _SENTENCE_START.search(before):
        return False
    if language == "de":
        return bool(words := before.split()) and words[-1].casefold().strip(".") in _BEFORE_GERMAN_NAME
    return True
