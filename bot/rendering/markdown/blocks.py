"""Lines and their roles, by markdown-it. What depends on later lines is a paragraph, because text grows: link
definitions, underlined headings, indented code, HTML blocks, tables without a leading bar.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    Rule: TypeAlias = Callable[[StateBlock, int, int, bool], bool]

Kind = Literal["prose", "heading", "rule", "open", "code", "close", "header", "delimiter", "row", "blank"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`mark` is its bullet or what follows its number."""

    mark: str
    line: int
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    line: int


Container: TypeAlias = Item | Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    mark: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """`content` is `written` without container marks, from `offset`."""

    index: int
    written: str
    content: str
    offset: int
    kind: Kind
    containers: tuple[Container, ...] = ()
    begins: bool = False
    outermost: bool = False
    fence: Fence | None = None
    level: int = 0
    table: int = -1


@dataclass(slots=True)
class _Found:
    lines: dict[int, tuple[Kind, int]] = field(default_factory=dict[int, tuple[Kind, int]])
    contents: dict[int, str] = field(default_factory=dict[int, str])
    begins: set[int] = field(default_factory=set[int])
    fences: dict[int, Fence] = field(default_factory=dict[int, Fence])
    levels: dict[int, int] = field(default_factory=dict[int, int])
    tables: dict[int, int] = field(default_factory=dict[int, int])


def read(text: str) -> list[SourceLine]:
    """Also empty lines, split at `
    ` alone.
    """
    found = _Found()
    tokens: list[Token] = []
    _PARSER.block.parse(text, _PARSER, {"found": found}, tokens)
    written = text.split("\n")
    containers, outermost = _containers(tokens, len(written))
    starts = _starts(written)
    return [
        _line(index, line, starts[index], found, containers[index], outermost)
        for index, line in enumerate(written)
    ]


def _line(
    index: int,
    written: str,
    start: int,
    found: _Found,
    containers: tuple[Container, ...],
    outermost: set[int],
) -> SourceLine:
    kind, at = found.lines.get(index, ("blank", -1))
    if kind == "blank" and any(container.line == index for container in containers):
        kind, at = "prose", start + len(written)
    content = found.contents.get(index, written[at - start :] if at >= 0 else "")
    offset = len(written) - len(content) if written.endswith(content) else -1
    return SourceLine(
        index=index,
        written=written,
        content=content,
        offset=offset,
        kind=kind,
        containers=containers if kind != "blank" else (),
        begins=index in found.begins,
        outermost=index in outermost,
        fence=found.fences.get(index),
        level=found.levels.get(index, 0),
        table=found.tables.get(index, -1),
    )


def _starts(lines: Sequence[str]) -> list[int]:
    starts, position = list[int](), 0
    for line in lines:
        starts.append(position)
        position += len(line) + 1
    return starts


def _containers(tokens: Sequence[Token], lines: int) -> tuple[list[tuple[Container, ...]], set[int]]:
    containers: list[tuple[Container, ...]] = [()] * lines
    outermost: set[int] = set()
    numbers: list[int | None] = []
    for token in tokens:
        match token.type:
            case "bullet_list_open":
                numbers.append(None)
            case "ordered_list_open":
                numbers.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                numbers.pop()
            case _:
                pass
        if token.map is None:
            continue
        first, end = token.map
        if token.level == 0:
            outermost.add(first)
        container: Container | None = None
        if token.type == "blockquote_open":
            container = Quote(line=first)
        elif token.type == "list_item_open":
            container = Item(mark=token.markup, line=first, number=numbers[-1])
            if (number := numbers[-1]) is not None:
                numbers[-1] = number + 1
        if container is not None:
            for line in range(first, min(end, lines)):
                containers[line] += (container,)
    return containers, outermost


def _reporting(rule: Rule, report: Callable[[StateBlock, _Found, int], None]) -> Rule:
    def wrapped(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        matched = rule(state, start, end, silent)
        if matched and not silent:
            found: Any = state.env["found"]
            found.begins.add(start)
            report(state, found, start)
        return matched

    return wrapped


def _at(state: StateBlock, line: int) -> int:
    return state.bMarks[line] + state.tShift[line]


def _barred(rule: Rule) -> Rule:
    def barred(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.src.startswith("|", _at(state, start)) and rule(state, start, end, silent)

    return barred


def _report_prose(state: StateBlock, found: _Found, start: int) -> None:
    for line in range(start, state.line):
        found.lines[line] = ("prose", _at(state, line))


def _report_heading(state: StateBlock, found: _Found, start: int) -> None:
    found.lines[start] = ("heading", _at(state, start))
    found.levels[start] = int(state.tokens[-1].tag[1:])


def _report_rule(state: StateBlock, found: _Found, start: int) -> None:
    found.lines[start] = ("rule", _at(state, start))


def _report_fence(state: StateBlock, found: _Found, start: int) -> None:
    token = state.tokens[-1]
    fence = Fence(mark=token.markup, language=" ".join(token.info.split()[:1]))
    for line in range(start, state.line):
        found.lines[line] = ("code", _at(state, line))
        found.fences[line] = fence
    for line, content in enumerate(token.content.split("\n"), start + 1):
        if line < state.line:
            found.contents[line] = content
    found.lines[start] = ("open", _at(state, start))
    last = state.line - 1
    end = state.src[_at(state, last) : state.eMarks[last]].strip()
    if last > start and len(end) >= len(fence.mark) and not end.strip(fence.mark[0]):
        found.lines[last] = ("close", _at(state, last))
        found.contents.pop(last, None)


def _report_table(state: StateBlock, found: _Found, start: int) -> None:
    for line in range(start, state.line):
        kind: Kind = "header" if line == start else "delimiter" if line == start + 1 else "row"
        found.lines[line] = (kind, _at(state, line))
        found.tables[line] = start


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").disable(["code", "reference", "html_block", "lheading"])
    ruler = parser.block.ruler
    for name, report in (
        ("table", _report_table),
        ("fence", _report_fence),
        ("hr", _report_rule),
        ("heading", _report_heading),
        ("paragraph", _report_prose),
    ):
        rule = next(rule for rule in ruler.__rules__ if rule.name == name)
        read_by = _barred(rule.fn) if name == "table" else rule.fn
        ruler.at(name, _reporting(read_by, report), {"alt": list(rule.alt)})
    return parser


_PARSER: Final = _parser()
