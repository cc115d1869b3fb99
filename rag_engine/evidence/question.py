"""What a question asks about: its words, names and figures, each in every form that a passage may have."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.language import detect, possible
from rag_engine.text.months import months
from rag_engine.text.stop_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

TermKind = Literal["word", "light", "name", "figure"]

_GRAMS: Final = "\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_RUN: Final = re.compile(rf"[{_GRAMS}]+|[^\W{_GRAMS}]+(?:[-'’.,/:][^\W{_GRAMS}]+)*")
_UNSPACED: Final = re.compile(f"[{_GRAMS}]")
_ASKING: Final = {
    "zh": re.compile(
        r"什么时候|什么|多少|哪[些个里位种年]?|谁|怎么样?|如何|为什么|为何|何时|几|吗|呢|是否|请问|的|了|是|在|有|和|与|被|于|由|中"
    ),
    "ja": re.compile(
        r"なに|なん|何|いつ|どこ|誰|だれ|なぜ|どの|どう|いくら|いくつ|とは|ですか|ますか|ください|は|が|を|に|の|で|と|か"
    ),
    "ko": re.compile(r"무엇|언제|어디|누구|왜|어떻게|얼마|몇|입니까|인가요|나요|까요"),
}
_ADDRESSING: Final = frozenset(
    [
        "i",
        "me",
        "us",
        "please",
        "tell",
        "show",
        "give",
        "mir",
        "mich",
        "uns",
        "bitte",
        "moi",
        "je",
        "nous",
        "dime",
        "dame",
        "por",
        "favor",
        "mi",
        "ci",
        "per",
        "favore",
        "diga",
        "did",
        "does",
        "ist",
        "sind",
        "wird",
        "kann",
        "there",
        "here",
        "also",
    ]
)
_LIGHT: Final = frozenset(
    [
        "name",
        "named",
        "call",
        "called",
        "kind",
        "type",
        "sort",
        "number",
        "amount",
        "much",
        "long",
        "many",
        "happen",
        "happened",
        "take",
        "took",
        "place",
        "make",
        "made",
        "get",
        "got",
        "use",
        "used",
        "cost",
        "costs",
        "known",
        "main",
        "first",
        "last",
        "work",
        "works",
        "need",
        "needs",
        "allowed",
        "require",
        "required",
        "say",
        "says",
        "mean",
        "means",
        "belong",
        "part",
        "heißt",
        "heißen",
        "nennt",
        "genannt",
        "findet",
        "statt",
        "gibt",
        "kostet",
        "kosten",
        "darf",
        "dürfen",
        "bekommt",
        "bekam",
        "erhielt",
        "hoch",
        "lange",
        "viele",
        "art",
        "zahl",
        "anzahl",
        "beruf",
        "liegt",
        "steht",
        "macht",
        "gehört",
        "gilt",
        "bedeutet",
        "braucht",
        "welchem",
        "welchen",
        "innerhalb",
        "llama",
        "llamado",
        "llamada",
        "nombre",
        "tipo",
        "número",
        "cantidad",
        "ocurrió",
        "sucede",
        "lugar",
        "hizo",
        "hace",
        "tuvo",
        "costó",
        "cuesta",
        "significa",
        "tiene",
        "debe",
        "appelle",
        "nom",
        "nombre",
        "lieu",
        "coûte",
        "chiama",
        "nome",
        "numero",
        "luogo",
        "costa",
        "chama",
        "lugar",
        "custa",
    ]
)
"""Words that rather name what is asked for than what it is about."""
_CAPITALISED_NOUNS: Final = frozenset({"de"})
_FIGURE: Final = re.compile(r"\d")
_WEIGHTS: Final = {"word": 1.0, "light": 0.4, "name": 1.3, "figure": 1.3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of a question; a passage needs one of its `forms`."""

    text: str
    forms: frozenset[str]
    kind: TermKind

    @property
    def weight(self) -> float:
        return _WEIGHTS[self.kind]


def is_unspaced(text: str) -> bool:
    return bool(_UNSPACED.search(text))


def month_forms(text: str) -> frozenset[str]:
    """Forms of the months in a text, the same in every language."""
    return frozenset(f"\x00month{number}" for number in months(text))


@lru_cache(maxsize=64)
def terms(question: str) -> tuple[Term, ...]:
    """The words that tell the question from others, in order."""
    language = detect(question)
    spoken = (language,) if language else possible(question)
    dropped = _ADDRESSING.union(*(FUNCTION_WORDS.get(name, "").split() for name in spoken))
    asking = _ASKING.get(language)
    found: dict[frozenset[str], Term] = {}
    for place, word in enumerate(_RUN.findall(asking.sub(" ", question) if asking else question)):
        if word.lower() in dropped and not month_forms(word):
            continue
        for term in _terms_of(word, is_first=place == 0, language=language):
            if term.forms:
                found.setdefault(term.forms, term)
    return tuple(found.values())


def _terms_of(word: str, *, is_first: bool, language: str) -> Iterator[Term]:
    if _UNSPACED.search(word):
        yield from _characters(unicodedata.normalize("NFKC", word).casefold())
        return
    month = month_forms(word)
    kind: TermKind = "word"
    if month or _FIGURE.search(word):
        kind = "figure"
    elif word[0].isupper() and not is_first and language not in _CAPITALISED_NOUNS:
        kind = "name"
    elif word.casefold() in _LIGHT:
        kind = "light"
    yield Term(text=word, forms=frozenset(_forms(word, language)) | month, kind=kind)


def _characters(run: str) -> Iterator[Term]:
    """A character is there if it is with one of its neighbours: pairs across two words are in no passage."""
    for place, character in enumerate(run):
        pairs = (run[max(0, place - 1) : place + 1], run[place : place + 2])
        forms = frozenset(pair for pair in pairs if len(pair) > 1) or frozenset((character,))
        yield Term(text=character, forms=forms, kind="word")


def _forms(word: str, language: str) -> tuple[str, ...]:
    """Passages of unknown language are stemmed as English ones."""
    if not language:
        return query_tokens(word)
    return tuple(dict.fromkeys((*tokens(word, language=language), *tokens(word, language="en"))))
