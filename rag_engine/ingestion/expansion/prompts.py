from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from rag_engine.citations.markers.reasoning_prefix import REASONING_END
from rag_engine.expansion.types import TASKS, ExpansionKey
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.generation.prompts import instructions
from rag_engine.retrieval.queries.query_variants import normal
from rag_engine.text import tokens
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from rag_engine.expansion.types import ExpansionLimits
    from rag_engine.types import Chunk, Expansion

_LONGEST_SUMMARY: Final = 2_000
_LONGEST_QUESTION: Final = 300
_PLACEHOLDERS: Final = re.compile(r"\{(?:passage|paragraph)\}")
_LIST_MARK: Final = re.compile(r"^\W*(?:\d{1,2}[.):]\s+)?[-*•\s]*")
_SUMMARY_TOKENS: Final = 120
_QUESTION_TOKENS: Final = 30
_SPARE_TOKENS: Final = 400
"""So that a longer text is not cut."""


def prompt_of(chunk: Chunk, kind: Expansion, limits: ExpansionLimits) -> Prompt:
    passage = neutral(searchable_text(chunk), keep_markers=True)
    own = limits.prompts.get(kind, "").strip()
    if _PLACEHOLDERS.search(own):
        messages: tuple[Message, ...] = (
            Message(role="user", content=_PLACEHOLDERS.sub(lambda _: passage, own)),
        )
    else:
        count = f"Questions: {limits.questions}.\n\n" if kind == "question" else ""
        messages = (
            Message(role="system", content=own or instructions(TASKS[kind])),
            Message(role="user", content=f"{count}<passage>\n{passage}\n</passage>"),
        )
    return Prompt(
        messages=messages,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=expected_tokens(kind, limits) + _SPARE_TOKENS,
        temperature=limits.temperatures.get(kind, 0.0),
    )


def expected_tokens(kind: Expansion, limits: ExpansionLimits) -> int:
    return _SUMMARY_TOKENS if kind == "summary" else _QUESTION_TOKENS * limits.questions


def key_of(prompt: Prompt, model: str) -> ExpansionKey:
    said = "\x1f".join((model, *(message.content for message in prompt.messages)))
    return ExpansionKey(hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def texts_of(reply: str, kind: Expansion, limits: ExpansionLimits) -> tuple[str, ...]:
    """Nothing if the reply has none."""
    reply = REASONING_END.split(reply)[-1].strip()
    if kind == "summary":
        text = " ".join(reply.split())[:_LONGEST_SUMMARY]
        return (text,) if normal(text) else ()
    lines = [" ".join(_LIST_MARK.sub("", line).split()) for line in reply.splitlines()]
    distinct = {normal(line): line for line in lines if normal(line) and len(line) <= _LONGEST_QUESTION}
    return tuple(distinct.values())[: limits.questions]
