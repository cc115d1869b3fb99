from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile
from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.sections import HeadingPath, entered, joined, section_anchor, titles
from rag_engine.parsers._shared.tables import table_text
from rag_engine.parsers.texts import html, text
from rag_engine.parsers.texts._rst import tables
from rag_engine.parsers.texts._rst.inline import plain
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES: Final = "rest"
CONTENT: Final = "text"

_LARGEST: Final = 16 << 20
_DEEPEST: Final = 30
_ADORNMENT: Final = re.compile(r"([!-/:-@\[-`{-~])\1{1,}\s*$")
_EXPLICIT: Final = re.compile(r"\.\.(?:[ ]+(?P<rest>.*))?$")
_DIRECTIVE: Final = re.compile(r"(?P<name>[\w][\w:.+-]{0,60}?)[ ]?::(?:[ ]+(?P<argument>.*))?$")
_SUBSTITUTION: Final = re.compile(r"\|(?P<name>[^|]{1,100})\|[ ]+(?P<kind>[\w-]+)::[ ]*(?P<value>.*)$")
_NOTE: Final = re.compile(r"\[(?P<label>[#*]?[\w.-]{0,60})\](?:[ ]+(?P<text>.*))?$")
_TARGET: Final = re.compile(r"_[^:]*+:|__")
_OPTION: Final = re.compile(r":(?P<name>[\w-]+):(?:[ ]+(?P<value>.*))?$")
_ITEM: Final = re.compile(r"(?P<marker>[-*+•‣⁃]|\(?(?:\d{1,9}|[a-zA-Z]|#|[ivxlcIVXLC]{1,8})[.)])(?:[ ]+|$)")
_FIELD: Final = re.compile(r":(?P<name>[^:\s](?:[^:\n]{0,80}[^:\s])?):(?:[ ]+(?P<value>.*)|$)")
_CODE: Final = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "prompt", "math", "literal", "testcode", "doctest"}
    | {"productionlist", "graphviz", "mermaid", "uml", "highlight-block", "ipython", "console", "cli-input"}
)
_SKIPPED: Final = frozenset(
    {"include", "literalinclude", "contents", "sectnum", "meta", "index", "highlight", "default-role", "role"}
    | {
        "currentmodule",
        "py:currentmodule",
        "title",
        "target-notes",
        "header",
        "footer",
        "tabularcolumns",
        "raw",
    }
)
_ADMONITIONS: Final = {
    **{name: name.capitalize() for name in ("note", "tip", "warning", "important", "caution", "danger")},
    **{name: name.capitalize() for name in ("hint", "attention", "error")},
    "seealso": "See also",
    "todo": "To do",
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since",
    "versionremoved": "Removed in version",
}
_TITLED: Final = frozenset(
    {"admonition", "topic", "sidebar", "rubric", "table", "csv-table", "list-table", "tab", "tab-item"}
    | {"dropdown", "card"}
)


@dataclass(slots=True)
class _Document:
    substitutions: dict[str, str]
    styles: list[str] = field(default_factory=list[str])
    path: HeadingPath = ()
    depth: int = 0

    def section(self, content: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=content, anchor=section_anchor(headings), headings=headings, kind=kind)

    def words(self, content: str) -> str:
        return plain(content, self.substitutions)


def parse(path: Path) -> Iterator[Section]:
    encoding = text_encoding(path)
    if path.stat().st_size > _LARGEST:
        yield from joined(text.sections(text_lines(path, encoding)))
        return
    lines = [line.text.expandtabs(8).rstrip() for line in text_lines(path, encoding)]
    yield from joined(_blocks(_Document(substitutions=_substitutions(lines)), lines, level=0))


