"""AsciiDoc: sections, paragraphs, lists, tables, code and admonitions; nothing is included or fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers import text
from rag_engine.parsers._asciidoc_inline import plain, table
from rag_engine.parsers._encoding import opened, text_lines
from rag_engine.parsers._sections import HeadingPath, entered, joined, section_anchor, titles
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LARGEST: Final = 16 << 20
_DEEPEST: Final = 10
_ATTRIBUTE: Final = re.compile(r":(?P<off>!?)(?P<name>[\w-]{1,60})!?:(?:[ \t]+(?P<value>.*))?$")
_HEADING: Final = re.compile(r"(?P<level>={1,6}|#{1,6})[ \t]+(?P<title>\S.*?)(?:[ \t]+(?P=level))?$")
_UNDERLINE: Final = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_ITEM: Final = re.compile(
    r"\s*(?P<marker>\*{1,6}|-|\.{1,6}|\d{1,9}\.|[a-zA-Z]\.|<(?:\d{1,3}|\.)>|•)[ \t]+(?P<text>\S.*)$"
)
_TERM: Final = re.compile(r"\s*(?P<term>\S.{0,300}?)(?P<sign>:{2,4}|;;)(?:[ \t]+(?P<text>.*))?$")
_OPTIONS: Final = re.compile(r"\[(?P<options>[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]$")
_MACRO: Final = re.compile(
    r"(?P<name>image|video|audio|include|ifdef|ifndef|ifeval|endif|toc)::(?P<target>[^\[]*)\[(?P<text>.*)\]$"
)
_ADMONITION: Final = re.compile(r"(NOTE|TIP|WARNING|IMPORTANT|CAUTION):[ \t]+")
_FENCE: Final = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```.*|[|,:!]={3,})$")
_CHECK: Final = re.compile(r"\[([ xX*])\][ \t]+")


@dataclass(slots=True)
class _Document:
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    path: HeadingPath = ()
    options: str = ""
    """What stands in brackets before a block."""
    markers: list[str] = field(default_factory=list[str])
    """Of the lists around."""
    attached: bool = False
    """Whether the next block belongs to the item before it."""

    def section(self, content: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=content, anchor=section_anchor(headings), headings=headings, kind=kind)

    def words(self, content: str) -> str:
        return plain(content, self.attributes)


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading"."""
    encoding = opened(path)
    if path.stat().st_size > _LARGEST:
        yield from joined(text.sections(text_lines(path, encoding)))
        return
    lines = [line.text.rstrip() for line in text_lines(path, encoding)]
    yield from joined(_blocks(_Document(), lines, level=0))


def _blocks(document: _Document, lines: list[str], *, level: int) -> Iterator[Section]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line:
            if not document.attached and at + 1 < len(lines) and not _ITEM.match(lines[at + 1]):
                document.markers.clear()
            at += 1
        elif line == "+":
            document.attached = True
            at += 1
        elif _FENCE.match(line) and not _is_underline(lines, at):
            end = _closing(lines, at)
            yield from _delimited(document, line, lines[at + 1 : end], level)
            document.options, document.attached = "", False
            at = end + 1
        else:
            end, sections = _line(document, lines, at)
            yield from sections
            at = end


def _line(document: _Document, lines: list[str], at: int) -> tuple[int, list[Section]]:
    """What begins on a line that opens no block: the line after it, and its sections."""
    line = lines[at]
    if line.startswith("//"):
        return at + 1, []
    if (attribute := _ATTRIBUTE.match(line)) is not None:
        if not attribute["off"]:
            document.attributes[attribute["name"].lower()] = document.words(attribute["value"] or "")
        return at + 1, []
    if (heading := _heading(lines, at)) is not None:
        level, title, end = heading
        document.path = entered(document.path, level, document.words(title))
        document.options = ""
        document.markers.clear()
        return end, [document.section(document.words(title))]
    if (options := _OPTIONS.match(line)) is not None:
        document.options = options["options"] if not line.startswith("[[") else document.options
        return at + 1, []
    if (macro := _MACRO.match(line)) is not None:
        alt = macro["text"].partition(",")[0].strip('"') if macro["name"] == "image" else ""
        return at + 1, [document.section(document.words(alt))]
    if line.startswith(".") and len(line) > 1 and line[1] not in ". ":
        return at + 1, [document.section(document.words(line[1:]))]
    if set(line) <= {"'"} or set(line) <= {"<"}:
        return at + 1, []
    return _text(document, lines, at)


