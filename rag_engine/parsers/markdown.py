"""Markdown by markdown-it-py: headings, paragraphs, lists, tables, code; the words without their markup."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from rag_engine.errors import CorruptFile, UnsupportedFile
from rag_engine.parsers import html, text
from rag_engine.parsers._encoding import encoding_of, text_lines
from rag_engine.parsers._sections import HeadingPath, clean, entered, joined, section_anchor, titles
from rag_engine.parsers._tables import table_text
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from markdown_it.token import Token

_LARGEST: Final = 8 << 20
"""Bytes: a larger file is read as plain text, line by line, as its tree of tokens would not fit the memory."""


@dataclass(slots=True)
class _Place:
    """Where in the document the tokens are."""

    path: HeadingPath = ()
    markers: list[str] = field(default_factory=list[str])
    """Of the lists around, outermost first: "-", or the number of the item."""
    begins_item: bool = False
    row: list[str] = field(default_factory=list[str])
    rows: list[list[str]] = field(default_factory=list[list[str]])
    in_table: bool = False

    def section(self, content: str, kind: SectionKind) -> Section:
        headings = titles(self.path)
        return Section(text=content, anchor=section_anchor(headings), headings=headings, kind=kind)

    def paragraph(self, content: str) -> Section:
        if not self.markers:
            return self.section(content, "prose")
        marker = f"{self.markers[-1]} " if self.begins_item else " " * (len(self.markers[-1]) + 1)
        self.begins_item = False
        indent = "  " * (len(self.markers) - 1)
        return self.section(indent + marker + content.replace("\n", f"\n{indent}  "), "list")


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading"."""
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is not text, so it cannot be read.")
    if path.stat().st_size > _LARGEST:
        yield from joined(text.sections(text_lines(path, encoding)))
        return
    yield from joined(_sections(clean(path.read_bytes().decode(encoding, errors="replace"))))


def _sections(source: str) -> Iterator[Section]:
    place = _Place()
    front, source = _front_matter(source)
    yield place.section(front, "prose")
    tokens = MarkdownIt("commonmark", {"maxNesting": 50}).enable(["table", "strikethrough"]).parse(source)
    for position, token in enumerate(tokens):
        match token.type:
            case "inline" if tokens[position - 1].type == "heading_open":
                heading = _plain(token)
                if heading.strip():
                    place.path = entered(place.path, int(tokens[position - 1].tag[1]), heading)
                yield place.section(heading, "prose")
            case "inline" if place.in_table:
                place.row.append(_plain(token))
            case "inline":
                yield place.paragraph(_plain(token))
            case "fence" | "code_block":
                yield place.section(token.content, "code")
            case "html_block":
                yield from _html(token.content, place)
            case _:
                yield from _structure(token, place)


def _structure(token: Token, place: _Place) -> Iterator[Section]:
    match token.type:
        case "bullet_list_open" | "ordered_list_open":
            place.markers.append("-")
        case "bullet_list_close" | "ordered_list_close":
            place.markers.pop()
        case "list_item_open":
            place.begins_item = True
            place.markers[-1] = f"{token.info}{token.markup}" if token.info else "-"
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


def _plain(token: Token) -> str:
    """Inline text without its markup; a picture is its description, a line end stays one."""
    return "".join(_plain_pieces(token.children or ()))


def _plain_pieces(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text" | "code_inline" | "text_special":
                yield token.content
            case "softbreak" | "hardbreak":
                yield "\n"
            case "image":
                yield _plain(token)
            case _:
                continue


def _html(source: str, place: _Place) -> Iterator[Section]:
    """HTML between Markdown: its words, under the Markdown's headings."""
    try:
        for section in html.sections(source):
            yield place.section(section.text, section.kind)
    except CorruptFile:
        yield place.section(source, "prose")


def _front_matter(source: str) -> tuple[str, str]:
    """The YAML between lines of three dashes at the beginning, and the rest."""
    if not source.startswith("---\n"):
        return "", source
    front, end, rest = source[4:].partition("\n---\n")
    return (front, rest) if end else ("", source)
