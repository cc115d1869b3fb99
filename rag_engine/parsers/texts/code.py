from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.lines import NumberedLine, group, lines_anchor
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers.data._trees.tree import Tree, TreeBlock, lines_place
from rag_engine.parsers.texts._code.grammars import definitions, language_of, with_comments
from rag_engine.parsers.texts._code.patterns import DEFINITION, starts
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

SUFFIXES: Final = (
    "diff patch py pyi pyx js mjs cjs jsx ts tsx vue svelte java kt kts scala groovy gradle c h cc "
    "cpp cxx hpp hh cs fs vb go rs swift m mm rb php pl pm lua r jl hs ml mli erl ex exs clj cljs "
    "lisp el scm dart zig nim d pas f90 sql sh bash zsh fish ps1 bat cmd css scss sass less tf hcl "
    "proto graphql cmake mk asm s dockerfile makefile jenkinsfile vim tcl awk sed sol v sv vhd cu"
)
BEGINNING: Final = r"#!"
CONTENT: Final = "text"

_LARGEST: Final = 2 << 20
_LONGEST_LINE: Final = 5_000
_BEGINNING: Final = 4_000
_LAST_LINE: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class _DefinitionSpan:
    first: int
    last: int
    label: str


def parse(path: Path) -> Iterator[Section]:
    """Whole definitions of about a passage, anchored by lines."""
    encoding = text_encoding(path)
    if path.stat().st_size > _LARGEST:
        yield from joined(_streamed(text_lines(path, encoding)))
        return
    lines = list(text_lines(path, encoding))
    if any(len(line.text) > _LONGEST_LINE for line in lines):
        yield from joined(_streamed(lines))
        return
    yield from joined(_by_definition([line.text for line in lines], path.suffix.lower().removeprefix(".")))


def _by_definition(lines: Sequence[str], suffix: str) -> Iterator[Section]:
    tree = Tree(lines_place, kind="code", names=True)
    inside: list[int] = []
    at = 1
    for place in chain(_definition_spans(lines, suffix), [_DefinitionSpan(len(lines) + 1, _LAST_LINE, "")]):
        while inside and inside[-1] < place.first:
            end = inside.pop()
            yield from _add_lines(tree, lines, at, end)
            at = max(at, end + 1)
            yield from tree.leave()
        yield from _add_lines(tree, lines, at, place.first - 1)
        at = max(at, place.first)
        if place.label:
            tree.enter(place.label)
            inside.append(min(place.last, inside[-1]) if inside else place.last)
    yield from tree.end()


def _add_lines(tree: Tree, lines: Sequence[str], first: int, last: int) -> Iterator[Section]:
    for part in group(
        (NumberedLine(number=number, text=lines[number - 1]) for number in range(first, last + 1)),
        starts=_after_blank,
    ):
        written = [line.number for line in part if line.text.strip()]
        content = "\n".join(line.text for line in part).strip("\n")
        yield from tree.add(TreeBlock(content, first=written[0], last=written[-1]))


def _after_blank(before: NumberedLine, line: NumberedLine) -> bool:
    return not before.text.strip() and bool(line.text.strip())


def _definition_spans(lines: Sequence[str], suffix: str) -> Iterator[_DefinitionSpan]:
    language = language_of(suffix, "\n".join(lines)[:_BEGINNING])
    if language:
        found = [
            _DefinitionSpan(definition.first, definition.last, definition.label)
            for definition in definitions("\n".join(lines), language)
        ]
    else:
        found = list(_definitions_by_indentation(lines))
    before = 0
    for place in found:
        first = with_comments(lines, place.first, before)
        yield _DefinitionSpan(first, place.last, place.label)
        before = place.first


def _definitions_by_indentation(lines: Sequence[str]) -> Iterator[_DefinitionSpan]:
    found = list(starts(lines))
    ends = [len(lines)] * len(found)
    unfinished: list[int] = []
    for number, start in enumerate(found):
        while unfinished and found[unfinished[-1]].indent >= start.indent:
            ends[unfinished.pop()] = with_comments(lines, start.line, 0) - 1
        unfinished.append(number)
    for start, end in zip(found, ends, strict=True):
        yield _DefinitionSpan(start.line, max(end, start.line), start.label)


def _streamed(lines: Iterable[NumberedLine]) -> Iterator[Section]:
    for lines_of_section in group(lines, starts=_starts_block):
        content = "\n".join(line.text for line in lines_of_section)
        yield Section(text=content, anchor=lines_anchor(lines_of_section), kind="code")


def _starts_block(before: NumberedLine, line: NumberedLine) -> bool:
    if not line.text or line.text[0].isspace():
        return False
    return not before.text.strip() or (
        len(line.text) < _LONGEST_LINE and DEFINITION.match(line.text) is not None
    )