def _text(document: _Document, lines: list[str], at: int) -> tuple[int, list[Section]]:
    """A paragraph, an item of a list, or words set off by a blank at their beginning."""
    item, term = _ITEM.match(lines[at]), _TERM.match(lines[at])
    end = at + 1
    while end < len(lines) and lines[end] and not _breaks(lines[end], in_list=bool(item or term)):
        end += 1
    rest = [line.strip() for line in lines[at + 1 : end] if not line.startswith("//")]
    if item is not None:
        content = document.words("\n".join([item["text"], *rest]))
        return end, [document.section(_listed(document, item["marker"], content, _indent(lines[at])), "list")]
    if term is not None:
        definition = document.words("\n".join(filter(None, [term["text"] or "", *rest])))
        shown = (
            f"{document.words(term['term'])}: {definition}".rstrip(": ")
            if definition
            else document.words(term["term"])
        )
        return end, [document.section(_listed(document, term["sign"], shown, _indent(lines[at])), "list")]
    if lines[at][0].isspace() and not document.attached:
        return end, [document.section("\n".join(lines[at:end]), "code")]
    content = document.words(_ADMONITION.sub(_capitalized, "\n".join([lines[at], *rest]), count=1))
    label = _label(document)
    document.options = ""
    if document.attached and document.markers:
        document.attached = False
        indent = "  " * len(document.markers)
        return end, [document.section(indent + content.replace("\n", f"\n{indent}"), "list")]
    return end, [document.section(label + content)]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _listed(document: _Document, marker: str, content: str, indentation: str) -> str:
    """An item with its marker, as deep as the markers around it say."""
    kind = indentation + ("1." if marker[0].isdigit() else marker)
    if kind in document.markers:
        del document.markers[document.markers.index(kind) + 1 :]
    else:
        document.markers.append(kind)
    indent = "  " * (len(document.markers) - 1)
    check = _CHECK.match(content)
    if check is not None:
        content = f"[{' ' if check[1] == ' ' else 'x'}] {content[check.end() :]}"
    shown = "- " if marker[0] in "*-•.:;" else f"{marker} "
    if marker.startswith("."):
        shown = "1. " if len(set(marker)) == 1 else shown
    return indent + shown + content.replace("\n", f"\n{indent}  ")


def _capitalized(label: re.Match[str]) -> str:
    return f"{label[1].capitalize()}: "


def _label(document: _Document) -> str:
    kind = document.options.partition(",")[0].strip()
    return f"{kind.capitalize()}: " if kind in {"NOTE", "TIP", "WARNING", "IMPORTANT", "CAUTION"} else ""


def _breaks(line: str, *, in_list: bool) -> bool:
    """Whether a line ends the paragraph before it."""
    if line == "+" or _FENCE.match(line) or _OPTIONS.match(line) or _ATTRIBUTE.match(line):
        return True
    return in_list and (_ITEM.match(line) is not None or _TERM.match(line) is not None)


def _heading(lines: list[str], at: int) -> tuple[int, str, int] | None:
    heading = _HEADING.match(lines[at])
    if heading is not None:
        return len(heading["level"]), heading["title"], at + 1
    if at + 1 < len(lines) and _is_underline(lines, at + 1):
        return _UNDERLINE[lines[at + 1][0]], lines[at], at + 2
    return None


def _is_underline(lines: list[str], at: int) -> bool:
    """Whether the line underlines a title of about its length, as old documents have it."""
    line = lines[at]
    if at == 0 or len(line) < 3 or line[0] not in _UNDERLINE or len(set(line)) > 1:
        return False
    above, before = lines[at - 1], lines[at - 2] if at > 1 else ""
    is_title = (
        bool(above) and not before and any(map(str.isalnum, above)) and not above.startswith((".", "[", ":"))
    )
    return is_title and abs(len(above) - len(line)) <= 2


def _closing(lines: list[str], at: int) -> int:
    """The line that ends a block; the end of the document when none does."""
    mark = "```" if lines[at].startswith("```") else lines[at]
    return next((end for end in range(at + 1, len(lines)) if lines[end] == mark), len(lines))


def _delimited(document: _Document, mark: str, lines: list[str], level: int) -> Iterator[Section]:
    kind = mark[0]
    if kind == "/" or document.options.startswith("comment"):
        return
    if mark[1:].startswith("===") and kind in "|,:!":
        separator = "|" if kind in "|!" else kind
        rows = [line.replace("!", "|") for line in lines] if kind == "!" else lines
        yield document.section(
            table(rows, document.options, document.attributes, separator=separator), "table"
        )
    elif (
        (
            kind in "`."
            or (kind == "-" and len(mark) > 2)
            or document.options.startswith(("source", "listing", "literal"))
        )
        or kind == "+"
        or document.options.startswith(("stem", "latexmath", "asciimath"))
    ):
        yield document.section("\n".join(lines), "code")
    elif level < _DEEPEST:
        label = _label(document)
        document.options = ""
        for section in _blocks(document, lines, level=level + 1):
            yield document.section(label + section.text) if label and section.kind == "prose" else section
            label = ""
    else:
        yield document.section("\n".join(lines))
