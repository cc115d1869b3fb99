"""Whether somebody asks for a summary, of what, and how long it is to be. Pure: no model, no network, microseconds."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_engine.language import detect
from rag_engine.summarizing import wording
from rag_engine.summarizing.lengths import Wishes, wishes, without_wishes
from rag_engine.summarizing.words import is_filling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Sign: TypeAlias = Literal["plain", "ordinary", "loose"]
"""What asked for it: words that mean a summary; words that do so with a file in them; or only with the name of one."""

_LONGEST = 400
_LONGEST_RESTYLING = 60
_EARLIER = 8
_QUOTES = str.maketrans(dict.fromkeys("’‘´`", "'") | dict.fromkeys("“”„«»「」『』《》", '"'))
_POLITE_BEFORE = re.compile(rf"(?:{wording.POLITE})(?:[\s,:!.]+|(?<=[\u3000-\u9fff]))", re.IGNORECASE)
_POLITE_AFTER = re.compile(
    rf"[\s,]+(?:{wording.POLITE}|for me|to me|für mich|pour moi|para mí|para mim|per me|voor mij|для меня)$",
    re.IGNORECASE,
)
_ASKING = re.compile(
    rf"\s*(?:(?:about|of|for|on|über|von|de|di|over|о)\s+)?{wording.ASKING}\b", re.IGNORECASE
)
_ALL = re.compile(wording.ALL_WORDS, re.IGNORECASE)
_AUXILIARY = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|there|can|should|i|we|he|she|they|hat|ist|gibt)\b",
    re.IGNORECASE,
)
_UNSPACED_ASKING = re.compile("[谁誰]|什么时候|什麼時候|为什么|為什麼|いつ|どこ|なぜ|누가|언제|어디|왜")
_PORTUGUESE = re.compile(r"\b(?:arquivos?|ficheiros?|deste|desta|isto|isso|relatório)\b", re.IGNORECASE)
_SHARED = frozenset({"es", "pt", "zh", "ja"})
"""Languages that ask for a summary in words of another one's too."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_END = ' \t.!?…。！？؟¿¡:,;"'


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What was asked for. `about` is the words for what is to be summarised, wishes for its length and language left out."""

    about: str
    sign: Sign = "plain"
    everything: bool = False
    """All documents are meant, or all of a knowledge base."""
    wishes: Wishes = field(default_factory=Wishes)
    language: str = ""
    """That of the request (ISO 639-1); empty where it does not say."""
    focus: str = ""
    """What else was said: "Focus on the costs"."""
    text: str = ""
    """All of the request, in which the name of a file stands as it was written."""


def requested(text: str, earlier: Sequence[str] = ()) -> SummaryRequest | None:
    """The summary that a text asks for, if it does.

    `earlier` is what people asked before it, oldest first: after a summary, "shorter" and "in German" ask for it again.
    """
    cleaned = _cleaned(text)
    if not cleaned or len(cleaned) > _LONGEST:
        return None
    sentences = [sentence for part in _SENTENCE.split(cleaned) if (sentence := part.strip(_END))]
    read = [(sentence, _of_sentence(sentence)) for sentence in sentences]
    found = [request for _, request in read if request is not None]
    others = [sentence for sentence, request in read if request is None]
    if len(found) == 1 and not any(_ASKING.match(_bare(other)) for other in others):
        language, focus = _language(cleaned, found[0]), ". ".join(filter(_says_more, others))
        return replace(found[0], wishes=wishes(cleaned), language=language, focus=focus, text=cleaned)
    return None if found else _again(cleaned, earlier)


def _says_more(sentence: str) -> bool:
    """Whether it is more than "thanks" or "in 100 words"."""
    return not all(is_filling(word) for word in re.findall(r"\w+", _bare(without_wishes(_bare(sentence)))))


def _language(cleaned: str, request: SummaryRequest) -> str:
    """That of the words that ask for it; where they are of several, that of the whole text, or of its word for a file."""
    if request.language and request.language not in _SHARED:
        return request.language
    found = detect(cleaned)
    if found and (not request.language or found in _SHARED):
        return found
    return "pt" if request.language == "es" and _PORTUGUESE.search(cleaned) else request.language


def _again(cleaned: str, earlier: Sequence[str]) -> SummaryRequest | None:
    """The summary before, in the form that is asked for now."""
    if len(cleaned) > _LONGEST_RESTYLING or not _is_restyling(cleaned):
        return None
    latest = earlier[-_EARLIER:]
    before = requested(latest[-1], latest[:-1]) if latest else None
    return replace(before, wishes=before.wishes.changed_by(wishes(cleaned))) if before else None


def _is_restyling(cleaned: str) -> bool:
    """Whether it says nothing but how long, or in which language."""
    left = _bare(without_wishes(_bare(cleaned.strip(_END))))
    return bool(wishes(cleaned)) and all(is_filling(word) for word in re.findall(r"\w+", left))


def _of_sentence(sentence: str) -> SummaryRequest | None:
    bare = _bare(sentence)
    if request := _of_bare(bare):
        return request
    shorter = _bare(without_wishes(bare))
    return _of_bare(shorter) if shorter != bare else None


def _of_bare(text: str) -> SummaryRequest | None:
    scripts = _scripts(text)
    for sign, table in _TABLES:
        for language, patterns in table.items():
            if _SCRIPTS.get(language, "latin") not in scripts:
                continue
            for pattern in patterns:
                if match := _compiled(pattern).fullmatch(text):
                    return _request(match, sign, language)
    return None


def _scripts(text: str) -> frozenset[str]:
    if text.isascii():
        return frozenset({"latin"})
    return frozenset(name for name, pattern in _OF_SCRIPT.items() if pattern.search(text))


def _request(match: re.Match[str], sign: Sign, language: str) -> SummaryRequest | None:
    about = " ".join(group.strip() for group in match.groups() if group and group.strip())
    everything = _ALL.search(about) is not None
    left = _bare(without_wishes(_ALL.sub(" ", about)))
    if _asks(left, sign, match.string):
        return None
    return SummaryRequest(about=left, sign=sign, everything=everything, language=language)


def _asks(left: str, sign: Sign, text: str) -> bool:
    """Whether it is a question about something, which happens to have a summary in it."""
    if sign == "loose" and (_ASKING.match(left) or _AUXILIARY.match(left)):
        return True
    if sign == "plain" and _UNSPACED_ASKING.search(text):
        return True
    words = re.findall(r"\w+", left)
    return _ASKING.match(left) is not None and not all(is_filling(word) for word in words[1:])


def _cleaned(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return "\n".join(" ".join(line.split()) for line in folded.strip().splitlines() if line.strip())


def _bare(sentence: str) -> str:
    """Without what is only polite before and after it."""
    before = None
    while sentence != before:
        before = sentence
        sentence = _POLITE_AFTER.sub("", sentence.strip(_END))
        if match := _POLITE_BEFORE.match(sentence):
            sentence = sentence[match.end() :].strip(_END)
    return sentence


_TABLES: tuple[tuple[Sign, Mapping[str, Sequence[str]]], ...] = (
    ("plain", wording.SIGNS),
    ("ordinary", wording.AFTER_NAMES),
    ("loose", wording.WITH_NAMES),
)


_SCRIPTS = {"ru": "cyrillic", "zh": "cjk", "ja": "cjk", "ko": "cjk", "ar": "arabic"}
_OF_SCRIPT = {
    "latin": re.compile("[A-Za-z\u00c0-\u024f]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "cjk": re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"),
    "arabic": re.compile("[\u0620-\u06ff]"),
}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
