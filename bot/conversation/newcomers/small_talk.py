from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bot.messages.names import Sentence
    from bot.port import IncomingMessage

Kind: TypeAlias = Literal["help", "greeting", "thanks"]
REPLIES: Final[Mapping[Kind, Sentence]] = {
    "help": "welcome",
    "greeting": "greeting",
    "thanks": "you_are_welcome",
}

_LONGEST: Final = 200
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_EMOJI_CODE: Final = re.compile(r":[a-z0-9_+'-]{1,60}:")
_MENTION: Final = re.compile(r"[@#][^\s@#]{1,80}")
_SILENT: Final = re.compile(r"[\W_]+")
_SPACED: Final = "[0-9a-z\u00c0-\u058f]"
_MARKS: Final = "?？؟"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTalk:
    """`languages` (ISO 639-1) know all its words."""

    kind: Kind
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    spaced: bool
    greeting: frozenset[str]
    wellbeing: frozenset[str]
    """Courteous questions after how somebody is."""
    thanks: frozenset[str]
    agreement: frozenset[str]
    filling: frozenset[str]
    help: frozenset[str]
    presenting: frozenset[str]


def small_talk(text: str) -> SmallTalk | None:
    """None if it may be a question."""
    plain = _normalized(text)
    if len(plain) > _LONGEST:
        return None
    if not _SILENT.sub("", plain):
        kind: Kind = "greeting"
        if _has_mark(plain):
            kind = "help"
        return SmallTalk(kind=kind) if text.strip() else None
    found: dict[str, Kind] = {
        code: known for code, language in _languages().items() if (known := _kind(plain, language))
    }
    return SmallTalk(kind=next(iter(found.values())), languages=tuple(found)) if found else None


def is_courtesy(text: str) -> bool:
    """It only thanks or agrees, or has no words."""
    plain = _normalized(text)
    if len(plain) > _LONGEST:
        return False
    if not _SILENT.sub("", plain):
        return not _has_mark(plain)
    return any(
        _consists_of(plain, language, (language.thanks, language.agreement), language.filling)
        for language in _languages().values()
    )


def question_in(message: IncomingMessage) -> str:
    """Empty if the text only presents files."""
    text = message.text.strip()
    names = [attachment.name for attachment in message.attachments]
    return "" if names and only_presents(text, names) else text


def only_presents(text: str, names: Sequence[str]) -> bool:
    """No words of its own beyond "here they are"."""
    plain = _normalized(text)
    for name in names:
        for shown in (name, Path(name).stem):
            plain = _without_name(plain, _normalized(shown))
    if len(plain) > _LONGEST:
        return False
    if not _SILENT.sub("", plain):
        return True
    agreeing = not _has_mark(plain)
    return any(
        _consists_of(
            plain,
            language,
            (
                language.presenting,
                language.greeting,
                language.thanks,
                language.filling,
                language.agreement if agreeing else frozenset(),
            ),
        )
        for language in _languages().values()
    )


def _without_name(plain: str, name: str) -> str:
    return re.sub(f"(?<!{_SPACED}){re.escape(name)}(?!{_SPACED})", " ", plain) if name else plain


def _kind(plain: str, language: _Language) -> Kind | None:
    joined = " ".join(_WORD.findall(plain)) if language.spaced else _SILENT.sub("", plain)
    if (rest := _without_wellbeing(joined, language)) != joined and _is_polite(rest, language):
        return "greeting"
    without_filling = _without_greeting(joined, language)
    if joined in language.help or without_filling in language.help:
        return "help"
    courteous, filling = (language.greeting, language.thanks, language.agreement), language.filling
    if _has_mark(plain):
        courteous, filling = (language.greeting, language.thanks), frozenset[str]()
    if not _consists_of(plain, language, courteous, filling):
        return None
    if _contains(plain, language, language.thanks):
        return "thanks"
    return "greeting" if _contains(plain, language, language.greeting) else "thanks"


def _without_wellbeing(joined: str, language: _Language) -> str:
    if not language.spaced:
        return _stripped(joined, language.wellbeing)
    words, rest = joined.split(), list[str]()
    longest = max(len(phrase.split()) for phrase in language.wellbeing)
    at = 0
    while at < len(words):
        sizes = range(longest, 0, -1)
        size = next((n for n in sizes if " ".join(words[at : at + n]) in language.wellbeing), 0)
        if not size:
            rest.append(words[at])
        at += size or 1
    return " ".join(rest)


def _is_polite(rest: str, language: _Language) -> bool:
    polite = (language.greeting, language.thanks, language.agreement, language.filling)
    return not rest or _consists_of(rest, language, polite)


def _without_greeting(joined: str, language: _Language) -> str:
    if not language.spaced:
        return _stripped(joined, language.greeting)
    words = joined.split()
    while words and (words[0] in language.greeting or words[0] in {"footnote", "bot"}):
        words.pop(0)
    while words and words[-1] in {"footnote", "bot", *language.thanks}:
        words.pop()
    return " ".join(words)


def _consists_of(
    plain: str,
    language: _Language,
    meaning: Iterable[frozenset[str]],
    filling: frozenset[str] = frozenset(),
) -> bool:
    meant = frozenset[str]().union(*meaning)
    if language.spaced:
        words = _WORD.findall(plain)
        return all(word in meant or word in filling for word in words) and any(
            word in meant for word in words
        )
    packed = _SILENT.sub("", plain)
    return not _stripped(packed, meant | filling) and bool(_stripped(packed, filling))


def _contains(plain: str, language: _Language, words: frozenset[str]) -> bool:
    if language.spaced:
        return any(word in words for word in _WORD.findall(plain))
    packed = _SILENT.sub("", plain)
    return any(word in packed for word in words)


def _stripped(packed: str, phrases: frozenset[str]) -> str:
    if not phrases:
        return packed
    longest = max(map(len, phrases))
    rest: list[str] = []
    at = 0
    while at < len(packed):
        size = next((n for n in range(longest, 0, -1) if packed[at : at + n] in phrases), 0)
        if not size:
            rest.append(packed[at])
        at += size or 1
    return "".join(rest)


def _has_mark(plain: str) -> bool:
    return any(mark in plain for mark in _MARKS)


def _normalized(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text[: 4 * _LONGEST]).casefold().replace("’", "'")
    return _MENTION.sub(" ", _EMOJI_CODE.sub(" ", plain)).replace("-", " ").strip()


@cache
def _languages() -> Mapping[str, _Language]:
    data = tomllib.loads(Path(__file__).with_name("small_talk.toml").read_text(encoding="utf-8"))
    return {code: _language(lists) for code, lists in data.items()}


def _language(lists: Mapping[str, str | list[str]]) -> _Language:
    spaced = isinstance(lists["greeting"], str)
    sets = {
        name: frozenset(
            _normalized(each) if spaced else _SILENT.sub("", _normalized(each))
            for each in (value.split() if isinstance(value, str) else value)
        )
        - {""}
        for name, value in lists.items()
    }
    return _Language(spaced=spaced, **sets)
