"""Leaving out what a reasoning model thinks aloud at the beginning of its reply (`<think>…</think>`), split at any point."""

from __future__ import annotations

_OPENINGS = ("<think>", "<thinking>", "<reasoning>")


class Thinking:
    """A filter over pieces of text: reasoning before the reply disappears, everything else comes out unchanged."""

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._answering = False
        self._thought = False

    def feed(self, piece: str) -> str:
        """What may be shown after this piece: nothing while it could still be reasoning."""
        if self._answering:
            return piece
        self._held += piece
        if not self._closing:
            start = self._held.lstrip()
            opening = next((opening for opening in _OPENINGS if start.startswith(opening)), "")
            if not opening:
                return "" if _may_open(start) else self._release()
            self._closing = opening.replace("<", "</")
        before, found, after = self._held.partition(self._closing)
        if not found:
            # Only the beginning of the closing tag can matter later.
            self._held = before[-len(self._closing) :]
            return ""
        self._held, self._closing = after, ""
        self._thought = True
        return self.feed("")

    def rest(self) -> str:
        """What was held back when the reply ended: nothing, if that was in the middle of reasoning."""
        return "" if self._closing else self._release()

    def _release(self) -> str:
        shown, self._held = self._held, ""
        self._answering = bool(shown)
        return shown.lstrip() if self._thought else shown


def _may_open(start: str) -> bool:
    return any(opening.startswith(start) for opening in _OPENINGS)
