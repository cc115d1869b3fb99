from __future__ import annotations

import html.entities
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from lxml import etree

from rag_engine.errors import CorruptFile
from rag_engine.parsers._shared.encoding import markup_encoding, text_blocks, text_lines
from rag_engine.parsers._shared.sections import joined, one_line
from rag_engine.parsers._xml.documents import ROOTS, to_html
from rag_engine.parsers.data._trees.json_values import LONGEST_NAME, NAMING
from rag_engine.parsers.data._trees.tree import Tree, TreeBlock, lines_place
from rag_engine.parsers.texts import html as html_parser
from rag_engine.parsers.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rag_engine.types import Section

SUFFIXES: Final = (
    "rss atom nxml dita ditamap docbook dbk tei svg xsd xsl xslt wsdl plist kml gpx xliff xlf tmx "
    "opml resx ttml"
)
BEGINNING: Final = r"\s*<\?xml\s"
CONTENT: Final = "text"

_LARGEST_DOCUMENT: Final = 32 << 20
_ROOT: Final = re.compile(
    r"\A\ufeff?\s*+(?>(?><\?.*?\?>\s*+|<!--.*?-->\s*+|<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?>\s*+)*)<(?:[\w.-]+:)?([\w.-]+)",
    re.DOTALL,
)
_ENTITY: Final = re.compile(r"&(\w{1,30});")
_MARKUP: Final = re.compile(
    r"<(?:p|br|div|b|i|a|ul|li|img|h\d|table|span|strong|em)\b[^<>]*+>", re.IGNORECASE
)
_PREDEFINED: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_LONGEST_ENTITY: Final = 200
_MOST_EXPANDED: Final = 100_000
_LONGEST_TEXT: Final = 4_000
_LONGEST_ATTRIBUTE: Final = 200
_DEEPEST: Final = 60
_LARGEST_FEED: Final = 1 << 16


def parse(path: Path) -> Iterator[Section]:
    """Anchored "§ Heading" for documents, by lines for data; invalid XML is text."""
    encoding = markup_encoding(path)
    root = _root(path, encoding)
    if root == "html":
        yield from html_parser.parse(path)
    elif root in ROOTS and path.stat().st_size <= _LARGEST_DOCUMENT:
        yield from joined(_document(path, encoding))
    else:
        yield from joined(_data(path, encoding, attributes=root != "svg"))


def _root(path: Path, encoding: str) -> str:
    beginning = next(text_blocks(path, encoding), "")[:_LARGEST_FEED]
    found = _ROOT.match(beginning)
    return found[1] if found else ""


