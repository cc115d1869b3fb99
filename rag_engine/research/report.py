from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.generation.prompt_rules import REPORT
from rag_engine.generation.prompt_safety import neutral

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.generation.context_budget import Assemble, Fitted
    from rag_engine.generation.prompts import Round
    from rag_engine.research.findings import Findings
    from rag_engine.types import Message

_PLACE: Final = re.compile(r"\{\{([^{}]+)\}\}")


def reporting(assemble: Assemble, findings: Findings, *, cites: bool) -> Assemble:
    """Findings come before the passages."""
    rules = "\n".join(rule.text for rule in REPORT if cites or not rule.cites)
    listed = "\n".join(("<findings>", *_lines(findings), "</findings>"))

    def assembled(blocks: Sequence[str], rounds: Sequence[Round], question: str) -> tuple[Message, ...]:
        system, *earlier, last = assemble(blocks, rounds, question)
        return (
            replace(system, content=f"{system.content}\n{rules}"),
            *earlier,
            replace(last, content=f"{listed}\n\n{last.content}"),
        )

    return assembled


def numbered(fitted: Fitted) -> tuple[Message, ...]:
    """With the numbers of the passages after fitting."""
    numbers: dict[str, int] = {
        excerpt.hit.chunk.id: number for number, excerpt in enumerate(fitted.excerpts, 1)
    }

    def number(found: re.Match[str]) -> str:
        return f"[{numbers[found[1]]}]" if found[1] in numbers else ""

    *earlier, last = fitted.messages
    head, end, rest = last.content.partition("</findings>")
    return (*earlier, replace(last, content=f"{_PLACE.sub(number, head)}{end}{rest}"))


def _lines(findings: Findings) -> Iterator[str]:
    for part in findings.parts:
        if part.facts:
            yield f"Part: {_harmless(part.text)}"
        for fact in part.facts:
            places = "".join(f"{{{{{one}}}}}" for one in fact.passages)
            yield f"- {_harmless(fact.text)} {places}"
    for gap in findings.unanswered:
        yield f"Not found: {_harmless(gap)}"
    for one in findings.contradictions:
        yield f"Contradiction: {_harmless(one)}"


def _harmless(text: str) -> str:
    return neutral(text.replace("{", "(").replace("}", ")"), keep_markers=False)