def _substitutions(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    # All uses of a value together stay about the size of the largest file.
    longest = max(_LARGEST // max(sum(line.count("|") for line in lines), 1), 100)
    for line in lines:
        explicit = _EXPLICIT.match(line.strip())
        defined = _SUBSTITUTION.match(explicit["rest"] or "") if explicit is not None else None
        if defined is not None:
            found[defined["name"]] = defined["value"][:longest] if defined["kind"] == "replace" else ""
    return found


def _blocks(document: _Document, lines: list[str], *, level: int) -> Iterator[Section]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif level == 0 and (heading := _heading(lines, at)) is not None:
            title, style, at = heading
            yield _enter_section(document, title, style)
        else:
            end = _block_end(lines, at)
            yield from _block(document, lines[at:end], level=level)
            at = end


def _heading(lines: list[str], at: int) -> tuple[str, str, int] | None:
    line, second = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
    third = lines[at + 2] if at + 2 < len(lines) else ""
    if _ADORNMENT.match(line):
        if second.strip() and _ADORNMENT.match(third) and third[0] == line[0] and not tables.is_rule(line):
            return second.strip(), line[0] * 2, at + 3
        return None
    if line[0].isspace() or not _ADORNMENT.match(second) or len(second) < min(len(line), 4):
        return None
    return line.strip(), second[0], at + 2


def _enter_section(document: _Document, title: str, style: str) -> Section:
    if style not in document.styles:
        document.styles.append(style)
    heading = document.words(title)
    document.path = entered(document.path, document.styles.index(style) + 1, heading)
    return document.section(heading)


def _block_end(lines: list[str], at: int) -> int:
    line = lines[at]
    if tables.is_rule(line):
        return _simple_table_end(lines, at)
    if (_EXPLICIT.match(line) or _ITEM.match(line) or _FIELD.match(line)) and not line[0].isspace():
        return _indented_end(lines, at + 1)
    if line[0].isspace():
        return _indented_end(lines, at)
    end = at + 1
    while end < len(lines) and lines[end].strip():
        if tables.is_grid_line(line) and lines[end][0] not in "+|":
            break
        end += 1
    if end == at + 1 or not lines[at + 1][0].isspace():
        return _indented_end(lines, end) if lines[end - 1].endswith("::") else end
    return _indented_end(lines, at + 1)


def _indented_end(lines: list[str], at: int) -> int:
    end = last = at
    while end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()):
        end += 1
        if lines[end - 1].strip():
            last = end
    return max(last, at)


def _simple_table_end(lines: list[str], at: int) -> int:
    # At most two more borders follow, below the header and at the end.
    borders = (
        number for number in range(at + 1, min(at + 5_000, len(lines))) if tables.is_rule(lines[number])
    )
    for border in islice(borders, 2):
        if border + 1 >= len(lines) or not lines[border + 1].strip():
            return border + 1
    return at + 1


def _block(document: _Document, lines: list[str], *, level: int) -> Iterator[Section]:
    first = lines[0]
    if level > _DEEPEST:
        yield document.section("\n".join(lines))
    elif first[0].isspace():
        yield from _blocks(document, _dedented(lines), level=level + 1)
    elif tables.is_grid_line(first):
        yield document.section(document.words(tables.grid(lines)), "table")
    elif tables.is_rule(first) and len(lines) > 1:
        yield document.section(document.words(tables.simple(lines)), "table")
    elif (explicit := _EXPLICIT.match(first)) is not None:
        yield from _explicit(document, explicit["rest"] or "", lines[1:], level)
    elif first.startswith(">>>"):
        yield document.section("\n".join(lines), "code")
    elif (item := _ITEM.match(first)) is not None and not _ADORNMENT.match(first):
        yield from _item(document, item, lines, level)
    elif (named := _FIELD.match(first)) is not None and not first.startswith("::"):
        value = [named["value"] or "", *(line.strip() for line in lines[1:])]
        yield document.section(f"{named['name']}: {document.words(' '.join(filter(None, value)))}")
    elif not _ADORNMENT.match(first) or len(lines) > 1:
        yield from _paragraph(document, lines, level)


def _item(document: _Document, item: re.Match[str], lines: list[str], level: int) -> Iterator[Section]:
    body = [first for first in [lines[0][item.end() :]] if first] + _dedented(lines[1:])
    marker = "- " if item["marker"] in "-*+•‣⁃" else f"{item['marker']} "
    document.depth += 1
    indent = "  " * (document.depth - 1)
    is_first = True
    for section in _blocks(document, body, level=level + 1):
        if section.kind in {"prose", "list"} and is_first:
            lead = marker
        else:
            lead = "  " if section.kind == "prose" else ""
        is_first = False
        if section.kind == "prose":
            lines_of_text = section.text.replace("\n", f"\n{indent}  ")
            yield document.section(f"{indent}{lead}{lines_of_text}", "list")
        else:
            yield section
    document.depth -= 1


def _paragraph(document: _Document, lines: list[str], level: int) -> Iterator[Section]:
    blank = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    indented = next((number for number in range(1, len(lines)) if lines[number][:1].isspace()), None)
    head = "\n".join(lines[: min(blank, len(lines) if indented is None else indented)])
    if lines[0].startswith("| "):
        head = "\n".join(line.removeprefix("|").strip() for line in head.split("\n"))
    announces = head.endswith("::")
    if announces:
        head = head[:-2].rstrip() if head.endswith(" ::") or head == "::" else head[:-1]
    yield document.section(document.words(head))
    if indented is None:
        return
    if announces:
        yield document.section("\n".join(_dedented(lines[indented:])), "code")
    else:
        yield from _blocks(document, _dedented(lines[indented:]), level=level + 1)


def _explicit(document: _Document, rest: str, body: list[str], level: int) -> Iterator[Section]:
    if (note := _NOTE.match(rest)) is not None:
        content = " ".join([note["text"] or "", *(line.strip() for line in body)])
        yield document.section(f"[{note['label']}] {document.words(content.strip())}")
    elif (
        not _TARGET.match(rest)
        and not rest.startswith("|")
        and (directive := _DIRECTIVE.match(rest)) is not None
    ):
        yield from _directive(document, directive["name"].lower(), directive["argument"] or "", body, level)


def _directive(
    document: _Document, name: str, argument: str, body: list[str], level: int
) -> Iterator[Section]:
    options, content = _options(_dedented(body))
    if name in _CODE:
        yield document.section(document.words(options.get("caption", "")))
        code = [argument, *content] if name in {"math", "prompt", "productionlist"} and argument else content
        yield document.section("\n".join(code), "code")
    elif name == "raw" and "html" in argument:
        yield from _html(document, "\n".join(content))
    elif name in {"csv-table", "list-table"}:
        yield document.section(document.words(argument))
        yield document.section(document.words(_rows(name, options, content)), "table")
    elif name in {"image", "figure"}:
        yield document.section(document.words(options.get("alt", "")))
        yield from _blocks(document, content, level=level + 1)
    elif name == "toctree":
        entries = (line.partition(" <")[0] for line in content if " <" in line)
        yield document.section("\n".join(f"- {entry}" for entry in entries), "list")
    elif name in _ADMONITIONS:
        first = f"{argument} {content.pop(0)}" if argument and content and content[0] else argument
        lead = (
            f"{_ADMONITIONS[name]}: "
            if not name.startswith(("version", "depr"))
            else f"{_ADMONITIONS[name]} "
        )
        yield from _labelled(document, lead, [first, *content] if first else content, level)
    elif name not in _SKIPPED:
        if argument and (
            name in _TITLED or not name.startswith(("auto", "container", "class", "only", "tabs"))
        ):
            yield document.section(
                document.words(argument) if name in _TITLED or "(" not in argument else argument
            )
        yield from _blocks(document, content, level=level + 1)


def _labelled(document: _Document, lead: str, lines: list[str], level: int) -> Iterator[Section]:
    for section in _blocks(document, lines, level=level + 1):
        yield document.section(lead + section.text, "prose") if lead and section.kind == "prose" else section
        lead = ""


def _options(body: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    at = 0
    latest = ""
    while at < len(body) and body[at].strip():
        option = _OPTION.match(body[at])
        if option is not None:
            latest = option["name"]
            options[latest] = option["value"] or ""
        elif latest and body[at][0].isspace():
            options[latest] += f" {body[at].strip()}"
        else:
            break
        at += 1
    while at < len(body) and not body[at].strip():
        at += 1
    return options, body[at:]


def _rows(name: str, options: dict[str, str], content: list[str]) -> str:
    if name == "csv-table":
        delimiter = {"tab": "\t", "space": " "}.get(options.get("delim", ","), options.get("delim", ","))
        try:
            rows = csv.reader(content, delimiter=delimiter, skipinitialspace=True)
            return table_text([*csv.reader([options.get("header", "")], skipinitialspace=True), *rows])
        except (csv.Error, TypeError):
            return "\n".join(content)
    rows_of_list: list[list[str]] = []
    for line in content:
        row = re.match(r"[-*+] +[-*+](?: (.*))?$", line)
        cell = re.match(r" +[-*+](?: (.*))?$", line)
        if row is not None:
            rows_of_list.append([row[1] or ""])
        elif rows_of_list and cell is not None:
            rows_of_list[-1].append(cell[1] or "")
        elif rows_of_list and line.strip():
            rows_of_list[-1][-1] += f" {line.strip()}"
    return table_text(rows_of_list)


def _html(document: _Document, source: str) -> Iterator[Section]:
    try:
        for section in html.sections(source):
            yield document.section(section.text, section.kind)
    except CorruptFile:
        yield document.section(source)


def _dedented(lines: list[str]) -> list[str]:
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[depth:] for line in lines]
