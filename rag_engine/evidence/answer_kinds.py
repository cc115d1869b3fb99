"""What kind of answer a question asks for, and whether a passage has one."""

from __future__ import annotations

import re
from typing import Final, Literal

from rag_engine.text.months import months

AnswerKind = Literal["", "number", "date", "person"]

_ASKED: Final[tuple[tuple[AnswerKind, re.Pattern[str]], ...]] = (
    (
        "number",
        re.compile(
            r"\bhow (?:many|much|long|old|far|tall|high|large|big|fast|often|deep)\b|\b(?:price|cost|costs|budget|salary|fee) of\b|\bwas kostete?t?\b|\bwie teuer\b|价格"
            r"|\b(?:what|which) (?:percentage|percent|number|age)\b"
            r"|\bwie ?(?:viele?|lange?|hoch|groß|schwer|weit|alt|oft|tief|schnell)\b|\bwelche (?:nummer|anzahl)\b"
            r"|\bcuánt[oa]s?\b|\bqué (?:porcentaje|número|edad)\b|多少|几[个位人次名年岁天]|人数|数量|比例|\bcombien\b|\bquant[oaie]s?\b",
            re.IGNORECASE,
        ),
    ),
    (
        "date",
        re.compile(
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|decade)\b|\bwann\b|\bwelche[mns]? (?:jahr|tag|monat|datum)\b"
            r"|\bcuándo\b|\bqué (?:año|fecha|día|mes|siglo)\b|什么时候|何时|哪一?[年天日]|时间|日期|\bquand\b|\bquando\b",
            re.IGNORECASE,
        ),
    ),
    (
        "person",
        re.compile(r"^\W*(?:\w+ )?(?:who|whom|wer|wem|wen|quién|quiénes|qui|chi|quem)\b|谁", re.IGNORECASE),
    ),
)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_SPELLED: Final = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?"
    r"|dozens?|hundreds?|thousands?|millions?|billions?|half|thirds?|quarters?|once|twice|no|none|every|daily|weekly|monthly"
    r"|ein(?:e[mnrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|elf|zwölf|\w*zehn|\w+(?:zig|ßig)|\w*hundert\w*|\w*tausend\w*|kein\w*"
    r"|un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|\w+nta|veint\w+|cien\w*|\w*cientos|mil|mill[oó]n(?:es)?"
    r"|une|deux|trois|quatre|cinq|sept|huit|neuf|dix|vingt|\w+ante|cents?|mille|due|tre|quattro|cinque|sei|sette|otto|nove|dieci)\b"
    r"|[一二两三四五六七八九十百千万亿]",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:1\d|20)\d\d\b|\d{4}年|\d{1,4}[月日]|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d{1,2}:\d\d"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:century|decade|daily|siglo|jahrhundert|\w+tag)\b|世纪|年代|\b[12]?\d{3}s?\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]+(?: [A-ZÄÖÜÁÉÍÓÚÑ][\w'’.-]*)*")


def asked_kind(question: str) -> AnswerKind:
    for kind, pattern in _ASKED:
        if pattern.search(question):
            return kind
    return ""


def holds(kind: AnswerKind, passage: str, question: str) -> bool:
    """Whether the passage has an answer of this kind that the question does not have itself."""
    if kind == "person":
        asked = question.casefold()
        return not passage.isascii() or any(
            match[0].casefold() not in asked for match in _NAME.finditer(passage)
        )
    own = set(_NUMBER.findall(question))
    numbers = any(number not in own for number in _NUMBER.findall(passage))
    if kind == "number":
        return numbers or bool(_SPELLED.search(passage))
    if kind == "date":
        dates = any(not own.intersection(_NUMBER.findall(match[0])) for match in _DATE.finditer(passage))
        return dates or bool(months(passage) - months(question))
    return True
