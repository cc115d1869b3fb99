from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.messages import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.messages.names import Sentence
    from rag_engine.research.findings import PlanStep

_NAMES: Final[dict[str, Sentence]] = {
    "search": "tool_search",
    "read": "tool_read",
    "list": "tool_list",
    "compute": "tool_compute",
    "web": "tool_web",
}


def tool_steps(steps: Sequence[PlanStep], language: str) -> tuple[PlanStep, ...]:
    return tuple(
        replace(step, tool="", text=tool_step(step.tool, step.text, language)) if step.tool else step
        for step in steps
    )


def tool_step(tool: str, what: str, language: str) -> str:
    name = _NAMES.get(tool)
    return say(name, language, what=what).strip() if name else ": ".join(filter(None, (tool, what)))
