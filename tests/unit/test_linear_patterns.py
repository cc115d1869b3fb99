"""Every regular expression of the packages takes time in proportion to the length of its text.

The patterns are found in the modules and in calls of `re`; what could slow each one down is derived from its own parts: what it
repeats, after what comes before, with an end that fits nothing. `BOUNDED` names those whose texts are short.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import re._constants as opcodes  # pyright: ignore[reportMissingImports]
import re._parser as regular_expressions  # pyright: ignore[reportMissingImports]
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import regex

from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

BOUNDED = {
    "rag_engine.tables.values": "a cell of at most 60 characters",
    "rag_engine.graph.rules._SENTENCE_START": "the 24 characters before a name",
    "rag_engine.summaries.intent": "a message of at most 400 characters",
    "rag_engine.summaries.length_and_language": "both ends of a message, with single blanks",
    "bot.observability.library_text._CONVERSION": "a literal in the source of a library",
    "rag_engine.parsers.documents._epub.chapter_tree._DOCTYPE": "the beginning of a page",
    "rag_engine.summaries.target_words._WORD": "a message of at most 400 characters",
    "rag_engine.summaries.target_documents._FILE_NAME": "a message of at most 400 characters",
    "bot.cli._parser._CHOICE": "the operator's own command line",
    "rag_engine.citations.markers.grammar._INDEXED": "the 32 characters before a marker",
    "rag_engine.models.extractive.sentence_features._FIELD": "a candidate of at most 4,000 characters",
    "rag_engine.parsers.texts._code.grammars._GUESSES": "the first 4,000 characters of a file",
    "rag_engine.parsers.texts._code.patterns._OTHERS": "a line of at most 500 characters",
    "rag_engine.parsers._ooxml.charts": "a number format of at most 255 characters",
    "rag_engine.parsers.texts._rst.inline._TARGET": "a role of at most 2,000 characters",
    "rag_engine.parsers.sheets._cells.date_formats": "a number format of at most 255 characters",
    "rag_engine.parsers.sheets._cells.number_formats": "a number format of at most 255 characters",
}
OF_EXTRAS = (".sentence_transformers", ".sources._host_keys")
"""Their libraries are no part of the environment of tests."""
METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
GENERAL = (
    *" \n\ta1_-*`<[({\"'«“.|#>:/\\&@=$%~日",
    *("a ", "a.", "1.", "[1]", "](", "<a", "- ", " \n", "http://", "``", "_a", "\n\n", "a\n", "[a]("),
)
ENDS = ("", "\x00")
SHORT, FEW, TIMES = (150, 1_000), 8_000, 4
"""Characters."""
QUICK = 0.004
"""Seconds for the few; less is not looked at again."""
SLOWEST = 0.000_1
"""Seconds a character, whatever the growth."""
MOST_CONFIRMED = 2
MOST_RATIO = TIMES * 2.2
MOST_SEEDS = 70
CHARACTERS = " a1-.\n\t_A<[(*`|#:/\\\"'>é日=,&@"


@cache
def modules() -> tuple[ModuleType, ...]:
    found: list[ModuleType] = []
    for package in ("rag_engine", "bot", "adapters"):
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not module.name.endswith(("__main__", *OF_EXTRAS)):
                found.append(importlib.import_module(module.name))
    return tuple(found)


def _patterns_in(value: object, depth: int = 0) -> Iterator[Any]:
    if isinstance(value, re.Pattern | regex.Pattern | type(lazy(lambda: re.compile("")))):
        yield value
    elif depth < 3 and isinstance(value, Mapping):
        for inner in value.values():
            yield from _patterns_in(inner, depth + 1)
    elif depth < 3 and isinstance(value, tuple | list | set | frozenset):
        for inner in value:
            yield from _patterns_in(inner, depth + 1)


def _methods(source: str, name: str) -> frozenset[str]:
    used = re.findall(rf"\b{re.escape(name)}(?:\[[^\]\n]*\])?\.({'|'.join(METHODS)})\b", source)
    return frozenset(used) or frozenset({"search"})


def _named(module: ModuleType) -> Iterator[tuple[str, Any, frozenset[str]]]:
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    for name, value in vars(module).items():
        patterns = list(_patterns_in(value))
        assigned = rf"^{re.escape(name)}\b.*=|^_?\w+, {re.escape(name)}\b"
        if patterns and re.search(assigned, source, re.MULTILINE):
            methods = _methods(source, name)
            for pattern in patterns:
                yield f"{module.__name__}.{name}", pattern, methods
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re" | "regex" as library), attr=method),
                args=[ast.Constant(value=str(written)), *_],
            ) if method in METHODS:
                pattern = {"re": re, "regex": regex}[library].compile(written)
                yield f"{module.__name__}:{node.lineno}", pattern, frozenset({method})


def _in_class(items: Sequence[tuple[Any, Any]]) -> list[str]:
    kinds = {
        opcodes.CATEGORY_DIGIT: str.isdigit,
        opcodes.CATEGORY_SPACE: str.isspace,
        opcodes.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
        opcodes.CATEGORY_NOT_DIGIT: lambda character: not character.isdigit(),
        opcodes.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
        opcodes.CATEGORY_NOT_WORD: lambda character: not (character.isalnum() or character == "_"),
    }

    def holds(character: str) -> bool:
        return any(
            (kind is opcodes.LITERAL and value == ord(character))
            or (kind is opcodes.RANGE and value[0] <= ord(character) <= value[1])
            or (kind is opcodes.CATEGORY and value in kinds and kinds[value](character))
            for kind, value in items
        )

    negated = any(kind is opcodes.NEGATE for kind, _ in items)
    found = [character for character in CHARACTERS if holds(character) != negated]
    written = [chr(value) for kind, value in items if kind is opcodes.LITERAL and not negated]
    return list(dict.fromkeys([*found, *written]))[:4] or ["a"]


def _texts(parsed: Any) -> list[str]:
    """Some texts that the parsed pattern accepts, roughly."""
    found = [""]
    for kind, value in parsed:
        match kind:
            case opcodes.LITERAL:
                parts = [chr(value)]
            case opcodes.NOT_LITERAL:
                parts = ["b" if value == ord("a") else "a"]
            case opcodes.ANY:
                parts = ["a", " "]
            case opcodes.IN:
                parts = _in_class(value)
            case opcodes.BRANCH:
                parts = [text for branch in value[1][:4] for text in _texts(branch)[:2]]
            case opcodes.SUBPATTERN:
                parts = _texts(value[3])
            case opcodes.ATOMIC_GROUP:
                parts = _texts(value)
            case opcodes.MAX_REPEAT | opcodes.MIN_REPEAT | opcodes.POSSESSIVE_REPEAT:
                parts = [text * min(value[0], 50) for text in _texts(value[2])[:2]]
            case _:
                parts = [""]
        found = [before + part for before in found[:3] for part in parts[:3]][:6]
    return found


def _repeats(parsed: Any, before: Sequence[str] = ("",)) -> Iterator[tuple[list[str], list[str]]]:
    """For each long repetition what may come before it and what it repeats."""
    before = list(before)
    for kind, value in parsed:
        match kind:
            case opcodes.MAX_REPEAT | opcodes.MIN_REPEAT | opcodes.POSSESSIVE_REPEAT:
                if value[1] >= FEW:
                    yield before[:2], _texts(value[2])
                yield from _repeats(value[2], before)
            case opcodes.SUBPATTERN:
                yield from _repeats(value[3], before)
            case opcodes.ATOMIC_GROUP:
                yield from _repeats(value, before)
            case opcodes.BRANCH:
                for branch in value[1]:
                    yield from _repeats(branch, before)
            case opcodes.ASSERT | opcodes.ASSERT_NOT:
                yield from _repeats(value[1], before)
            case _:
                pass
        before = [text + part for text in before[:2] for part in _texts([(kind, value)])[:2]]


def _seeds(pattern: Any) -> list[tuple[str, str]]:
    """Beginnings, and what is repeated after them."""
    seeds: dict[tuple[str, str], None] = {}
    written = re.sub(r"\(\?V[01]\)", "", pattern.pattern)
    written = re.sub(r"\\p\{[^}]*\}", "a", written).replace(r"\X", ".")
    flags = pattern.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE)
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = regular_expressions.parse(written, flags)
    except (re.error, ValueError):
        parsed = []  # only the `regex` library reads it
    for before, bodies in _repeats(parsed):
        for body in bodies[:4]:
            for start in before:
                if body:
                    seeds |= {(start, body): None, ("", start + body): None}
                if start:
                    seeds[("", start)] = None
    seeds |= {("", seed): None for seed in GENERAL}
    return list(seeds)[:MOST_SEEDS]


def _call(pattern: Any, method: str) -> Callable[[str], object]:
    function = getattr(pattern, method)
    if method in ("sub", "subn"):
        return lambda text: function("", text)
    if method == "finditer":
        return lambda text: sum(1 for _ in function(text))
    return function


def _seconds(work: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    work(text)
    return time.thread_time() - began


def _text(seed: tuple[str, str], end: str, length: int) -> str:
    return seed[0] + (seed[1] * (length // len(seed[1]) + 1))[:length] + end


def _explodes(work: Callable[[str], object], seed: tuple[str, str], end: str) -> bool:
    """More than quadratic; asked first, as longer texts would take for ever."""
    return any(
        all(_seconds(work, _text(seed, end, length)) > length * SLOWEST for _ in range(2)) for length in SHORT
    )


def _grows(work: Callable[[str], object], seed: tuple[str, str], end: str) -> bool:
    few = min(_seconds(work, _text(seed, end, FEW)) for _ in range(2))
    if few > FEW * SLOWEST:
        return True
    return few > QUICK and _seconds(work, _text(seed, end, FEW * TIMES)) > few * MOST_RATIO


def slow(pattern: Any, methods: frozenset[str]) -> tuple[str, str, str, str] | None:
    """A method, beginning, seed and end with which its time grows faster than the text."""
    for method in sorted(methods):
        work = _call(pattern, method)
        tried: list[tuple[float, tuple[str, str], str]] = []
        for seed in _seeds(pattern):
            for end in ENDS:
                if _explodes(work, seed, end):
                    return (method, *seed, end)
                seconds = _seconds(work, _text(seed, end, FEW))
                if seconds > 10 * QUICK and _grows(work, seed, end):
                    return (method, *seed, end)
                tried.append((seconds, seed, end))
        tried.sort(reverse=True, key=lambda one: one[0])
        for seconds, seed, end in tried[:MOST_CONFIRMED]:
            if QUICK < seconds <= 10 * QUICK and _grows(work, seed, end):
                return (method, *seed, end)
    return None


@pytest.mark.soak
@pytest.mark.parametrize("package", ["rag_engine.parsers", "rag_engine", "bot", "adapters"])
def test_no_pattern_takes_quadratic_time(package: str) -> None:
    found: dict[str, tuple[str, str, str, str]] = {}
    examined: set[tuple[str, frozenset[str]]] = set()
    for module in modules():
        if not module.__name__.startswith(package) or (
            package == "rag_engine" and module.__name__.startswith("rag_engine.parsers")
        ):
            continue
        for name, pattern, methods in _named(module):
            if name.startswith(tuple(BOUNDED)) or not isinstance(pattern.pattern, str):
                continue
            if (pattern.pattern, methods) not in examined and (seed := slow(pattern, methods)):
                found[name] = seed
            examined.add((pattern.pattern, methods))
    assert examined
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "method"),
    [
        (r"<[^>]*>", "sub"),
        (r"= *(\S.*?)( +=)?$", "match"),
        (r"(<!--.*?-->\s*)*<p", "match"),
    ],
)
def test_a_pattern_that_takes_quadratic_time_is_found(written: str, method: str) -> None:
    assert slow(re.compile(written, re.DOTALL), frozenset({method}))
    assert not slow(re.compile(r"<[^<>]{0,200}>"), frozenset({"sub"}))


@pytest.mark.slow
def test_every_bounded_pattern_exists() -> None:
    names = [name for module in modules() for name, *_ in _named(module)]
    for bounded in BOUNDED:
        assert any(name.startswith(bounded) for name in names), bounded
