from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from rag_engine.citations.answer_corrections import GENERAL, UNSUPPORTED, corrected
from rag_engine.citations.markers.placement import MOST_MARKERS, CitationNumbering, Mark, cited_places
from rag_engine.citations.quotes import SourceQuote, quotes
from rag_engine.citations.semantic_support import Support, supports
from rag_engine.citations.statements import LONGEST_STATEMENT, statements
from rag_engine.citations.verification import SupportVerdict, verify
from rag_engine.types import Citation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.citations.claims import Claim
    from rag_engine.citations.markers.placement import CitedPlace
    from rag_engine.citations.markers.stream import DraftAnswer
    from rag_engine.citations.statements import Statement
    from rag_engine.ports import Embedder
    from rag_engine.types import Hit

_MOST_STATEMENTS: Final = 8
_Made = TypeVar("_Made")
_THREAD: Final = ThreadPoolExecutor(1, thread_name_prefix="citing")

Check = Literal["none", "facts", "strict", "blended"]
"""`none`: only quotes are checked. `facts`: also figures and names. `strict` and `blended` also mark whole statements,
as unsupported or as general knowledge.
"""
_SIGNS: Final[dict[Check, str]] = {"none": "", "facts": "", "strict": UNSUPPORTED, "blended": GENERAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    text: str
    marks: tuple[Mark, ...]
    citations: tuple[Citation, ...]
    """By number; passages of one place share a number."""
    grounded: bool
    report: Mapping[str, object]
    """JSON values for the trace."""
    fallbacks: tuple[str, ...] = ()
    signs: frozenset[str] = frozenset()
    support_ratio: float = 0.0
    unsupported: tuple[str, ...] = ()
    is_invented: bool = False


async def finish(
    draft: DraftAnswer,
    passages: Sequence[Hit],
    *,
    question: str,
    embedder: Embedder,
    check: Check = "none",
) -> Cited:
    """The model's citations, or those found by comparing claims with the passages, in one embedder call; without
    vectors by wording alone.
    """
    text, marks, found, fallbacks = draft.text, draft.marks, list[Support](), tuple[str, ...]()
    if not marks and passages and text:
        found, fallbacks = await supports(text, passages, question=question, embedder=embedder)
        text, marks = await _apart(partial(_inserted, text, found, passages))
    stated = await _apart(partial(statements, text, marks))
    stated = _compared(stated, found, draft.text) if found else stated
    if check == "none" or not passages:
        verdicts = [
            SupportVerdict(state="held" if one.passages else "unheld", passages=one.passages)
            for one in stated
        ]
    else:
        verdicts = await verify(text, stated, passages, question=question, embedder=embedder)
    if check == "facts":
        verdicts = [_trusted(one, verdict) for one, verdict in zip(stated, verdicts, strict=True)]
    finished = partial(
        _cited,
        replace(draft, text=text, marks=marks),
        stated,
        verdicts,
        passages,
        check=check if passages else "none",
        cited_by="model" if draft.marks else "comparison" if marks else "nobody",
        thresholds=tuple(support.threshold for support in found if support.passages),
        fallbacks=fallbacks,
    )
    return await _apart(finished)


async def _apart(work: Callable[[], _Made]) -> _Made:
    """Parallel threads block the event loop when many answers end at once."""
    return await asyncio.get_running_loop().run_in_executor(_THREAD, work)


def _cited(
    draft: DraftAnswer,
    stated: Sequence[Statement],
    verdicts: Sequence[SupportVerdict],
    passages: Sequence[Hit],
    *,
    check: Check,
    cited_by: str,
    thresholds: Sequence[float],
    fallbacks: tuple[str, ...],
) -> Cited:
    checked = list(zip(stated, verdicts, strict=True))
    made = corrected(draft.text, draft.marks, checked, passages, unheld=_sign(check, checked))
    cited = _citations(made.marks, checked, passages)
    stating = [verdict for statement, verdict in checked if statement.states]
    supported = [verdict for verdict in stating if _supports(verdict)]
    ratio = round(len(supported) / len(stating), 3) if stating else 0.0
    return Cited(
        text=made.text,
        marks=made.marks,
        citations=cited,
        grounded=bool(cited) and bool(check == "none" or supported or not stating),
        report={
            "cited_by": cited_by,
            "markers": len(made.marks),
            "claims": len(stating),
            "claims_supported": len(supported),
            "support_ratio": ratio,
            "thresholds": list(thresholds),
            **_draft_report(draft),
            **_verified(checked, check),
        },
        fallbacks=fallbacks,
        signs=made.signs,
        support_ratio=ratio,
        unsupported=tuple(dict.fromkeys(words for _, verdict in checked for words in verdict.words)),
        is_invented=check == "strict" and _is_invented(stating),
    )


def _sign(check: Check, checked: Sequence[tuple[Statement, SupportVerdict]]) -> str:
    is_mixed = any(verdict.state != "unheld" for statement, verdict in checked if statement.states)
    return _SIGNS[check] if is_mixed or check == "strict" else ""


def _draft_report(draft: DraftAnswer) -> dict[str, object]:
    return {
        "citations_invalid": draft.invalid,
        "citations_dropped": draft.dropped,
        "citations_repeated": draft.repeated,
        "reasoning_characters": len(draft.reasoning),
        "reasoning_shown": draft.reasoning_shown,
    }


def _verified(checked: Sequence[tuple[Statement, SupportVerdict]], check: Check) -> dict[str, object]:
    unheld = [statement for statement, verdict in checked if verdict.state == "unheld"]
    return {
        "citations_repointed": sum(
            bool(verdict.passages) and verdict.passages != statement.passages
            for statement, verdict in checked
        ),
        "claims_unsupported": [_shortened(statement) for statement in unheld] if check != "none" else [],
        "numbers_unsupported": [
            {"claim": _shortened(statement), "numbers": list(verdict.words)}
            for statement, verdict in checked
            if verdict.words
        ],
    }


def _shortened(statement: Statement) -> str:
    return statement.words.strip()[:LONGEST_STATEMENT]


def _trusted(statement: Statement, verdict: SupportVerdict) -> SupportVerdict:
    if verdict.state != "unheld":
        return verdict
    return replace(verdict, state="unchecked", passages=statement.passages)


def _is_invented(stating: Sequence[SupportVerdict]) -> bool:
    """At least one is unsupported, and the others differ from the passages by a figure or name, or say nothing."""
    states = {one.state for one in stating if not one.says_nothing}
    return "unheld" in states and states <= {"unheld", "doubtful"}


def _supports(verdict: SupportVerdict) -> bool:
    return verdict.state == "held" or (verdict.state == "unchecked" and bool(verdict.passages))


def _compared(stated: Sequence[Statement], found: Sequence[Support], text: str) -> list[Statement]:
    supported = {text[one.claim.start : one.claim.end].strip(): one.passages for one in found}
    return [
        one if one.passages else replace(one, passages=supported.get(one.words.strip(), ())) for one in stated
    ]


def _inserted(text: str, found: Sequence[Support], passages: Sequence[Hit]) -> tuple[str, tuple[Mark, ...]]:
    numbering = CitationNumbering(cited_places(passages))
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
    known = cited_places(passages)

    def run(support: Support) -> tuple[int, frozenset[CitedPlace]]:
        return support.claim.block, frozenset(known[passage] for passage in support.passages)

    merged: list[tuple[Claim, tuple[int, ...]]] = []
    for (_, places), group in groupby(found, key=run):
        members = list(group)
        if places:
            cited = dict.fromkeys(passage for support in members for passage in support.passages)
            merged.append((members[-1].claim, tuple(cited)))
    return merged


def _citations(
    marks: Sequence[Mark], checked: Sequence[tuple[Statement, SupportVerdict]], passages: Sequence[Hit]
) -> tuple[Citation, ...]:
    uses = dict.fromkeys((mark.number, passage) for mark in marks for passage in mark.passages)
    citing: dict[int, list[str]] = {}
    for statement, verdict in checked:
        for passage in verdict.passages:
            citing.setdefault(passage, []).append(statement.words)
    return tuple(
        citation
        for number, passage in sorted(uses, key=lambda use: use[0])
        for citation in _quoted(number, passages[passage], citing.get(passage, []))
    )


def _quoted(number: int, hit: Hit, citing: Sequence[str]) -> list[Citation]:
    chunk = hit.chunk
    found = quotes(chunk, citing[:_MOST_STATEMENTS]) or [SourceQuote(text="", anchor=chunk.anchor)]
    return [
        Citation(
            number=number,
            title=chunk.title,
            anchor=quote.anchor,
            uri=chunk.uri,
            quote=quote.text,
            document=chunk.document,
            chunk=chunk.id,
        )
        for quote in found
    ]
