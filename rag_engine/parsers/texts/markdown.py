from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from rag_engine.errors import CorruptFile
from rag_engine.parsers._properties import text as text_properties
from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.sections import HeadingPath, clean, entered, joined, section_anchor, titles
from rag_engine.parsers._shared.tables import table_text
from rag_engine.parsers.texts import html, text
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from markdown_it.token import Token

SUFFIXES: Final = "md mdown mkd mdx qmd rmd"
CONTENT: Final = "text"

_LARGEST: Final = 8 << 20
"""Bytes; a larger file's tokens exceed a worker's memory."""
_WIKI_LINK: Final = re.compile(r"!?\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]")
_CALLOUT: Final = re.compile(r"\[!(\w{1,20})\][+-]?[ \t]*")
_TASK: Final = re.compile(r"\[([ xX])\][ \t]")
_TITLE: Final = re.compile(r"^title:[ \t]*(?P<title>\S.*)$", re.MULTILINE | re.IGNORECASE)
_FRONT: Final = re.compile(
    r"---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)|\+\+\+[ \t]*\n(?P<toml>.*?)\n\+\+\+[ \t]*(?:\n|$)",
    re.DOTALL,
)
_HEADING_ATTRIBUTES: Final = re.compile(r"(?<!\s)\s*\{[#.:][^{}\n]{0,200}\}\s*$")
_DIV: Final = re.compile(r"^[ \t]*+:{3,}+[ \t]*+(?:\{[^}\n]*+\}|[\w -]*+)[ \t]*+$", re.MULTILINE)
_IMPORTS: Final = re.compile(
    r"(?>(?:import\s++(?:[\w{}*,\s]{1,300}?\sfrom\s++)?[\"'“”‘’][^\"'\n]{1,200}[\"'“”‘’];?\s*+)+)"
)


@dataclass(slots=True)
class SourcePosition:
    path: HeadingPath = ()
    anchor: str = ""
    """Replaces the heading's anchor, such as "cell 3"."""
    markers: list[str] = field(default_factory=list[str])
    begins_item: bool = False
    row: list[str] = field(default_factory=list[str])
    rows: list[list[str]] = field(default_factory=list[list[str]])
    in_table: bool = False

    def section(self, content: str, kind: SectionKind) -> Section:
        headings = titles(self.path)
        return Section(
            text=content, anchor=self.anchor or section_anchor(headings), headings=headings, kind=kind
        )

    def paragraph(self, content: str) -> Section:
        if not self.markers:
            return self.section(content, "prose")
        marker = f"{self.markers[-1]} " if self.begins_item else " " * (len(self.markers[-1]) + 1)
        self.begins_item = False
        indent = "  " * (len(self.markers) - 1)
        return self.section(indent + marker + content.replace("\n", f"\n{indent}  "), "list")


properties: Final = text_properties.front_matter


def parse(path: Path) -> Iterator[Section]:
    encoding = text_encoding(path)
    if path.stat().st_size > _LARGEST:
        yield from joined(text.sections(text_lines(path, encoding)))
        return
    yield from joined(_document(clean(path.read_bytes().decode(encoding, errors="replace"))))


def _document(source: str) -> Iterator[Section]:
    place = SourcePosition()
    front = _FRONT.match(source)
    if front is not None:
        properties = front["yaml"] or front["toml"] or ""
        title = _TITLE.search(properties)
        if title is not None and not _begins_with_title(source[front.end() :]):
            place.path = entered((), 0, title["title"].strip("\"' "))
        yield place.section(properties, "prose")
        source = source[front.end() :]
    yield from sections(source, place)


def _begins_with_title(source: str) -> bool:
    return len(re.findall(r"^#[ \t]", source, re.MULTILINE)) == 1


def sections(source: str, place: SourcePosition) -> Iterator[Section]:
    tokens = _reader().parse(source)
    for position, token in enumerate(tokens):
        match token.type:
            case "inline" if tokens[position - 1].type == "heading_open":
                heading = _HEADING_ATTRIBUTES.sub("", _plain(token))
                if heading.strip():
                    place.path = entered(place.path, int(tokens[position - 1].tag[1]), heading)
                yield place.section(heading, "prose")
            case "inline" if place.in_table:
                place.row.append(_plain(token))
            case "inline":
                yield place.paragraph(_paragraph(token, place))
            case "fence" | "code_block":
                yield place.section(token.content, "code")
            case "html_block":
                yield from _html(token.content, place)
            case _:
                yield from _structure(token, place)


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"maxNesting": 50}).enable(["table", "strikethrough"])
    for plugin in (footnote_plugin, deflist_plugin):
        reader.use(cast("Any", plugin))
    return reader


def _structure(token: Token, place: SourcePosition) -> Iterator[Section]:
    match token.type:
        case "bullet_list_open" | "ordered_list_open":
            place.markers.append("-")
        case "bullet_list_close" | "ordered_list_close" | "footnote_close" | "dd_close":
            place.markers.pop()
        case "list_item_open":
            place.begins_item = True
            place.markers[-1] = f"{token.info}{token.markup}" if token.info else "-"
        case "footnote_open":
            place.markers.append(f"[{_label(token)}]")
            place.begins_item = True
        case "dd_open":
            place.markers.append(":")
            place.begins_item = True
        case "table_open":
            place.in_table = True
            place.rows = []
        case "tr_open":
            place.row = []
        case "tr_close":
            place.rows.append(place.row)
        case "table_close":
            place.in_table = False
            yield place.section(table_text(place.rows), "table")
        case _:
            return


def _label(token: Token) -> str:
    meta = cast("dict[str, object]", token.meta)
    label = meta.get("label")
    return f"^{label}" if label else f"^{cast('int', meta.get('id', 0)) + 1}"


def _paragraph(token: Token, place: SourcePosition) -> str:
    content = _plain(token)
    if place.begins_item and (task := _TASK.match(content)) is not None:
        mark = "x" if task[1] in "xX" else " "
        return f"[{mark}] {content[task.end() :]}"
    if ":::" in content:
        return _DIV.sub("", content)
    if content.startswith("import ") and _IMPORTS.fullmatch(content):
        return ""
    callout = _CALLOUT.match(content)
    if callout is not None:
        return f"{callout[1].capitalize()}: {content[callout.end() :].lstrip()}"
    return content


def _plain(token: Token) -> str:
    return _WIKI_LINK.sub(_link_text, "".join(_plain_pieces(token.children or ())))


def _link_text(link: re.Match[str]) -> str:
    return link[2] or link[1]


def _plain_pieces(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text" | "code_inline" | "text_special":
                yield token.content
            case "softbreak" | "hardbreak":
                yield "\n"
            case "image":
                yield _plain(token)
            case "footnote_ref":
                yield f"[{_label(token)}]"
            case "html_inline" if token.content.lower().startswith("<br"):
                yield "\n"
            case _:
                continue


def _html(source: str, place: SourcePosition) -> Iterator[Section]:
    try:
        for section in html.sections(source):
            yield place.section(section.text, section.kind)
    except CorruptFile:
        yield place.section(source, "prose")
