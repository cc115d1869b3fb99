"""After the stream: the final text and its citations. Shown text never changes; markers may be added."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rag_engine.citations.claims import blocks, claims
from rag_engine.citations.marker_placement import MOST_MARKERS, CitationNumbering, Mark
from rag_engine.citations.numbers import missing
from rag_engine.citations.quotes import place, quote
from rag_engine.citations.semantic_support import supports
from rag_engine.types import Citation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.citations.claims import Claim
    from rag_engine.citations.marker_stream import DraftAnswer
    from rag_engine.citations.semantic_support import Support
    from rag_engine.ports import Embedder
    from rag_engine.types import DocumentId, Hit

_LONGEST_STATEMENT: Final = 300
_MOST_STATEMENTS: Final = 8
_THREAD: Final = ThreadPoolExecutor(1, thread_name_prefix="citing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """The final answer."""

    text: str
    marks: tuple[Mark, ...]
    citations: tuple[Citation, ...]
    """Ordered by number, then by first use; passages of one document share a number."""
    grounded: bool
    report: Mapping[str, object]
    """JSON values for the trace."""
    fallbacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    words: str
    passages: tuple[int, ...]
    states: bool


async def finish(draft: DraftAnswer, passages: Sequence[Hit], *, question: str, embedder: Embedder) -> Cited:
    """The model's own citations, or if it gave none, citations found by comparing each claim with the passages.

    The comparison takes one embedder call; without vectors it uses wording alone and reports a fallback.
    """
    if draft.marks or not passages or not draft.text:
        return await _apart(partial(_cited_by_model, draft, passages))
    found, fallbacks = await supports(draft.text, passages, question=question, embedder=embedder)
    return await _apart(partial(_cited_by_comparison, draft, passages, found, fallbacks))


async def _apart(work: Callable[[], Cited]) -> Cited:
    """One answer at a time, off the event loop: parallel threads of pure Python would block the loop (200 ms when twenty answers
    end at once).
    """
    return await asyncio.get_running_loop().run_in_executor(_THREAD, work)


def _cited_by_model(draft: DraftAnswer, passages: Sequence[Hit]) -> Cited:
    statements = _marked_statements(draft.text, draft.marks)
    cited = _citations(draft.marks, statements, passages)
    return Cited(
        text=draft.text,
        marks=draft.marks,
        citations=cited,
        grounded=bool(cited),
        report=_report(draft, "model" if draft.marks else "nobody", draft.marks, statements, (), passages),
    )


def _cited_by_comparison(
    draft: DraftAnswer, passages: Sequence[Hit], found: Sequence[Support], fallbacks: tuple[str, ...]
) -> Cited:
    statements = [
        _Statement(
            words=draft.text[support.claim.start : support.claim.end],
            passages=support.passages,
            states=support.claim.states,
        )
        for support in found
    ]
    thresholds = tuple(support.threshold for support in found if support.passages)
    text, marks = _inserted(draft.text, found, passages)
    cited = _citations(marks, statements, passages)
    return Cited(
        text=text,
        marks=marks,
        citations=cited,
        grounded=bool(cited),
        report=_report(draft, "comparison" if marks else "nobody", marks, statements, thresholds, passages),
        fallbacks=fallbacks,
    )


def _marked_statements(text: str, marks: Sequence[Mark]) -> list[_Statement]:
    """Each marker refers to the sentence around it, else to its row or line."""
    statements: list[_Statement] = []
    waiting = list(reversed(marks))
    for claim in claims(text):
        while waiting and waiting[-1].end <= claim.start:
            statements.append(_line_statement(text, waiting.pop()))
        inside: list[Mark] = []
        while waiting and waiting[-1].end <= claim.end:
            inside.append(waiting.pop())
        if claim.kind == "table" and inside:
            statements.extend(_line_statement(text, mark) for mark in inside)
            continue
        cited = dict.fromkeys(passage for mark in inside for passage in mark.passages)
        words = _without(text, claim.start, claim.end, inside)
        if inside and not words.strip():
            words = _code_above(text, claim.start)
        statements.append(_Statement(words=words, passages=tuple(cited), states=claim.states or bool(inside)))
    statements.extend(_line_statement(text, mark) for mark in reversed(waiting))
    return statements


def _code_above(text: str, end: int) -> str:
    above = list(blocks(text[:end]))
    kind, start, last = above[-1] if above else ("prose", 0, 0)
    lines = text[start:last].rstrip().split("\n") if kind == "code" else []
    return "\n".join(lines[1:-1])[:_LONGEST_STATEMENT]


def _line_statement(text: str, mark: Mark) -> _Statement:
    start = text.rfind("\n", 0, mark.start) + 1
    end = text.find("\n", mark.end)
    words = text[start : mark.start] + text[mark.end : end if end >= 0 else len(text)]
    return _Statement(words=words[:_LONGEST_STATEMENT], passages=mark.passages, states=True)


def _without(text: str, start: int, end: int, marks: Sequence[Mark]) -> str:
    kept: list[str] = []
    for mark in marks:
        kept.append(text[start : max(start, mark.start)])
        start = mark.end
    return "".join((*kept, text[start:end]))


def _inserted(text: str, found: Sequence[Support], passages: Sequence[Hit]) -> tuple[str, tuple[Mark, ...]]:
    numbering = CitationNumbering([hit.chunk.document for hit in passages])
    pieces: list[str] = []
    marks: list[Mark] = []
    length = reached = 0
    for claim, cited in _merged(found, passages):
        pieces.append(text[reached : claim.insertion])
        length += claim.insertion - reached
        reached = claim.insertion
        numbered: dict[int, list[int]] = {}
        for passage in cited:
            if len(numbered) < MOST_MARKERS or numbering.peek(passage) in numbered:
                numbered.setdefault(numbering.take(passage), []).append(passage)
        lead = "\n\n" if claim.kind == "table" else " "
        for number, its_passages in numbered.items():
            marker = f"{lead}[{number}]"
            marks.append(
                Mark(start=length, end=length + len(marker), number=number, passages=tuple(its_passages))
            )
            pieces.append(marker)
            length += len(marker)
            lead = ""
    return "".join((*pieces, text[reached:])), tuple(marks)


def _merged(found: Sequence[Support], passages: Sequence[Hit]) -> list[tuple[Claim, tuple[int, ...]]]:

    def run(support: Support) -> tuple[int, frozenset[DocumentId]]:
        documents = frozenset(passages[passage].chunk.document for passage in support.passages)
        return support.claim.block, documents

    merged: list[tuple[Claim, tuple[int, ...]]] = []
    for (_, documents), group in groupby(found, key=run):
        members = list(group)
        if documents:
            cited = dict.fromkeys(passage for support in members for passage in support.passages)
            merged.append((members[-1].claim, tuple(cited)))
    return merged


def _citations(
    marks: Sequence[Mark], statements: Sequence[_Statement], passages: Sequence[Hit]
) -> tuple[Citation, ...]:
    uses = dict.fromkeys((mark.number, passage) for mark in marks for passage in mark.passages)
    citing: dict[int, list[str]] = {}
    for statement in statements:
        for passage in statement.passages:
            citing.setdefault(passage, []).append(statement.words)
    return tuple(
        _citation(number, passages[passage], citing.get(passage, []))
        for number, passage in sorted(uses, key=lambda use: use[0])
    )


def _citation(number: int, hit: Hit, citing: Sequence[str]) -> Citation:
    chunk = hit.chunk
    return Citation(
        number=number,
        title=chunk.title,
        anchor=place(chunk, citing),
        uri=chunk.uri,
        quote=quote(chunk, citing[:_MOST_STATEMENTS]),
        document=chunk.document,
        chunk=chunk.id,
    )


def _report(
    draft: DraftAnswer,
    by: str,
    marks: Sequence[Mark],
    statements: Sequence[_Statement],
    thresholds: Sequence[float],
    passages: Sequence[Hit],
) -> dict[str, object]:
    stating = [statement for statement in statements if statement.states]
    supported = [statement for statement in stating if statement.passages]
    return {
        "cited_by": by,
        "markers": len(marks),
        "citations_invalid": draft.invalid,
        "citations_dropped": draft.dropped,
        "citations_repeated": draft.repeated,
        "claims": len(stating),
        "claims_supported": len(supported),
        "support_ratio": round(len(supported) / len(stating), 3) if stating else 0.0,
        "thresholds": list(thresholds),
        "numbers_unsupported": _unsupported_numbers(supported, passages),
        "reasoning_characters": len(draft.reasoning),
        "reasoning_shown": draft.reasoning_shown,
    }


def _unsupported_numbers(supported: Sequence[_Statement], passages: Sequence[Hit]) -> list[dict[str, object]]:
    flagged: list[dict[str, object]] = []
    for statement in supported:
        chunks = [passages[passage].chunk for passage in statement.passages]
        sources = ["\n".join((chunk.title, *chunk.headings, chunk.text)) for chunk in chunks]
        numbers = missing(statement.words, sources)
        if numbers:
            flagged.append({"claim": statement.words.strip()[:_LONGEST_STATEMENT], "numbers": list(numbers)})
    return flagged
