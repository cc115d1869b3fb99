"""Holds back the start of a stream while it may be reasoning: some servers swallow the opening tag."""

from __future__ import annotations

import re
from typing import Final

import regex

from rag_engine.text.lazy_pattern import lazy

REASONING_END: Final = lazy(lambda: re.compile(r"</(?:think|thinking|reasoning|thought)\s?>", re.IGNORECASE))
LONGEST_REASONING_END: Final = 13

_LONGEST_THOUGHT: Final = 6_000
_LONGEST_UNANNOUNCED: Final = 200_000
_REASONING_START: Final = lazy(
    lambda: re.compile(r"\s*<(?:think|thinking|reasoning|thought)\s?>", re.IGNORECASE)
)
_THINKING_ALOUD: Final = lazy(
    lambda: regex.compile(
        r"\s*(?:</?(?:think|thinking|reasoning|thought)\s?>|(?:okay|ok|alright|all right|hmm|well|so|right)[,.] (?:so |let me |let's |the user|i need|i should|first)"
        r"|(?:we|i) (?:need to|have to|should|must) (?:answer|figure|find|look|check|produce|respond|determine)"
        r"|the user (?:asks|is asking|asked|wants|wrote|says|question)|user (?:asks|wants|question)"
        r"|let me (?:think|look|see|check|start|analy)|let's (?:think|look|see|analy)|thinking process"
        r"|嗯[，,]|好的[，,](?:用户|我|让)|首先[，,](?:用户|我)|用户(?:问|想|的问题))",
        regex.IGNORECASE,
    )
)


class ReasoningPrefix:
    def __init__(self, *, reasoning_first: bool = False) -> None:
        self.reasoning = ""
        self._held = ""
        self._is_open = True
        self._is_judged = reasoning_first
        self._limit = _LONGEST_UNANNOUNCED if reasoning_first else _LONGEST_THOUGHT

    def feed(self, text: str, *, closed: bool = False) -> str:
        if not self._is_open:
            return text
        searched = max(0, len(self._held) - LONGEST_REASONING_END)
        self._held += text if self._held else text.lstrip()
        if _REASONING_START.match(self._held):
            return self._opened(self._held)
        if not self._is_judged:
            begun = _THINKING_ALOUD.match(self._held, partial=not closed)
            if begun is None:
                return self._opened(self._held)
            self._is_judged = not begun.partial
        sight = self._limit + LONGEST_REASONING_END
        end = REASONING_END.search(self._held, searched, sight)
        if end:
            self.reasoning = self._held[: end.start()].strip()
            return self._opened(self._held[end.end() :])
        return self._opened(self._held) if closed or len(self._held) >= sight else ""

    def _opened(self, released: str) -> str:
        self._is_open, self._held = False, ""
        return released
