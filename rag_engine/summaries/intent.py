from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_engine.summaries import intent_patterns
from rag_engine.summaries.edit_words import is_edit
from rag_engine.summaries.length_and_language import LengthAndLanguage, requested_style, without_style
from rag_engine.summaries.target_words import is_filling
from rag_engine.text.language import detect
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Sign: TypeAlias = Literal["plain", "ordinary", "loose"]
"""Some words count only with a file, or only with its name."""

_LONGEST = 400
_LONGEST_RESTYLING = 80
_EARLIER = 8
_QUOTES = str.maketrans(dict.fromkeys("’‘´`", "'") | dict.fromkeys("“”„«»「」『』《》", '"'))
_POLITE_BEFORE = lazy(
    lambda: re.compile(rf"(?:{intent_patterns.POLITE})(?:[\s,:!.]+|(?<=[\u3000-\u9fff]))", re.IGNORECASE)
)
_POLITE_AFTER = lazy(
    lambda: re.compile(
        rf"[\s,]+(?:{intent_patterns.POLITE}|for me|to me|für mich|pour moi|para mí|para mim|per me|voor mij|для меня)$",
        re.IGNORECASE,
    )
)
_ASKING = lazy(
    lambda: re.compile(
        rf"\s*(?:(?:about|of|for|on|über|von|de|di|over|о)\s+)?{intent_patterns.ASKING}\b", re.IGNORECASE
    )
)
_ALL = lazy(lambda: re.compile(intent_patterns.ALL_WORDS, re.IGNORECASE))
_AUXILIARY = lazy(
    lambda: re.compile(
        r"(?:is|are|was|were|do|does|did|has|have|had|there|can|should|i|we|he|she|they|hat|ist|gibt)\b",
        re.IGNORECASE,
    )
)
_ASKS_WHETHER = re.compile(r"(?:is|are|was|were|ist|sind|war)\b", re.IGNORECASE)
_UNSPACED_ASKING = lazy(
    lambda: re.compile("[谁誰]|什么时候|什麼時候|为什么|為什麼|いつ|どこ|なぜ|누가|언제|어디|왜")
)
_PORTUGUESE = lazy(
    lambda: re.compile(r"\b(?:arquivos?|ficheiros?|deste|desta|isto|isso|relatório)\b", re.IGNORECASE)
)
_SHARED = frozenset({"es", "pt", "zh", "ja"})
_SENTENCE = lazy(lambda: re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+"))
_END = ' \t.!?…。！？؟¿¡:,;"'


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """`about`: without length and language."""

    about: str
    sign: Sign = "plain"
    everything: bool = False
    """All documents, or all of a knowledge base."""
    style: LengthAndLanguage = field(default_factory=LengthAndLanguage)
    language: str = ""
    focus: str = ""
    """Further instructions: "Focus on the costs"."""
    text: str = ""


def requested(text: str, earlier: Sequence[str] = ()) -> SummaryRequest | None:
    """`earlier`, oldest first: after a summary, "shorter" asks for it again."""
    cleaned = _cleaned(text)
    if not cleaned or len(cleaned) > _LONGEST:
        return None
    sentences = [sentence for part in _SENTENCE.split(cleaned) if (sentence := part.strip(_END))]
    read = [(sentence, _of_sentence(sentence)) for sentence in sentences]
    found = [request for _, request in read if request is not None]
    others = [sentence for sentence, request in read if request is None]
    if len(found) == 1 and not any(_ASKING.match(_bare(other)) for other in others):
        language, focus = _language(cleaned, found[0]), ". ".join(filter(_says_more, others))
        return replace(found[0], style=requested_style(cleaned), language=language, focus=focus, text=cleaned)
    return None if found else _again(cleaned, earlier)


def _says_more(sentence: str) -> bool:
    return not all(is_filling(word) for word in re.findall(r"\w+", _bare(without_style(_bare(sentence)))))


def _language(cleaned: str, request: SummaryRequest) -> str:
    if request.language and request.language not in _SHARED:
        return request.language
    found = detect(cleaned)
    if found and (not request.language or found in _SHARED):
        return found
    return "pt" if request.language == "es" and _PORTUGUESE.search(cleaned) else request.language


def _again(cleaned: str, earlier: Sequence[str]) -> SummaryRequest | None:
    if len(cleaned) > _LONGEST_RESTYLING or not _is_restyling(cleaned):
        return None
    latest = earlier[-_EARLIER:]
    before = requested(latest[-1], latest[:-1]) if latest else None
    return replace(before, style=before.style.changed_by(requested_style(cleaned))) if before else None


def is_restyling(text: str) -> bool:
    """The text before in another length, form or language."""
    cleaned = _cleaned(text)
    if not cleaned or len(cleaned) > _LONGEST_RESTYLING or _ASKS_WHETHER.match(cleaned):
        return False
    if _is_restyling(cleaned):
        return True
    bare = _bare(cleaned)
    left = _bare(without_style(bare))
    return is_edit(bare) or (left != bare and is_edit(left, is_styled=True))


def _is_restyling(cleaned: str) -> bool:
    if not requested_style(cleaned):
        return False
    left = _bare(without_style(_bare(cleaned.strip(_END))))
    return all(is_filling(word) for word in re.findall(r"\w+", left))


def _of_sentence(sentence: str) -> SummaryRequest | None:
    bare = _bare(sentence)
    if request := _of_bare(bare):
        return request
    shorter = _bare(without_style(bare))
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
    left = _bare(without_style(_ALL.sub(" ", about)))
    if _asks(left, sign, match.string):
        return None
    return SummaryRequest(about=left, sign=sign, everything=everything, language=language)


def _asks(left: str, sign: Sign, text: str) -> bool:
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
    before = None
    while sentence != before:
        before = sentence
        sentence = _POLITE_AFTER.sub("", sentence.strip(_END))
        if match := _POLITE_BEFORE.match(sentence):
            sentence = sentence[match.end() :].strip(_END)
    return sentence


_TABLES: tuple[tuple[Sign, Mapping[str, Sequence[str]]], ...] = (
    ("plain", intent_patterns.SIGNS),
    ("ordinary", intent_patterns.AFTER_NAMES),
    ("loose", intent_patterns.WITH_NAMES),
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
