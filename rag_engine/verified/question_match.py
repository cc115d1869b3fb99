"""Vectors find paraphrases, but another year, place, product or a negation hardly moves them: these must agree, and
questions in nearly the same words may differ in synonyms alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.evidence.question import Term, month_forms, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEAST_SIMILAR: Final = 0.55
"""Relative to the embedder's contrast."""
_SYNONYMS: Final = 0.65
_LINKED: Final = 0.7
_SAME_FRAME: Final = 0.6
_ONE_CHANGE: Final = 0.4
_SPELLED_ALIKE: Final = 0.85
_WORD: Final = re.compile(r"\w+(?:[-.,/]\w+)*")
_ACRONYM: Final = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")
_PLAIN: Final = frozenset({"OK", "I"})
_NUMBERS: Final = {
    word: str(number % 13)
    for number, word in enumerate(
        [
            "zero",
            "-",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "zeroth",
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
        ]
    )
    if word != "-"
}
_DAYS: Final = frozenset(
    f"{day}{end}"
    for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    for end in ("", "s")
)
_NEGATIONS: Final = frozenset(
    [
        "not",
        "no",
        "never",
        "cannot",
        "nor",
        "neither",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keiner",
        "nie",
        "ne",
        "pas",
        "jamais",
        "nunca",
        "non",
        "niet",
        "geen",
        "não",
        "nem",
    ]
)
_CONTRACTED: Final = re.compile(r"n['’]t\b")
_APART: Final = tuple(
    frozenset(group.split())
    for group in (
        "enable disable",
        "activate deactivate",
        "start end begin stop starts ends",
        "before after during",
        "minimum maximum",
        "least most",
        "min max",
        "open close opened closed",
        "with without",
        "include exclude",
        "internal external",
        "inbound outbound",
        "incoming outgoing",
        "buy sell",
        "add remove",
        "install uninstall",
        "upload download",
        "paid unpaid",
        "paid free",
        "staging production development testing",
        "windows mac macos linux ios android",
        "daily weekly monthly quarterly yearly annually",
        "fathers mothers grandparents",
        "deposit withdraw",
        "import export",
        "send receive",
        "upgrade downgrade",
        "employer employee",
        "public private",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """`pairs`: for each changed word, its possible synonyms."""

    same_words: bool
    pairs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    links: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """If they share no word that matters: one link must hold."""

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for one, others in (*self.pairs, *self.links) for word in (one, *others))


def has_same_words(asked: str, verified: str) -> bool:
    return _tokens(asked) == _tokens(verified)


def differences(asked: str, verified: str) -> Differences | None:
    """None if they ask something else whatever their vectors say."""
    ours, theirs = _tokens(asked), _tokens(verified)
    if has_same_words(asked, verified):
        return Differences(same_words=True)
    if _figures(asked) != _figures(verified):
        return None
    if _is_negated(asked, theirs) != _is_negated(verified, ours):
        return None
    if _are_opposite(frozenset(ours), frozenset(theirs)) or _is_swapped(ours, theirs):
        return None
    found = (
        _unmatched_names(asked, verified),
        _unmatched_names(verified, asked),
        _replaced(asked, verified),
    )
    pairs = [pair for each in found for pair in each or ()]
    links = _links(asked, verified)
    return None if None in found else Differences(same_words=False, pairs=tuple(pairs), links=links)


def are_same(found: Differences, cosine: float, similarity: Callable[[str, str], float]) -> bool:
    """`cosine` of the questions, `similarity` of two of `found.words`."""
    if found.same_words:
        return True
    if found.links and not any(
        similarity(one, other) >= _LINKED for one, others in found.links for other in others
    ):
        return False
    return cosine >= LEAST_SIMILAR and all(
        any(similarity(one, other) >= _SYNONYMS for other in others) for one, others in found.pairs
    )


def spelled_out(asked: str, verified: str) -> str:
    """With the words of the other question in place of their initials."""
    words = list(re.finditer(r"\w+", verified))
    for acronym in dict.fromkeys(_ACRONYM.findall(asked)):
        size = len(acronym)
        for start in range(len(words) - size + 1):
            meant = words[start : start + size]
            if "".join(word[0][0] for word in meant).casefold() == acronym.casefold():
                full = verified[meant[0].start() : meant[-1].end()]
                asked = re.sub(rf"\b{acronym}\b", lambda _, full=full: full, asked)
                break
    return asked


@lru_cache(maxsize=512)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(text.replace("’", "'")))


