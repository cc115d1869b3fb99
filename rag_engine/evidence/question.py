from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.evidence.light_words import BEFORE_NOUNS, LIGHT_CHINESE, LIGHT_WORDS
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.language import detect, possible
from rag_engine.text.language.months import months
from rag_engine.text.language.stop_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TermKind = Literal["word", "light", "name", "figure"]

_GRAMS: Final = "\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_RUN: Final = re.compile(rf"[{_GRAMS}]+|[^\W{_GRAMS}]+(?:[-'’.,/:][^\W{_GRAMS}]+)*")
_UNSPACED: Final = re.compile(f"[{_GRAMS}]")
ASKING: Final = {
    "zh": re.compile(
        r"什么时候|什么|多少|多久|多长|多大|多高|哪[些个里位种年]?|谁|怎么样?|怎样|如何|为什么|为何|何时|几|吗|呢|是否|请问|(?<![申邀聘宴报提约呈恳])请(?![假求愿示教帖客柬战])|应该|应当|需要|必须|可以|能否|能够"
        r"|之内|以内|之前|以前|之后|以后|我们|你们|的|了|是|在|有|和|与|被|于|由|中|要|会|能|我|你"
    ),
    "ja": re.compile(
        r"なに|なん|何|いつ|どこ|誰|だれ|なぜ|どの|どう|いくら|いくつ|とは|ですか|ますか|ください|は|が|を|に|の|で|と|か"
    ),
    "ko": re.compile(r"무엇|언제|어디|누구|왜|어떻게|얼마|몇|입니까|인가요|나요|까요"),
}
"""In scripts without blanks the words alone cannot show it."""
_DONE: Final = re.compile(r"(.)[了掉过]")
_ADDRESSING_WORDS: Final = (
    "i me us please tell show give mir mich uns bitte moi je nous dime dame por favor mi ci per favore diga did does ist "
    "sind wird kann there here also dort seit weshalb wieso woher wohin womit woran worauf woraus worin wodurch wofür "
    "wogegen wonach worüber wovon wovor wozu inwiefern"
)
_ADDRESSING: Final = frozenset(_ADDRESSING_WORDS.split())
_CAPITALISED_NOUNS: Final = frozenset({"de"})
_FIGURE: Final = re.compile(r"\d")
_UNIT: Final = re.compile(
    r"\s?(?:[€$£¥%‰°]|(?:euros?|dollars?|pounds?|francs?|percent|per cent|prozent|por ciento|d[óo]lares|cents?|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|jahren?|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|jours?|heures?|semaines?|mois|ans"
    r"|people|persons?|guests?|nights?|personen|leute|personas|[kcm]?m|kg|g|l|kilo\w+|met(?:er|re)s?|metern?|metros?|miles?|degrees?|grad)\b"
    r"|[元块天年月周岁人次名个米]|小时|分钟|公里|公斤|美元|欧元)",
    re.IGNORECASE,
)
_DECADE: Final = re.compile(r"['’]?(1[5-9]|20)?(\d0)(?:['’]?s|ern?)?")
_DECADE_BEFORE: Final = re.compile(r"\b(?:años|década de(?: los)?|anni|années|anos)\s+$", re.IGNORECASE)
_YEAR: Final = re.compile(r"1[5-9]\d\d|20\d\d")
_CURRENCY: Final = frozenset("€$£¥")
_WEIGHTS: Final = {"word": 1.0, "light": 0.4, "name": 1.3, "figure": 1.3}
_NOUN, _NOT_A_NOUN = 1.3, 0.7
"""People choose other verbs than their files, rarely another noun."""
_CAPITALISED, _UNCAPITALISED = 1.5, 0.5
"""The same where capitals show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One of its `forms`, or all of its `parts`."""

    text: str
    forms: frozenset[str]
    kind: TermKind
    parts: frozenset[str] = frozenset()
    emphasis: float = 1.0

    @property
    def weight(self) -> float:
        return _WEIGHTS[self.kind] * self.emphasis


def month_forms(text: str) -> frozenset[str]:
    """The same in every language."""
    return frozenset(f"\x00month{number}" for number in months(text))


@lru_cache(maxsize=64)
def terms(question: str) -> tuple[Term, ...]:
    language = detect(question)
    spoken = (language,) if language else possible(question)
    dropped = _ADDRESSING.union(*(FUNCTION_WORDS.get(name, "").split() for name in spoken))
    asking = ASKING.get(language)
    found: dict[frozenset[str], Term] = {}
    said = asking.sub(" ", question) if asking else question
    before: tuple[str, ...] = ()
    done = frozenset(_DONE.findall(question)) if language == "zh" else frozenset[str]()
    for place, run in enumerate(_RUN.finditer(said)):
        word = run[0]
        emphasis = _emphasis(word, before, language)
        before = (*before[-1:], word.lower())
        if word.lower() in dropped and not month_forms(word):
            continue
        is_amount = _is_amount(word, said, run)
        for term in _terms_of(word, is_first=place == 0, language=language, spoken=spoken, done=done):
            weighed = replace(term, kind="light") if is_amount and term.kind == "figure" else term
            if years := _years_of_decade(word, said, run):
                weighed = replace(weighed, forms=years, parts=frozenset())
            weighed = replace(weighed, emphasis=_NOUN if term.kind in {"name", "figure"} else emphasis)
            if term.forms or term.parts:
                found.setdefault(term.forms | term.parts, weighed)
    return tuple(found.values())


def _emphasis(word: str, before: Sequence[str], language: str) -> float:
    if language in _CAPITALISED_NOUNS:
        return 1.0 if not before else _CAPITALISED if word[0].isupper() else _UNCAPITALISED
    introducing = BEFORE_NOUNS.get(language)
    if introducing is None:
        return 1.0
    if before and before[-1] in introducing:
        return _NOUN
    return 1.0 if introducing.intersection(before) else _NOT_A_NOUN


def _is_amount(word: str, said: str, run: re.Match[str]) -> bool:
    if not word.replace(".", "").replace(",", "").isdecimal() or _YEAR.fullmatch(word):
        return False
    return said[run.start() - 1 : run.start()] in _CURRENCY or bool(_UNIT.match(said, run.end()))


def _years_of_decade(word: str, said: str, run: re.Match[str]) -> frozenset[str]:
    """Passages rather name the year."""
    match = _DECADE.fullmatch(word)
    is_decade = match and (
        not word[-1].isdigit()
        or said.startswith("年代", run.end())
        or (match[1] is None and _DECADE_BEFORE.search(said, 0, run.start()))
    )
    if not match or not is_decade:
        return frozenset()
    centuries = [match[1]] if match[1] else ["19", "20"] if match[2] < "30" else ["19"]
    years = (f"{century}{match[2][0]}{year}" for century in centuries for year in range(10))
    return frozenset((*years, match[2], *(f"{century}{match[2]}s" for century in centuries)))


def _terms_of(
    word: str, *, is_first: bool, language: str, spoken: Sequence[str], done: frozenset[str]
) -> Iterator[Term]:
    if _UNSPACED.search(word):
        yield from _characters(unicodedata.normalize("NFKC", word).casefold(), language, done)
        return
    month = month_forms(word)
    kind: TermKind = "word"
    if month or _FIGURE.search(word):
        kind = "figure"
    elif word[0].isupper() and not is_first and _CAPITALISED_NOUNS.isdisjoint(spoken[:1]):
        kind = "name"
    elif word.casefold() in LIGHT_WORDS:
        kind = "light"
    forms = frozenset(_forms(word, language))
    parts = frozenset[str]()
    if kind == "figure" and len(forms) > 1 and not month:
        whole = {form for form in forms if _letters(form) == _letters(word)}
        forms, parts = frozenset(whole), forms - whole
    yield Term(text=word, forms=forms | month, kind=kind, parts=parts)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _characters(run: str, language: str, done: frozenset[str]) -> Iterator[Term]:
    spans = [match.span() for match in LIGHT_CHINESE.finditer(run)] if language == "zh" else []
    light = {place for start, end in spans for place in range(start, end)}
    for place, character in enumerate(run):
        pairs = (run[max(0, place - 1) : place + 1], run[place : place + 2])
        forms = frozenset(pair for pair in pairs if len(pair) > 1)
        is_light = place in light
        is_verb = place == len(run) - 1 and character in done
        alone = frozenset((character,)) if is_verb and forms else frozenset[str]()
        forms = forms or frozenset((character,))
        yield Term(text=character, forms=forms, kind="light" if is_light else "word", parts=alone)


def _forms(word: str, language: str) -> tuple[str, ...]:
    if not language:
        return query_tokens(word)
    return tuple(dict.fromkeys((*tokens(word, language=language), *tokens(word, language="en"))))
