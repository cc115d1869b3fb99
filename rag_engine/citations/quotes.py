from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.citations.stated_numbers import figures, missing
from rag_engine.citations.wording_similarity import Weights, WordingSimilarity, joined
from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.sentences import split_sentences
from rag_engine.text.table_anchors import table_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk

    Span = tuple[int, int]

LONGEST_QUOTE: Final = 600
_LONGEST_GROWN: Final = 300
_SHORTEST_UNIT: Final = 12
_SHORTEST_VERBATIM: Final = 12
_IDEOGRAPH_WEIGHT: Final = 3
_GAIN: Final = 0.12
_REMOTE_GAIN: Final = 0.2
_WITHIN: Final = 0.8
_MOST_SPANS: Final = 3
_ROW: Final = lazy(lambda: re.compile(r"[^\n]+"))
_WHOLE_END: Final = lazy(lambda: re.compile(r"[^\w.,-]|[.,-](?:\W|$)|$"))
_WORD: Final = lazy(lambda: re.compile(r"[\u2e80-\uffff]|\w+"))
_LEAD: Final = lazy(lambda: re.compile(r"[\s>*_#`“\"-]*(?:\d{1,3}[.)]\s+)?"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceQuote:
    """Each line occurs word for word in the passage; `anchor` is its place, for a table the row."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    chunk: Chunk
    places: list[Span]
    """Those before `first` are a table's header."""
    first: int
    wordings: list[WordingSimilarity]
    weights: Weights

    def text(self, span: Span) -> str:
        return self.chunk.text[self.places[span[0]][0] : self.places[span[1]][1]]

    def wording(self, span: Span) -> WordingSimilarity:
        return _wording(self.text(span), self.chunk)


def units(chunk: Chunk) -> list[Span]:
    if chunk.kind in ("table", "code"):
        return [match.span() for match in _ROW.finditer(chunk.text) if match[0].strip()]
    found: list[Span] = []
    start = 0
    for sentence in split_sentences(chunk.text):
        end = start + len(sentence)
        begin = start + len(sentence) - len(sentence.lstrip())
        last = start + len(sentence.rstrip())
        if last > begin:
            if found and _joins(chunk.text, found[-1], begin):
                begin = found.pop()[0]
            found.append((begin, last))
        start = end
    return found


def _joins(text: str, unit: Span, begin: int) -> bool:
    start, end = unit
    weight = sum(
        _IDEOGRAPH_WEIGHT if sign >= "\u2e80" else 1
        for sign in text[start : min(end, start + _SHORTEST_UNIT)]
    )
    return weight < _SHORTEST_UNIT and "\n" not in text[end:begin]


def quotes(chunk: Chunk, claims: Sequence[str]) -> list[SourceQuote]:
    """In the order of the claims; at most 600 characters each."""
    places = units(chunk)
    if not places:
        return []
    wordings = [_wording(chunk.text[start:end], chunk) for start, end in places]
    passage = _Passage(
        chunk=chunk,
        places=places,
        first=_header_rows(chunk, len(places)),
        wordings=wordings,
        weights=Weights(wordings),
    )
    spans: dict[Span, str] = {}
    for claim in claims or ("",):
        for span in _row_spans(passage, claim) if chunk.kind == "table" else _spans(passage, claim):
            spans.setdefault(span, claim)
    if chunk.kind == "table":
        return [_row_quote(passage, row, claim) for (row, _), claim in spans.items()]
    return [
        SourceQuote(text=_cut(passage.text(span), claim), anchor=chunk.anchor)
        for span, claim in _merged(passage, spans).items()
    ]


def _wording(text: str, chunk: Chunk) -> WordingSimilarity:
    return WordingSimilarity.of(text, language=chunk.language)


def _merged(passage: _Passage, spans: dict[Span, str]) -> dict[Span, str]:
    merged: dict[Span, str] = {}
    for (first, last), claim in spans.items():
        for other in merged:
            both = (min(first, other[0]), max(last, other[1]))
            touches = first <= other[1] + 1 and other[0] <= last + 1
            if touches and (both == other or len(passage.text(both)) <= _LONGEST_GROWN):
                joined = {(both if span == other else span): said for span, said in merged.items()}
                joined[both] = f"{merged[other]} {claim}"
                merged = joined
                break
        else:
            merged[first, last] = claim
    return merged


def _spans(passage: _Passage, claim: str) -> list[Span]:
    verbatim = _verbatim(passage, claim)
    if verbatim is not None:
        return [verbatim]
    wanted = _wording(claim, passage.chunk)
    found = [_grown(passage, wanted, _best(passage, claim, wanted))]
    return [*found, *_further(passage, claim, wanted, found)]


def _best(passage: _Passage, claim: str, wanted: WordingSimilarity) -> int:
    scores = [
        passage.weights.overlap(wanted, passage.wordings[unit])
        + _shared_figures(claim, passage.text((unit, unit)))
        for unit in range(passage.first, len(passage.places))
    ]
    best = max(range(len(scores)), key=lambda index: (scores[index], -index))
    return passage.first + best if scores[best] > 0 else 0


def _further(passage: _Passage, claim: str, wanted: WordingSimilarity, found: Sequence[Span]) -> list[Span]:
    further: list[Span] = []
    said = joined(passage.wording(span) for span in found)
    texts = [passage.text(span) for span in found]
    while len(further) + len(found) < _MOST_SPANS:
        lacking = set(missing(claim, texts))
        now = passage.weights.overlap(wanted, said)
        gains = [
            (
                passage.weights.overlap(wanted, joined((said, passage.wordings[unit])))
                - now
                + _REMOTE_GAIN
                * (len(lacking) > len(set(missing(claim, [*texts, passage.text((unit, unit))])))),
                -unit,
            )
            for unit in range(passage.first, len(passage.places))
        ]
        gain, negative = max(gains, default=(0.0, 0))
        span = (-negative, -negative)
        if gain < _REMOTE_GAIN or span in (*found, *further):
            break
        further.append(span)
        texts.append(passage.text(span))
        said = joined((said, passage.wording(span)))
    return further


def _verbatim(passage: _Passage, claim: str) -> Span | None:
    lead = _LEAD.match(claim)
    words = claim[lead.end() if lead else 0 :].rstrip(' .。"”*_`').split()
    if sum(map(len, words)) < _SHORTEST_VERBATIM:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), passage.chunk.text)
    if found is None:
        return None
    held = [
        unit
        for unit, (start, end) in enumerate(passage.places)
        if start < found.end() and found.start() < end
    ]
    return (held[0], held[-1]) if held else None


