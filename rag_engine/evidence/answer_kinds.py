from __future__ import annotations

import re
from typing import Final, Literal

from rag_engine.text.language.months import months
from rag_engine.text.language.stop_words import FUNCTION_WORDS

AnswerKind = Literal[
    "",
    "number",
    "money",
    "percentage",
    "duration",
    "length",
    "weight",
    "temperature",
    "date",
    "person",
    "telephone",
    "address",
]

_PATTERNS: Final[tuple[tuple[AnswerKind, str], ...]] = (
    (
        "telephone",
        r"\b(?:tele)?(?:phone|fax) (?:number|extension)\b|\b(?:telefon|fax|ruf)nummer\b|\bnúmero de (?:teléfono|fax)\b|电话|传真",
    ),
    (
        "address",
        r"\be-?mail(?:[- ]?ad+ress\w*)?\b.{0,80}\?|\b(?:what|which)\b.{0,40}\b(?:web ?site|url)\b|\bcorreo electrónico\b|邮箱|网址",
    ),
    (
        "duration",
        r"\bhow much (?!(?:do|does|did|is|are|was|were|will|can|should)\b)(?:[\w-]+ ){0,2}(?:leave|vacation|holidays?|time|notice)\b",
    ),
    (
        "money",
        r"\bhow (?:much|expensive)\b.{0,80}\b(?:costs?|pay|paid|spen[dt]|earn\w*|charged?|worth|budget|salary|price|fees?|money|invest\w*|refund\w*)\b"
        r"|\bwhat\b.{0,80}(?<!low )\b(?:costs?|prices?|salary|fees?|budget|fine)\b|\bwas kostete?t?n?\b|\bwie teuer\b|\bwie hoch (?:ist|sind|war|waren) (?:die|der|das)"
        r" (?:\w*(?:kosten|preis|gebühr|budget|strafe|umsatz|gewinn)\w*|(?:\w+s)?gehalt\b)|\bwie ?viel (?:geld|euro)\b|\bcuánto (?:cuesta|costó|costaba|cobra|gana|gastó|vale|pagó)\w*"
        r"|\bpresupuesto\b.{0,80}\?|\bcombien coût\w+|\bquanto cust\w+|\bquanto cost\w+|多少钱|多少元|价格|工资|费用",
    ),
    (
        "percentage",
        r"\b(?:what|which|how many) (?:percentage|percent|proportion)\b|\bwie ?viel prozent\b|\bwelcher (?:prozentsatz|anteil)\b"
        r"|\bqué porcentaje\b|百分之(?:多少|几)|比例|百分比|占比",
    ),
    (
        "duration",
        r"\bhow long (?:do|does|did|has|have|had|must|may|can|should|will|after|before|ago)\b|\bwie ?lange\b|\bcuánto (?:tiempo|dura|duró|tard[aó])\b"
        r"|多久|多长时间|\bcombien de temps\b|\bquanto tempo\b|\bhow many (?:years|months|weeks|days|hours|minutes|seconds)\b",
    ),
    (
        "length",
        r"\bhow (?:tall|wide|deep|far (?:is|are|was|away|apart))\b|\bwie (?:breit|tief|weit (?:ist|sind|war|entfernt))\b|\bqué (?:altura|longitud|anchura|distancia)\b"
        r"|多[高远深宽]|多长(?!时间)",
    ),
    (
        "weight",
        r"\bhow (?:heavy\b|much (?:do|does|did)\b.{0,60}\bweigh)|\bwie schwer (?:ist|sind|war|waren|wird|werden)\b|\bwie ?viel wieg\w+|\bcuánto pesa\w*|多重",
    ),
    (
        "temperature",
        r"\bhow (?:hot|cold|warm)\b|\b(?:what|which) temperatures?\b|\bwie (?:heiß|kalt|warm)\b|\bwelche[rmn]? temperatur\w*|\bqué temperatura\b|多少度|什么温度",
    ),
    (
        "number",
        r"\bhow (?:many|much|long|old|far|tall|high|large|big|fast|often|deep)\b|\b(?:what|which) (?:number|age)\b"
        r"|\bwie ?(?:viele?|hoch|groß|schwer|weit|alt|oft|tief|schnell)\b|\bwelche (?:nummer|anzahl)\b"
        r"|\bcuánt[oa]s?\b|\bqué (?:número|edad)\b|多少|几[个位人次名年岁天]|人数|数量|\bcombien\b|\bquant[oaie]s?\b",
    ),
    (
        "date",
        r"^\W*(?:\w+\W+)?when\b|\bwhen (?:is|was|are|were|do|does|did|has|have|had|will|can|must|may|should)\b|\b(?:what|which) (?:year|date|day|month|century|decade|time)\b|\bwann\b(?! hei(?:ß|ss))|\bwelche[mns]? (?:jahr|tag|monat|datum)\b|\bwie ?viel uhr\b"
        r"|\bcuándo\b|\bqué (?:año|fecha|día|mes|siglo|hora)\b|什么时候|何时|哪一?[年天日]|几[月点]|(?<!长)时间|日期|\bquand\b|\bquando\b",
    ),
    ("person", r"^\W*(?:\w+ )?(?:who|whom|wer|wem|wen|quién|quiénes|qui|chi|quem)\b|谁"),
)
_ASKED: Final[tuple[tuple[AnswerKind, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PATTERNS
)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_SPELLED: Final = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?"
    r"|dozens?|hundreds?|thousands?|millions?|billions?|half|thirds?|quarters?|once|twice|no|none|every|daily|weekly|monthly"
    r"|ein(?:e[mnrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|elf|zwölf|\w*zehn|\w+(?:zig|ßig)|\w*hundert\w*|\w*tausend\w*|kein\w*"
    r"|un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|\w+nta|veint\w+|cien\w*|\w*cientos|mil|mill[oó]n(?:es)?"
    r"|une|deux|trois|quatre|cinq|sept|huit|neuf|dix|vingt|\w+ante|cents?|mille|due|tre|quattro|cinque|sei|sette|otto|nove|dieci)\b"
    r"|[一二两三四五六七八九十百千万亿]",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:1\d|20)\d\d\b|\d{4}年|\d{1,4}[月日]|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d{1,2}:\d\d"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:century|decade|daily|siglo|jahrhundert|\w+tag)\b|世纪|年代|\b[12]?\d{3}s?\b"
    r"|\b\d{1,2} ?(?:[ap]\.?m\b|Uhr|h\b)|\d[时点]|\b(?:noon|midnight|years? (?:ago|later|after)|days? (?:before|after|of))\b"
    r"|\b(?:first|second|third|fourth|fifth|sixth|last|next|every|each) (?:working )?(?:day|week|month|quarter|year)\b"
    r"|\b(?:erste|zweite|dritte|vierte|fünfte|letzte|nächste|jede)\w* (?:\w*tag|woche|monat|quartal|jahr)",
    re.IGNORECASE,
)
_SIGNS: Final[dict[AnswerKind, re.Pattern[str]]] = {
    "money": re.compile(
        r"[$€£¥₹₽₩]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|dollars?|euros?|pounds?|francs?|pesos?|d[óo]lares|libras|yen|yuan|cents?|pence|pennies|mark|franken|gulden"
        r"|free|gratis|kostenlos|kostenfrei|millions?|billions?|mill[oó]n(?:es)?|Millionen|Milliarden)\b|元|欧|镑|[万亿]",
        re.IGNORECASE,
    ),
    "percentage": re.compile(
        r"%|‰|\bper ?cent\b|\bprozent\b|\bpor ?cien(?:to)?\b|\b(?:half|thirds?|quarters?|fifths?|hälfte|drittel|viertel|mitad|tercios?|cuartos?|majority|most"
        r"|mehrheit|mayoría|all|none|1 in \d+|one in \w+)\b|百分|[成半]|分之|\d out of \d",
        re.IGNORECASE,
    ),
    "duration": re.compile(
        r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|quarters?|years?|decades?|centur\w+|sekunden?|minuten?|stunden?|tagen?|tage[sn]?|wochen?|monate?n?"
        r"|jahre?n?|jahrhundert\w*|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|décadas?|siglos?|secondes?|heures?|jours?|semaines?|mois|ans?|années?"
        r"|ore|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|dias?|anos?)\b|[秒分时天日周月年]|\b(?:until|since|from|bis|seit|hasta|desde)\b.{0,12}\d|\b(?:\d+|ms|h|s) ?(?:ms|h|s|min)\b",
        re.IGNORECASE,
    ),
    "length": re.compile(
        r"\d\s?(?:[kcmd]?m|ft|in|mi|km)\b|[′″]|\b(?:\w*met(?:re|er)[sn]?|feet|foot|inch(?:es)?|miles?|yards?|\w*metros?|millas?|pies|seemeilen?|meilen?|stor(?:e?y|ies)|blocks?|minutes?|hours?)\b"
        r"|[米里厘尺]",
        re.IGNORECASE,
    ),
    "weight": re.compile(
        r"\d\s?(?:[km]?g|t|lbs?|oz)\b|\b(?:\w*gram(?:me)?s?|\w*gramm|\w*gramos?|kilos?|tons?|tonnes?|tonnen?|toneladas?|pounds?|pfund|libras?|ounces?|stone|zentner)\b|[克斤吨]",
        re.IGNORECASE,
    ),
    "temperature": re.compile(
        r"°|℃|\b(?:degrees?|grad|grados?|celsius|fahrenheit|kelvin)\b|\d\s?[CFK]\b|度", re.IGNORECASE
    ),
    "telephone": re.compile(r"\+?\d[\d\s/().-]{5,}\d|\b(?:ext|extension|durchwahl)\D{0,3}\d+", re.IGNORECASE),
    "address": re.compile(r"\S@\S|https?:|www\.|\b\w+\.(?:com|org|net|gov|edu|de|eu|io)\b", re.IGNORECASE),
}
_NUMERIC: Final = frozenset({"money", "duration", "length", "weight", "temperature"})
_CAPITALS: Final = "A-ZÄÖÜÁÉÍÓÚÑÀÈÇÂÊÎÔÛ"
_NAME: Final = re.compile(rf"\b[{_CAPITALS}][\w'’-]+(?: [{_CAPITALS}][\w'’.-]*)*")
_NO_NAMES: Final = frozenset(word for words in FUNCTION_WORDS.values() for word in words.split())


def asked_kind(question: str) -> AnswerKind:
    for kind, pattern in _ASKED:
        if pattern.search(question):
            return kind
    return ""


def holds(kind: AnswerKind, passage: str, question: str, *, units: bool = True) -> bool:
    """One that the question does not have itself; tables have `units` elsewhere."""
    if kind == "person":
        asked = question.casefold()
        return not passage.isascii() or any(
            _is_new_name(match[0], asked) for match in _NAME.finditer(passage)
        )
    own = set(_NUMBER.findall(question))
    numbers = any(number not in own for number in _NUMBER.findall(passage))
    if kind == "date":
        dates = any(not own.intersection(_NUMBER.findall(match[0])) for match in _DATE.finditer(passage))
        return dates or bool(months(passage) - months(question))
    if kind in _NUMERIC and not (numbers or _SPELLED.search(passage)):
        return False
    if sign := _SIGNS.get(kind):
        return bool(sign.search(passage)) or (not units and numbers)
    return kind != "number" or numbers or bool(_SPELLED.search(passage))


def _is_new_name(name: str, asked: str) -> bool:
    return name.casefold() not in asked and name.casefold() not in _NO_NAMES
