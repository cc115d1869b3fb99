from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from rag_engine.errors import CorruptFile, EmptyDocument, FileTooLarge
from rag_engine.parsers._shared.encoding import read_text
from rag_engine.parsers._shared.sections import NO_TEXT, HeadingPath, clean, entered, is_blank, joined, titles
from rag_engine.parsers.texts import html, markdown
from rag_engine.parsers.texts.markdown import SourcePosition
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES: Final = "ipynb"
CONTENT: Final = "text"

Map: TypeAlias = dict[str, object]

_LARGEST: Final = 200 << 20
_LONGEST_OUTPUT: Final = 200_000
_TERMINAL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")
_WRITTEN_OVER: Final = re.compile(r"^[^\n]*\r(?!\n)", re.MULTILINE)
_OBJECT: Final = re.compile(r"<[\w.]+(?: [^<>]{0,200})?>")


def parse(path: Path) -> Iterator[Section]:
    """Anchored "cell 3", under the headings of earlier Markdown cells."""
    if path.stat().st_size > _LARGEST:
        raise FileTooLarge("The notebook is too large to be read; clear its outputs and add it again.")
    try:
        text = read_text(path)
        if is_blank(text):
            raise EmptyDocument(NO_TEXT)
        notebook: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptFile("The notebook is damaged or was cut off; save it and add it again.") from error
    yield from joined(_cells(_map(notebook)))


def _cells(notebook: Map) -> Iterator[Section]:
    # Before format 4 the cells were in worksheets.
    sheets = [_map(sheet) for sheet in _list(notebook.get("worksheets"))] or [notebook]
    cells = [_map(cell) for sheet in sheets for cell in _list(sheet.get("cells"))]
    path: HeadingPath = ()
    for number, cell in enumerate(cells, 1):
        source = _text(cell.get("source", cell.get("input")))
        anchor = f"cell {number}"
        match cell.get("cell_type"):
            case "markdown":
                place = SourcePosition(path=path, anchor=anchor)
                yield from markdown.sections(clean(source), place)
                path = place.path
            case "heading":
                level = cell.get("level")
                path = entered(path, level if isinstance(level, int) else 1, source)
                yield Section(text=source, anchor=anchor, headings=titles(path))
            case "code":
                headings = titles(path)
                yield Section(text=source, anchor=anchor, headings=headings, kind="code")
                for output in _list(cell.get("outputs")):
                    yield from _output(_map(output), anchor, headings)
            case _:
                yield Section(text=source, anchor=anchor, headings=titles(path))


def _output(output: Map, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
    kind = output.get("output_type")
    if kind == "stream":
        yield Section(text=_printed(output.get("text")), anchor=anchor, headings=headings, kind="code")
    elif kind in {"error", "pyerr"}:
        message = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
        yield Section(text=_printed(message), anchor=anchor, headings=headings, kind="code")
    else:
        # In format 3 the media types were keys of the output itself.
        yield from _result(_map(output.get("data")) or output, anchor, headings)


def _result(data: Map, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
    page = _text(data.get("text/html", data.get("html")))[:_LONGEST_OUTPUT]
    plain = _printed(data.get("text/plain", data.get("text")))
    if "<table" in page or (page and not plain.strip()):
        try:
            for section in html.sections(page):
                yield Section(text=section.text, anchor=anchor, headings=headings, kind=section.kind)
        except CorruptFile:
            yield Section(text=plain, anchor=anchor, headings=headings, kind="code")
    elif words := _text(data.get("text/markdown")):
        yield from markdown.sections(clean(words), SourcePosition(path=_levels(headings), anchor=anchor))
    elif plain.strip() and not _OBJECT.fullmatch(plain.strip()):
        yield Section(text=plain, anchor=anchor, headings=headings, kind="code")
    elif not plain.strip():
        formula = _text(data.get("text/latex", data.get("latex")))
        yield Section(text=formula, anchor=anchor, headings=headings, kind="code")


def _levels(headings: tuple[str, ...]) -> HeadingPath:
    return tuple((place - len(headings), heading) for place, heading in enumerate(headings))


def _printed(value: object) -> str:
    text = _TERMINAL.sub("", _text(value)[:_LONGEST_OUTPUT])
    return _WRITTEN_OVER.sub("", text.replace("\r\n", "\n"))


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(line for line in cast("list[object]", value) if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _map(value: object) -> Map:
    return cast("Map", value) if isinstance(value, dict) else {}
