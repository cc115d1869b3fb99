"""If uncertain, a message is not for us."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.conversation.newcomers.small_talk import is_courtesy, question_in, small_talk
from rag_engine.text.language import possible

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
    "ru": "кто что когда где куда откуда почему зачем как какой какая какое какие сколько чей чья чьё чьи можно нужно ли",
}
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
        "что",
        "как",
        "когда",
    )
)
"""They also begin statements, so the text must have no full stop."""
_ASKING = re.compile(
    r"(?:吗|呢|什么|怎么|为什么|哪|谁|几时|多少|ですか|ますか|でしょうか|何|どこ|いつ|なぜ|どう|誰|까\s*$|무엇|어디|언제|왜|얼마나|어떻게|[나까]요\s*$|[는은인]가요\s*$)"
)
_STOPS = """
    stop stopp halt anhalten arrête arrêtez para parar detente alto ferma fermati pare stoppen 停止 停 やめて 止めて
    стоп остановись остановитесь хватит 중지 정지 멈춰 그만
"""
_NEW_TOPICS = """
    /new; new topic; new chat; new conversation; start over; neues thema; neue unterhaltung; von vorn; nouveau sujet;
    nouvelle conversation; nuevo tema; nueva conversación; nuovo argomento; nuova conversazione; novo assunto; novo tópico;
    nova conversa; nieuw onderwerp; nieuw gesprek; 新话题; 新對話; 新对话; 新しい話題; 새 주제; 새로운 주제; 새 대화;
    новая тема; новый разговор; сначала
"""
_READ_ALOUD = """
    /speak; read aloud; read it aloud; read that aloud; read this aloud; read it out; read that out; lies vor; vorlesen; lies es vor;
    lies das vor; lis à voix haute; lis ça à voix haute; lisez à voix haute; lee en voz alta; léelo en voz alta; leggi ad alta voce;
    leggilo ad alta voce; lê em voz alta; leia em voz alta; lees voor; lees het voor; lees dat voor; voorlezen; 朗读; 朗讀; 读出来; 念给我听;
    読み上げて; 読み上げてください; 소리 내어 읽어 줘; 소리 내어 읽어줘; 읽어 줘; прочитай вслух; прочитайте вслух; читай вслух
"""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadMembers:
    includes_us: bool = False
    people: int | None = None
    """Includes the asker; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    ours: bool
    why: str


def screen(message: IncomingMessage, *, answered_bots: frozenset[str] = frozenset()) -> Verdict | None:
    """None if it depends on the place."""
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


def decide(message: IncomingMessage, *, mode: Mode, members: ThreadMembers) -> Verdict:
    if mode == "mention":
        return Verdict(ours=False, why="not addressed, in a place where only that counts")
    if message.in_thread:
        return _in_thread(message, members)
    if mode == "thread":
        return Verdict(ours=False, why="not addressed, outside threads")
    if message.files:
        return Verdict(ours=True, why="files, in a place where everything is answered")
    if is_question(message.text) and small_talk(message.text) is None:
        return Verdict(ours=True, why="a question, in a place where everything is answered")
    return Verdict(ours=False, why="no question")


def _in_thread(message: IncomingMessage, members: ThreadMembers) -> Verdict:
    if not members.includes_us:
        return Verdict(ours=False, why="a thread we have no part in")
    if message.files and not (question_in(message) or message.voices):
        return Verdict(ours=True, why="only files, in a thread we take part in")
    if members.people is None:
        return Verdict(ours=False, why="not addressed, and nobody knows who else is in the thread")
    if members.people > 1:
        return Verdict(ours=False, why="not addressed, among several people")
    if not message.attachments and is_courtesy(message.text):
        return Verdict(ours=False, why="only a courtesy")
    return Verdict(ours=True, why="a thread with one person")


def is_question(text: str) -> bool:
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


def is_stop(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    return len(words) == 1 and words[0] in _STOPS.split()


def is_new_topic(text: str) -> bool:
    return _is_one_of(text, _NEW_TOPICS)


def is_read_aloud(text: str) -> bool:
    return _is_one_of(text, _READ_ALOUD)


def _is_one_of(text: str, phrases: str) -> bool:
    plain = " ".join(text.casefold().strip(" \t\n.!。！\"'`").split())
    return plain in {" ".join(phrase.split()) for phrase in phrases.split(";")}
