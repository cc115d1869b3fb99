from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.generation.prompt_safety import attribute, neutral
from rag_engine.generation.prompts import instructions
from rag_engine.types import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.retrieval.outline import OutlineEntry


def outline_prompt(entries: Sequence[OutlineEntry], question: str) -> tuple[Message, ...]:
    lines: list[str] = []
    title = ""
    for number, entry in enumerate(entries, 1):
        if entry.title != title:
            title = entry.title
            lines.append(f"File: {attribute(title)}")
        lines.append(f"{number}. {'  ' * (len(entry.path) - 1)}{attribute(entry.path[-1])}")
    asked = neutral(question, keep_markers=True)
    return (
        Message(role="system", content=instructions("outline")),
        Message(role="user", content="\n".join((*lines, "", "Question:", asked))),
    )
