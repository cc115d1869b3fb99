"""Nothing is included or fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.sections import HeadingPath, entered, joined, section_anchor, titles
from rag_engine.parsers.texts import text
from rag_engine.parsers.texts._asciidoc.inline import plain, table
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES: Final = "adoc"
CONTENT: Final = "text"

_LARGEST: Final = 16 << 20
_DEEPEST: Final = 10
_ATTRIBUTE: Final = re.compile(r":(?P<name>!?[\w-]{1,60}!?):(?:[ \t]+(?P<value>.*))?$")
_HEADING: Final = re.compile(r"(?P<level>={1,6}|#{1,6})[ \t]+(?P<title>\S.*)")
_UNDERLINE: Final = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_ITEM: Final = re.compile(
    r"\s*(?P<marker>\*{1,6}|-|\.{1,6}|\d{1,9}\.|<(?:\d{1,3}|\.)>|•)[ \t]+(?P<text>\S.*)$"
)
_TERM: Final = re.compile(r"\s*(?P<text>\S.{0,300}?)(?P<marker>:{2,4}|;;)(?:[ \t]+(?P<definition>.*))?$")
_OPTIONS: Final = re.compile(r"\[(?P<options>[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]$")
_MACRO: Final = re.compile(
    r"(?P<name>image|video|audio|include|ifdef|ifndef|ifeval|endif|toc)::[^\[]*\[(?P<text>.*)\]$"
)
_ADMONITION: Final = re.compile(r"(NOTE|TIP|WARNING|IMPORTANT|CAUTION)(?::[ \t]+|$)")
_FENCE: Final = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```.*|\|={3,})$")
_CODE_OPTIONS: Final = ("source", "listing", "literal", "stem", "latexmath", "asciimath")


@dataclass(slots=True)
class _Document:
    longest_attribute: int
    """Bounds all references together, also recursive ones."""
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    path: HeadingPath = ()
    options: str = ""
    markers: list[str] = field(default_factory=list[str])
    attached: bool = False

    def section(self, content: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=content, anchor=section_anchor(headings), headings=headings, kind=kind)

    def words(self, content: str) -> str:
        return plain(content, self.attributes)

    def label(self) -> str:
        admonition, self.options = _ADMONITION.match(self.options.partition(",")[0]), ""
        return f"{admonition[1].capitalize()}: " if admonition is not None else ""


def parse(path: Path) -> Iterator[Section]:
    encoding = text_encoding(path)
    if path.stat().st_size > _LARGEST:
        yield from joined(text.sections(text_lines(path, encoding)))
        return
    lines = [line.text.rstrip() for line in text_lines(path, encoding)]
    references = sum(line.count("{") for line in lines)
    document = _Document(longest_attribute=max(_LARGEST // max(references, 1), 100))
    yield from joined(_blocks(document, lines, level=0))


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
            mark = "```" if line.startswith("```") else line
            end = next((end for end in range(at + 1, len(lines)) if lines[end] == mark), len(lines))
            yield from _delimited(document, mark, lines[at + 1 : end], level)
            document.options, document.attached = "", False
            at = end + 1
        else:
            at, section = _line_block(document, lines, at)
            if section is not None:
                yield section


def _line_block(document: _Document, lines: list[str], at: int) -> tuple[int, Section | None]:
    line = lines[at]
    if line.startswith("//") or set(line) <= {"'"} or set(line) <= {"<"}:
        return at + 1, None
    if (attribute := _ATTRIBUTE.match(line)) is not None:
        value = document.words(attribute["value"] or "")
        document.attributes[attribute["name"].lower()] = value[: document.longest_attribute]
        return at + 1, None
    if (heading := _heading(lines, at)) is not None:
        level, title, end = heading
        document.path = entered(document.path, level, document.words(title))
        document.options = ""
        document.markers.clear()
        return end, document.section(document.words(title))
    if (options := _OPTIONS.match(line)) is not None:
        document.options = document.options if line.startswith("[[") else options["options"]
        return at + 1, None
    if (macro := _MACRO.match(line)) is not None:
        description = macro["text"].partition(",")[0].strip('"') if macro["name"] == "image" else ""
        return at + 1, document.section(document.words(description))
    if line.startswith(".") and line[1:2] not in {"", ".", " "}:
        return at + 1, document.section(document.words(line[1:]))
    return _paragraph_or_item(document, lines, at)


def _paragraph_or_item(document: _Document, lines: list[str], at: int) -> tuple[int, Section]:
    item = _ITEM.match(lines[at]) or _TERM.match(lines[at])
    end = at + 1
    while end < len(lines) and lines[end] and not _ends_paragraph(lines[end], in_list=item is not None):
        end += 1
    rest = [line.strip() for line in lines[at + 1 : end] if not line.startswith("//")]
    if item is not None:
        return end, document.section(_item(document, item, rest), "list")
    if lines[at][0].isspace() and not document.attached:
        return end, document.section("\n".join(lines[at:end]), "code")
    content = document.words("\n".join([lines[at], *rest]))
    if (admonition := _ADMONITION.match(content)) is not None and admonition.end() < len(content):
        content = f"{admonition[1].capitalize()}: {content[admonition.end() :]}"
    content = document.label() + content
    if document.attached and document.markers:
        document.attached = False
        indent = "  " * len(document.markers)
        return end, document.section(indent + content.replace("\n", f"\n{indent}"), "list")
    return end, document.section(content)


def _item(document: _Document, item: re.Match[str], rest: list[str]) -> str:
    marker, source = item["marker"], item.string
    content = document.words(item["text"])
    if item.re is _TERM:
        definition = document.words("\n".join(filter(None, [item["definition"] or "", *rest])))
        content = f"{content}: {definition}" if definition else content
    else:
        content = document.words("\n".join([item["text"], *rest]))
    kind = source[: len(source) - len(source.lstrip())] + ("1." if marker[0].isdigit() else marker)
    if kind in document.markers:
        del document.markers[document.markers.index(kind) + 1 :]
    else:
        document.markers.append(kind)
    indent = "  " * (len(document.markers) - 1)
    bullet = "1." if marker.startswith(".") else "-" if marker[0] in "*-•:;" else marker
    return f"{indent}{bullet} " + content.replace("\n", f"\n{indent}  ")


def _ends_paragraph(line: str, *, in_list: bool) -> bool:
    if line == "+" or _FENCE.match(line) or _OPTIONS.match(line) or _ATTRIBUTE.match(line):
        return True
    return in_list and (_ITEM.match(line) is not None or _TERM.match(line) is not None)


def _heading(lines: list[str], at: int) -> tuple[int, str, int] | None:
    heading = _HEADING.match(lines[at])
    if heading is not None:
        title, level = heading["title"].rstrip(), heading["level"]
        closed = title.removesuffix(level)
        return len(level), closed.rstrip() if closed != title and closed[-1:].isspace() else title, at + 1
    if at + 1 < len(lines) and _is_underline(lines, at + 1):
        return _UNDERLINE[lines[at + 1][0]], lines[at], at + 2
    return None


def _is_underline(lines: list[str], at: int) -> bool:
    line = lines[at]
    if at == 0 or len(line) < 3 or line[0] not in _UNDERLINE or len(set(line)) > 1:
        return False
    above, before = lines[at - 1], lines[at - 2] if at > 1 else ""
    is_title = not before and any(map(str.isalnum, above)) and not above.startswith((".", "[", ":"))
    return is_title and abs(len(above) - len(line)) <= 2


def _delimited(document: _Document, mark: str, lines: list[str], level: int) -> Iterator[Section]:
    if mark[0] == "/" or document.options.startswith("comment"):
        return
    if mark[0] == "|":
        yield document.section(table(lines, document.options, document.attributes), "table")
    elif mark[0] in "`.+" or mark.startswith("----") or document.options.startswith(_CODE_OPTIONS):
        yield document.section("\n".join(lines), "code")
    elif level >= _DEEPEST:
        yield document.section("\n".join(lines))
    else:
        label = document.label()
        for section in _blocks(document, lines, level=level + 1):
            yield document.section(label + section.text) if label and section.kind == "prose" else section
            label = ""