def _document(path: Path, encoding: str) -> Iterator[Section]:
    source = _ENTITY.sub(_character, "".join(text_blocks(path, encoding)))
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        recover=True,
    )
    try:
        root = etree.fromstring(source.encode("utf-8", errors="replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None or any("depth" in entry.message for entry in parser.error_log):
        yield from text.sections(text_lines(path, encoding))
        return
    yield from html_parser.walk(to_html(root))


def _character(reference: re.Match[str]) -> str:
    name = reference[1]
    code = None if name in _PREDEFINED else html.entities.name2codepoint.get(name)
    return chr(code) if code else reference[0]


def _data(path: Path, encoding: str, *, attributes: bool) -> Iterator[Section]:
    reader = _Reader(attributes=attributes)
    try:
        for block in text_blocks(path, encoding):
            for start in range(0, len(block), _LARGEST_FEED):
                yield from reader.feed(block[start : start + _LARGEST_FEED])
        yield from reader.feed("", last=True)
    except expat.ExpatError as error:
        yield from reader.end()
        rest = (line for line in text_lines(path, encoding) if line.number >= error.lineno)
        yield from text.sections(rest)
        return
    yield from reader.end()


@dataclass(slots=True)
class _OpenElement:
    name: str
    line: int
    attributes: str
    texts: list[str] = field(default_factory=list[str])
    size: int = 0
    limit: int = _LONGEST_TEXT
    entered: bool = False
    mixed: bool = False


class _Reader:
    """A default handler keeps expat from expanding internal entities."""

    def __init__(self, *, attributes: bool) -> None:
        self._with_attributes = attributes
        self._tree = Tree(lines_place)
        self._open: list[_OpenElement] = []
        self._inline = 0
        self._sections: list[Section] = []
        self._entities: dict[str, str] = {}
        self._expanded = 0
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.UseForeignDTD(True)
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self._add_characters
        self._parser.EntityDeclHandler = self._declare_entity
        self._parser.DefaultHandler = self._expand_entity

    def feed(self, source: str, *, last: bool = False) -> Iterator[Section]:
        self._parser.Parse(source.encode("utf-8", errors="replace"), last)
        yield from self._take_sections()

    def end(self) -> Iterator[Section]:
        while self._open:
            self._inline = 0
            self._end_element("")
        self._sections += self._tree.end()
        yield from self._take_sections()

    def _take_sections(self) -> Iterable[Section]:
        taken, self._sections = self._sections, []
        return taken

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        if self._inline:
            self._inline += 1
            self._open[-1].texts.append(" ")
            return
        if self._open:
            above = self._open[-1]
            if ((above.size or above.mixed) and not above.entered) or len(self._open) >= _DEEPEST:
                self._inline = 1
                above.mixed = True
                return
            self._add_text(above)
            if not above.entered:
                above.entered = True
                self._enter(above)
        shown = self._attribute_text(attributes) if attributes and self._with_attributes else ""
        self._open.append(_OpenElement(name.rpartition(":")[2], self._parser.CurrentLineNumber, shown))

    def _enter(self, element: _OpenElement) -> None:
        label = " ".join(part for part in (element.name, element.attributes) if part)
        head = TreeBlock(f"{'  ' * self._tree.depth}{label}:", first=element.line, last=element.line)
        self._tree.enter(element.name if len(self._open) > 1 else "", head=head)

    def _end_element(self, name: str) -> None:
        del name
        if self._inline:
            self._inline -= 1
            return
        element = self._open.pop()
        if element.entered:
            self._add_text(element)
            self._sections += self._tree.leave()
            return
        content = _plain_text("".join(element.texts))
        if not content and not element.attributes:
            return
        label = " ".join(part for part in (element.name, element.attributes) if part)
        self._add_block(element, content, f"{label}: {content}" if content else label)
        if element.name.lower() in NAMING and 0 < len(content) <= LONGEST_NAME and len(self._open) > 1:
            self._tree.name(content)

    def _add_text(self, element: _OpenElement) -> None:
        content = _plain_text("".join(element.texts))
        element.texts.clear()
        element.size = 0
        if content:
            self._add_block(element, content, content)

    def _add_block(self, element: _OpenElement, content: str, shown: str) -> None:
        last = self._parser.CurrentLineNumber
        indent = "  " * self._tree.depth
        if len(content) > _LONGEST_TEXT // 4:
            self._sections += self._tree.add_alone(
                TreeBlock(content, first=element.line, last=last), element.name
            )
        else:
            self._sections += self._tree.add(
                TreeBlock(indent + shown.replace("\n", f"\n{indent}"), first=element.line, last=last)
            )

    def _add_characters(self, data: str) -> None:
        if not self._open:
            return
        element = self._open[-1]
        if element.size or data.strip():
            element.texts.append(data)
            element.size += len(data)
            if element.size > element.limit and not self._inline:
                self._split_long_text(element)

    def _split_long_text(self, element: _OpenElement) -> None:
        content = "".join(element.texts)
        element.texts[:] = [content]
        element.limit = element.size * 2
        done, blank, rest = content.rpartition(" ")
        is_longest = element.size > _LONGEST_TEXT * 16
        if not is_longest and (not blank or _MARKUP.search(content)):
            return
        if not blank:
            done, rest = content, ""
        element.texts[:] = [rest]
        element.size, element.limit = len(rest), _LONGEST_TEXT
        part = TreeBlock(_plain_text(done), first=element.line, last=self._parser.CurrentLineNumber)
        self._sections += self._tree.add_alone(part, element.name)
        element.line = self._parser.CurrentLineNumber

    def _declare_entity(self, name: str, is_parameter: int, value: str | None, *_: str | None) -> None:
        if (
            not is_parameter
            and value is not None
            and len(value) <= _LONGEST_ENTITY
            and not set(value) & {"&", "<"}
        ):
            self._entities[name] = value

    def _expand_entity(self, data: str) -> None:
        reference = _ENTITY.fullmatch(data)
        if reference is None:
            return
        value = self._entities.get(reference[1], _character(reference))
        self._expanded += len(value)
        self._add_characters(value if self._expanded <= _MOST_EXPANDED else data)

    def _attribute_text(self, attributes: dict[str, str]) -> str:
        short = (
            f"{name.rpartition(':')[2]}={one_line(value)}"
            for name, value in attributes.items()
            if value.strip() and len(value) <= _LONGEST_ATTRIBUTE and not name.startswith("xmlns")
        )
        return " ".join(short)


def _plain_text(content: str) -> str:
    """Feeds embed HTML pages in one element."""
    if "<" in content and _MARKUP.search(content):
        try:
            return "\n".join(section.text for section in html_parser.sections(content))
        except CorruptFile:
            return content
    if "\n" not in content:
        return " ".join(content.split())
    return "\n".join(line for line in (" ".join(line.split()) for line in content.splitlines()) if line)
