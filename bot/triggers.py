"""Pure: whether a message is for us, and why. What is not certain is not for us."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_engine.language import possible

if TYPE_CHECKING:
    from bot.port import IncomingMessage

Mode: TypeAlias = Literal["mention", "thread", "auto"]

_MARKS = re.compile(r"[?？؟;՞]|¿")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ADDRESS = re.compile(r"https?://\S+")
_FEWEST_CHARACTERS = 2
_FIRST_WORDS = {
    "en": "who what when where why how which whose whom is are does do did can could should would will may has have was were",
    "de": "wer was wann wo warum wieso weshalb wie welche welcher welches welchen wessen wem wen woher wohin gibt gilt darf kann können muss müssen ist sind hat habt",
    "fr": "qui que quoi quand où pourquoi comment combien quel quelle quels quelles est-ce qu'est-ce peut-on faut-il puis-je dois-je",
    "es": "quién quien qué cuándo cuando dónde donde cómo cuál cuáles cuánto cuánta cuántos cuántas hay puedo podemos",
    "it": "chi cosa che quando dove perché come quale quali quanto quanta quanti quante c'è posso possiamo",
    "pt": "quem que quando onde como qual quais quanto quanta quantos quantas posso podemos há",
    "nl": "wie wat wanneer waar waarom hoe welk welke mag kan kunnen moet is zijn heeft",
}
"""Words that a question begins with, where nobody typed its mark."""
_AMBIGUOUS = frozenset(
    (
        "is",
        "was",
        "are",
        "has",
        "have",
        "do",
        "che",
        "que",
        "quando",
        "come",
        "cuando",
        "donde",
        "como",
        "can",
        "may",
        "will",
    )
)
"""They begin many sentences that ask nothing, or stand for several languages: they count in a text that has no full stop."""
_ASKING = re.compile(
    r"(?:吗|呢|什么|怎么|为什么|哪|谁|几时|多少|ですか|ますか|でしょうか|何|どこ|いつ|なぜ|どう|誰|까\s*$|무엇|어디|언제|왜)"
)
_COURTESIES = """
    thanks thank you thx ty cheers great perfect ok okay got it cool nice danke dankeschön super alles klar passt vielen dank merci
    beaucoup parfait gracias vale perfecto grazie mille perfetto va bene obrigado obrigada valeu dank je bedankt top yes no ja nein
    oui non si sì ありがとう ありがとうございます 谢谢 好的 감사합니다
"""
_STOPS = """
    stop stopp halt anhalten arrête arrêtez para parar detente alto ferma fermati pare stoppen 停止 停 やめて 止めて
"""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Who is in a thread beside us."""

    takes_part: bool = False
    """We have answered in it."""
    people: int | None = None
    """How many people have written in it, the asker included; None where the platform did not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`why` is for the log: it holds nothing that anybody wrote."""

    ours: bool
    why: str


def screen(message: IncomingMessage, *, answered_bots: frozenset[str] = frozenset()) -> Verdict | None:
    """What can be said of a message by itself; None where it depends on the place."""
    if message.ours:
        return Verdict(ours=False, why="our own message")
    if message.by_bot and message.person.id not in answered_bots:
        return Verdict(ours=False, why="another bot")
    if message.addressed:
        return None if message.by_bot else Verdict(ours=True, why="addressed")
    if message.by_bot:
        return Verdict(ours=False, why="a bot that does not address us")
    if message.to_others:
        return Verdict(ours=False, why="addressed to others")
    return None


def decide(message: IncomingMessage, *, mode: Mode, company: Company) -> Verdict:
    """Whether a message that passed `screen` and does not address us is for us in a place of that mode."""
    if mode == "mention":
        return Verdict(ours=False, why="not addressed, in a place where only that counts")
    if message.in_thread:
        return _in_thread(message, company)
    if mode == "thread":
        return Verdict(ours=False, why="not addressed, outside threads")
    if message.attachments:
        return Verdict(ours=True, why="files, in a place where everything is answered")
    if is_question(message.text):
        return Verdict(ours=True, why="a question, in a place where everything is answered")
    return Verdict(ours=False, why="no question")


def _in_thread(message: IncomingMessage, company: Company) -> Verdict:
    if not company.takes_part:
        return Verdict(ours=False, why="a thread we have no part in")
    if company.people is None:
        return Verdict(ours=False, why="not addressed, and nobody knows who else is in the thread")
    if company.people > 1:
        return Verdict(ours=False, why="not addressed, among several people")
    if not message.attachments and is_courtesy(message.text):
        return Verdict(ours=False, why="only a courtesy")
    return Verdict(ours=True, why="a thread with one person")


def is_question(text: str) -> bool:
    """Whether a text asks something: by its mark, or by how it begins in one of the languages that are known here."""
    plain = _ADDRESS.sub(" ", _CODE.sub(" ", text)).strip()
    if len(plain) < _FEWEST_CHARACTERS:
        return False
    if _asks_by_mark(plain) or _ASKING.search(plain):
        return True
    words = _WORD.findall(plain.casefold())
    if len(words) < _FEWEST_CHARACTERS:
        return False
    first = words[0].replace("’", "'")
    if first in _AMBIGUOUS and re.search(r"[.!。！]", plain):
        return False
    languages = possible(plain) or ("en",)
    return any(first in _FIRST_WORDS.get(language, "").split() for language in languages)


def _asks_by_mark(plain: str) -> bool:
    """A mark that ends a word; a Greek semicolon only behind Greek."""
    for found in _MARKS.finditer(plain):
        before = plain[: found.start()].rstrip()
        if found.group() == ";":
            if before and "\u0370" <= before[-1] <= "\u1fff":
                return True
        elif (
            found.group() == "¿" or (before and before[-1].isalnum()) or (before and before[-1] in "\"'”»)*_")
        ):
            return True
    return False


def is_courtesy(text: str) -> bool:
    """Whether a text only thanks or agrees, or has no word at all."""
    words = _WORD.findall(text.casefold())
    if not words:
        return not _MARKS.search(text)
    courtesies = _COURTESIES.split()
    return all(word in courtesies for word in words)


def is_stop(text: str) -> bool:
    """Whether a text says only that we should stop."""
    words = _WORD.findall(text.casefold())
    return len(words) == 1 and words[0] in _STOPS.split()
