"""Lossless, by rules for many scripts; every look-around is bounded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREAK = "\n\r\f\v\x85\u2028\u2029"
_FULL_STOPS = "。？！；｡।॥۔؟።‽"
_CLOSERS = r"\"'”’»›)\]}）】』」》〉*_~`"
_MARKER = r"(?:[ \t]?[\[【]\^?\d{1,3}(?:, ?\d{1,3}){0,3}[\]】])"

_CANDIDATE = lazy(
    lambda: re.compile(
        rf"(?P<stop>[.?!…．{_FULL_STOPS}]++)(?P<closers>[{_CLOSERS}]*+{_MARKER}*+)(?P<gap>\s*+)"
        rf"|(?P<line>[{_BREAK}]\s*+)"
    )
)
_PAIR = lazy(lambda: re.compile(rf"[(\[（【)\]）】{_BREAK}]"))
_LONGEST_BRACKET = 240

_TOKEN_BEFORE = lazy(lambda: re.compile(r"[^\s(\[{\"'“„«‹/*_,;:]*\Z"))
_WORD_AFTER = lazy(lambda: re.compile(r"[(\[{（【「『\"'“„‘«‹¿¡*_~`]{0,4}(\w{0,24})"))
_BLOCK_START = lazy(
    lambda: re.compile(
        r"[ \t]{0,12}(?:[-*+•‣–][ \t]|\d{1,3}[.)][ \t]|[a-zA-Z][)][ \t]|#{1,6}[ \t]|>|\||```|~~~|\[[ xX]\])"
    )
)
_TABLE_ROW = lazy(lambda: re.compile(r"[ \t]{0,12}\|"))
_BLOCK_LINE = lazy(lambda: re.compile(r"[ \t]{0,12}(?:#{1,6}[ \t]|\||```|~~~)"))
_LIST_NUMBER = lazy(lambda: re.compile(r"\s*(?:[>*_#-]\s*){0,4}(?:\d{1,3}|[a-zA-Z]|[IVXivx]{1,5})\Z"))
_DOTTED = lazy(lambda: re.compile(r"(?:\w{1,2}\.)+\w{1,2}\Z"))
_TEMPORAL = lazy(lambda: re.compile(r"\d{1,2}[.\s]|\d{4}\b"))
_PLAIN_GAPS = frozenset({"", " "})
_SHORT_LINE = 48


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the last word of a sentence.
_BEFORE_NAME = _words(
    "mr mrs ms mx dr prof st mt rev hon gen col lt sgt capt cmdr gov sen rep pres supt messrs vs viz eg ie cf approx resp incl excl "
    "bzw ca evtl ggf hr fr frl inkl exkl sog vgl zzgl bzgl dipl ing geb gest insb zb dh ua "
    "sra srta dra dña ud uds lic excmo aprox pej ej mm mme mmes mlle mlles mgr env e.g i.e z.b d.h u.a p.ej p.ex i.d.r o.ä v.a s.o s.u"
)
# Not the last word before a number.
_BEFORE_NUMBER = _words(
    "no nos nr núm num fig figs eq eqs sec sect ch chap chapt cap vol vols ed p pp pg pág págs s art arts abs abschn ziff kap bd "
    "abb tab tel ext rev ver v max min § par para ln anm n nº n° bl seite"
)
# If the next word typically starts one.
_MAY_END = _words(
    "etc usw inc ltd co corp llc plc jr sr bros al et mio mrd tsd jh jhd bc ad jan feb mar apr jun jul aug sep sept oct okt nov dec dez "
    "mon tue tues wed thu thur thurs fri sat sun mo di mi do sa so dept univ assn ave blvd rd str est gmbh uu ee usa"
)
_STARTERS = _words(
    "the a an it its he she they we you i this that these those there here his her their our my in on at by for from to with as if "
    "when while after before since but and or so however then thus although because what who why how where no not all some many most "
    "der die das den dem ein eine einer es er sie wir ihr ich dies diese dieser dieses im am zum zur bei mit nach seit von vor auf aus "
    "für und oder aber doch wenn als wie was wer warum auch nicht alle el la los las un una unos unas él ella ellos ellas esto esta este "
    "en con por para de del al desde según pero y o si cuando como qué quién no se su sus le les un une des il elle ils elles on nous "
    "vous ce cette ces dans avec pour par sur du au aux mais et ou quand comme que qui son sa ses"
)
_AFTER_ORDINAL = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts jahrhunderte "
    "jahrestag jahrtausend platz mal klasse auflage geburtstag tag tage woche monat stock etage lebensjahr weltkrieg quartal halbjahr "
    "kapitel kongress runde stelle januar jan feb mär apr jun jul aug sep okt nov dez"
)


def split_sentences(text: str) -> list[str]:
    """Their concatenation is `text`."""
    cuts = list(_boundaries(text))
    starts = [0, *cuts]
    return [text[start:end] for start, end in zip(starts, [*cuts, len(text)], strict=True) if start < end]


def _boundaries(text: str) -> Iterator[int]:
    bracketed = _bracketed(text)
    inside = next(bracketed, None)
    start = 0
    for candidate in _CANDIDATE.finditer(text):
        position = candidate.start()
        while inside is not None and inside[1] <= position:
            inside = next(bracketed, None)
        end = _end(text, candidate)
        if end <= start or end >= len(text):
            continue
        if _closes_line(text, start, candidate) or (
            candidate["line"] is None
            and (
                inside is None or not inside[0] < position < inside[1] or candidate.end("closers") > inside[1]
            )
            and _closes_sentence(text, start, candidate)
        ):
            yield end
            start = end


def _end(text: str, candidate: re.Match[str]) -> int:
    end = candidate.end()
    gap_start = candidate.start("gap") if candidate["line"] is None else candidate.start("line")
    gap = text[gap_start:end]
    if gap in _PLAIN_GAPS:
        return end
    last_break = max(map(gap.rfind, _BREAK), default=-1)
    return gap_start + last_break + 1 if last_break >= 0 else end


def _bracketed(text: str) -> Iterator[tuple[int, int]]:
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for match in _PAIR.finditer(text):
        sign = match[0]
        if sign in "([（【":
            opened.append(match.start())
        elif sign in ")]）】":
            if opened and match.start() - opened[-1] <= _LONGEST_BRACKET:
                pair = (opened.pop(), match.start())
                while pairs and pairs[-1][0] > pair[0]:
                    pairs.pop()
                pairs.append(pair)
        else:
            opened.clear()
    yield from pairs


def _closes_line(text: str, start: int, candidate: re.Match[str]) -> bool:
    gap = candidate["gap"] if candidate["line"] is None else candidate["line"]
    if gap in _PLAIN_GAPS:
        return False
    breaks = gap.replace("\r\n", "\n").translate(_ONE_BREAK).count("\n")
    if breaks == 0:
        return False
    if breaks > 1:
        return True
    following = _end(text, candidate)
    if _BLOCK_START.match(text, following):
        return True
    line_start = max(
        text.rfind(sign, max(start, candidate.start() - 400), candidate.start()) for sign in "\n\r"
    )
    line_start = max(line_start + 1, start)
    if _BLOCK_LINE.match(text, line_start):
        return True
    if candidate["line"] is None or candidate.start() - line_start > _SHORT_LINE:
        return False
    after = text[following : following + 16].lstrip()[:1]
    return not after.islower() and text[candidate.start() - 1 : candidate.start()] not in {
        ",",
        "，",
        "、",
        "-",
    }


_ONE_BREAK = {ord(sign): "\n" for sign in _BREAK}


def _closes_sentence(text: str, start: int, candidate: re.Match[str]) -> bool:
    stop, gap = candidate["stop"], candidate["gap"]
    after = text[candidate.end() : candidate.end() + 1]
    if any(sign in _FULL_STOPS for sign in stop):
        # A quotation that continues: 「…。」と言った.
        return gap != "" or not ("ぁ" <= after <= "ゟ" and candidate["closers"] != "")
    if not gap or _TABLE_ROW.match(text, start):
        return False
    word_match = _WORD_AFTER.match(text, candidate.end())
    word = word_match[1] if word_match else ""
    if word[:1].islower():
        return False
    if stop in {".", "．"} and candidate["closers"] in {"", "*", "**", "_"}:
        return not _is_abbreviation(text, start, candidate.start(), word)
    return True


def _is_abbreviation(text: str, start: int, position: int, word: str) -> bool:
    nearby = text[max(start, position - 24) : position]
    if position - start <= 24 and _LIST_NUMBER.fullmatch(nearby):
        return True
    found = _TOKEN_BEFORE.search(nearby)
    before = found[0] if found else ""
    lowered = before.lower()
    following = word.lower()
    if before.isdigit():
        return len(before) <= 2 and (
            following in _AFTER_ORDINAL
            or (word[:1].isdigit() and _TEMPORAL.match(text, position + 2) is not None)
        )
    if lowered in _BEFORE_NAME:
        return True
    if lowered in _BEFORE_NUMBER and word[:1].isdigit():
        return True
    if lowered in _MAY_END or _DOTTED.match(before):
        return bool(word) and following not in _STARTERS
    if len(before) == 1 and before.isalpha() and before != "I":
        return bool(word) and (word[0].isdigit() or word[0].isupper()) and following not in _STARTERS
    return False