def _figures(text: str) -> frozenset[str]:
    found: set[str] = set()
    for place, token in enumerate(_tokens(text)):
        month = month_forms(token) if place and token not in {"may", "march"} else frozenset[str]()
        if month or token in _DAYS:
            found |= month or {token.removesuffix("s")}
        elif token in _NUMBERS:
            found.add(_NUMBERS[token])
        elif any(map(str.isdigit, token)):
            found.add(re.sub(r"[.,](?=\d{3}\b)", "", token))
    return frozenset(found)


def _is_negated(text: str, other: Sequence[str]) -> bool:
    words = _tokens(text)
    denied = any(word.startswith("un") and word[2:] in other for word in words)
    return denied or bool(_CONTRACTED.search(text.casefold())) or not _NEGATIONS.isdisjoint(words)


def _are_opposite(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    return any((ours & group) and (theirs & group) and not (ours & theirs & group) for group in _APART)


def _is_swapped(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    if len(ours) != len(theirs):
        return False
    changed = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    return len(changed) == 2 and changed[0] == changed[1][::-1]


def _only(asked: str, other: str) -> list[Term]:
    known = frozenset[str]().union(*(term.forms | term.parts for term in terms(other)))
    return [term for term in terms(asked) if known.isdisjoint(term.forms | term.parts)]


def _unmatched_names(one: str, other: str) -> list[tuple[str, tuple[str, ...]]] | None:
    pairs: list[tuple[str, tuple[str, ...]]] = []
    candidates = _only(other, one)
    for term in _only(one, other):
        if term.kind != "name" or term.text in _PLAIN or _is_title(term.text, one):
            continue
        if any(_is_spelled_alike(term.text, each.text) for each in candidates):
            continue
        words = tuple(each.text for each in candidates if each.kind != "name")
        if not (_ACRONYM.fullmatch(term.text) and words):
            return None
        pairs.append((term.text, words))
    return pairs


def _is_spelled_alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.casefold(), other.casefold()).ratio() >= _SPELLED_ALIKE


def _is_title(word: str, text: str) -> bool:
    return bool(re.search(rf"(?:^|[.?!:]\s+){re.escape(word)}\b", text)) and not word.isupper()


def _links(asked: str, verified: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    ours, theirs = _mattering(terms(asked)), _mattering(terms(verified))
    if any(one.forms & other.forms for one in ours for other in theirs):
        return ()
    others = tuple(other.text for other in theirs)
    return tuple((one.text, others) for one in ours)


def _mattering(found: Sequence[Term]) -> list[Term]:
    return [term for term in found if term.kind != "light"]


def _replaced(asked: str, verified: str) -> list[tuple[str, tuple[str, ...]]] | None:
    ours, theirs = _tokens(asked), _tokens(verified)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    least = _ONE_CHANGE if [change[0] for change in changes] == ["replace"] else _SAME_FRAME
    if matcher.ratio() < least:
        return []
    heavy_ours, heavy_theirs = _heavy(asked, verified), _heavy(verified, asked)
    pairs: list[tuple[str, tuple[str, ...]]] = []
    left: list[str] = []
    for _, start, end, from_, to in changes:
        mine = [word for word in ours[start:end] if word in heavy_ours]
        other = [word for word in theirs[from_:to] if word in heavy_theirs]
        if mine and other:
            pairs += [(word, tuple(other)) for word in mine]
            pairs += [(word, tuple(mine)) for word in other if len(other) >= len(mine)]
        else:
            left += (*mine, *other)
    return None if left else pairs


def _heavy(one: str, other: str) -> frozenset[str]:
    found = (term.text for term in _only(one, other) if term.kind in ("word", "name"))
    return frozenset(token for text in found for token in _tokens(text))