def _grown(passage: _Passage, wanted: WordingSimilarity, unit: int) -> Span:
    first = last = unit
    while True:
        now = passage.weights.overlap(wanted, passage.wording((first, last)))
        options = [
            (_neighbour_gain(passage, wanted, now, span, added), span)
            for span, added in (((first, last + 1), last + 1), ((first - 1, last), first - 1))
            if passage.first <= added < len(passage.places)
        ]
        gain, span = max(options, default=(0.0, (first, last)))
        if gain < _GAIN:
            return first, last
        first, last = span


def _neighbour_gain(
    passage: _Passage, wanted: WordingSimilarity, now: float, span: Span, added: int
) -> float:
    length = len(passage.text(span))
    gain = passage.weights.overlap(wanted, passage.wording(span)) - now
    if length <= _LONGEST_GROWN and gain >= _GAIN:
        return gain
    is_part = passage.weights.overlap(passage.wordings[added], wanted) >= _WITHIN
    return max(gain, _GAIN) if is_part and gain > 0 and length <= LONGEST_QUOTE else 0.0


def _header_rows(chunk: Chunk, rows: int) -> int:
    if chunk.kind != "table" or rows < 2:
        return 0
    lines = table_lines(chunk.anchor, chunk.text)
    return 1 if lines is None else lines.header_lines


