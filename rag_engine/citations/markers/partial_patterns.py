"""Automata over growing text: a regular expression cannot say whether more text may complete a match."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Part: TypeAlias = "Callable[[Graph, int], int]"

_DEAD: Final = -1
_DIGIT: Final = "0"
_SPACE: Final = " "
_OTHER: Final = "\x00"


@dataclass(slots=True)
class Graph:
    steps: list[list[tuple[frozenset[str], bool, int]]] = field(
        default_factory=list[list[tuple[frozenset[str], bool, int]]]
    )
    """Characters, whether they are excluded, and the target node."""
    skips: list[list[int]] = field(default_factory=list[list[int]])

    def node(self) -> int:
        self.steps.append([])
        self.skips.append([])
        return len(self.steps) - 1


def signs(characters: str, *, excluded: bool = False) -> Part:
    meant = frozenset(characters.lower())

    def add(graph: Graph, start: int) -> int:
        end = graph.node()
        graph.steps[start].append((meant, excluded, end))
        return end

    return add


def text(literal: str) -> Part:
    return sequence(*map(signs, literal))


def sequence(*parts: Part) -> Part:

    def add(graph: Graph, start: int) -> int:
        for part in parts:
            start = part(graph, start)
        return start

    return add


def either(*parts: Part) -> Part:

    def add(graph: Graph, start: int) -> int:
        end = graph.node()
        for part in parts:
            graph.skips[part(graph, start)].append(end)
        return end

    return add


def maybe(*parts: Part) -> Part:
    return either(sequence(*parts), sequence())


def repeated(*parts: Part) -> Part:
    once = sequence(*parts)

    def add(graph: Graph, start: int) -> int:
        entrance = graph.node()
        graph.skips[start].append(entrance)
        graph.skips[once(graph, entrance)].append(entrance)
        return entrance

    return add


def joined(part: Part, by: Part) -> Part:

    def add(graph: Graph, start: int) -> int:
        entrance = graph.node()
        graph.skips[start].append(entrance)
        end = part(graph, entrance)
        graph.skips[by(graph, end)].append(entrance)
        return end

    return add


class Automaton:
    def __init__(self, pattern: Part, *, longest: int) -> None:
        self._longest = longest
        self._graph = Graph()
        start = self._graph.node()
        self._end = pattern(self._graph, start)
        self._known = frozenset(
            sign for steps in self._graph.steps for meant, _, _ in steps for sign in meant
        )
        self._classes: dict[str, str] = {}
        self._states: dict[frozenset[int], int] = {}
        self._nodes: list[frozenset[int]] = []
        self._following: list[dict[str, int]] = []
        self._matches: list[bool] = []
        self._goes_on: list[bool] = []
        self._state([start])

    def read(self, source: str, at: int, *, closed: bool) -> int | None:
        """The end of the longest match, `at` if there is none, None if more text is needed. More text never changes a result."""
        state, matched = 0, at
        for position in range(at, min(at + self._longest, len(source))):
            state = self._after(state, source[position])
            if state == _DEAD:
                return matched
            if self._matches[state]:
                matched = position + 1
        is_waiting = not closed and len(source) - at < self._longest and self._goes_on[state]
        return None if is_waiting else matched

    def _after(self, state: int, character: str) -> int:
        sign = self._classes.get(character) or self._class(character)
        following = self._following[state].get(sign)
        if following is None:
            following = self._following[state][sign] = self._state(
                target
                for node in self._nodes[state]
                for meant, excluded, target in self._graph.steps[node]
                if (sign in meant) != excluded
            )
        return following

    def _state(self, nodes: Iterable[int]) -> int:
        reached: set[int] = set()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node not in reached:
                reached.add(node)
                waiting.extend(self._graph.skips[node])
        if not reached:
            return _DEAD
        key = frozenset(reached)
        if key not in self._states:
            self._states[key] = len(self._nodes)
            self._nodes.append(key)
            self._following.append({})
            self._matches.append(self._end in key)
            self._goes_on.append(any(self._graph.steps[node] for node in key))
        return self._states[key]

    def _class(self, character: str) -> str:
        lowered = character.lower()
        if lowered in self._known:
            sign = lowered
        elif character.isdecimal():
            sign = _DIGIT
        elif character.isspace():
            sign = _SPACE
        else:
            return _OTHER
        self._classes[character] = sign
        return sign