def _row_spans(passage: _Passage, claim: str) -> list[Span]:
    said = _said_row(passage, claim)
    wanted = _without_header(passage, _wording(claim, passage.chunk))
    best = said if said is not None else _best(passage, claim, wanted)
    if best < passage.first:
        return [(best, best)]
    return [
        (best, best),
        *_further(passage, claim, wanted, [(0, passage.first - 1)] * passage.first + [(best, best)]),
    ]


def _without_header(passage: _Passage, wanted: WordingSimilarity) -> WordingSimilarity:
    """Column names would make every row alike."""
    named = joined(passage.wordings[: passage.first]).tokens
    own = wanted.tokens - named
    if not own:
        return wanted
    pairs = frozenset(pair for pair in wanted.pairs if own.intersection(pair))
    return WordingSimilarity(tokens=own, pairs=pairs, empty=wanted.empty)


def _said_row(passage: _Passage, claim: str) -> int | None:
    said = f" {' '.join(claim.split())} "
    rows = range(passage.first, len(passage.places))
    shares = [
        sum(len(cell) for cell in _cells(passage.text((row, row))) if _is_said(cell, said)) for row in rows
    ]
    best = max(shares, default=0)
    if not best or shares.count(best) > 1:
        return None
    row = rows[shares.index(best)]
    texts = [passage.text((each, each)) for each in rows]
    elsewhere = set(missing(claim, [passage.text((row, row))])) - set(missing(claim, texts))
    return None if elsewhere else row


def _row_quote(passage: _Passage, row: int, claim: str) -> SourceQuote:
    chunk = passage.chunk
    text = passage.text((row, row))
    lines = table_lines(chunk.anchor, chunk.text)
    anchor = chunk.anchor
    if lines is not None and row >= passage.first:
        line = chunk.text.count("\n", 0, passage.places[row][0])
        anchor = lines.anchor(line, line) or chunk.anchor
    if row >= passage.first > 0:
        headed = f"{passage.text((0, passage.first - 1))}\n{text}"
        if len(headed) <= LONGEST_QUOTE:
            return SourceQuote(text=headed, anchor=anchor)
    return SourceQuote(text=_cut(text, claim), anchor=anchor)


def _cells(row: str) -> list[str]:
    return [" ".join(cell.split()) for cell in row.split(" | ") if cell.strip()]


def _is_said(cell: str, said: str) -> bool:
    start = said.find(cell)
    while start >= 0:
        before, after = said[start - 1], said[start + len(cell) : start + len(cell) + 2]
        if not (before.isalnum() or before in "-.,") and _WHOLE_END.match(after):
            return True
        start = said.find(cell, start + 1)
    return False


def _shared_figures(claim: str, unit: str) -> float:
    stated = figures(claim)
    return 0.5 * (1 - len(missing(claim, [unit])) / len(set(stated))) if stated else 0.0


def _cut(text: str, claim: str) -> str:
    if len(text) <= LONGEST_QUOTE:
        return text
    said = {word.casefold() for word in _WORD.findall(claim)}
    words = [match.span() for match in _WORD.finditer(text)]
    hits = [text[start:end].casefold() in said for start, end in words]
    best, best_count, count, right = 0, -1, 0, 0
    for left, (start, _) in enumerate(words):
        while right < len(words) and words[right][1] - start <= LONGEST_QUOTE:
            count += hits[right]
            right += 1
        if count > best_count:
            best, best_count = left, count
        count -= hits[left] if right > left else 0
        right = max(right, left + 1)
    start = words[best][0] if words else 0
    cut = text[start : start + LONGEST_QUOTE]
    if start + LONGEST_QUOTE < len(text) and text[start + LONGEST_QUOTE].isalnum() and " " in cut:
        cut = cut[: cut.rindex(" ")]
    return cut.strip()
