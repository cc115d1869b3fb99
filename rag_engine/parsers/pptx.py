"""PPTX by python-pptx: slides in their order with title, text, tables, charts and speaker notes."""

from __future__ import annotations

import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol, cast

import pptx
from pptx.exc import PythonPptxError

from rag_engine.errors import CorruptFile
from rag_engine.parsers._archives import check_archive
from rag_engine.parsers._sections import clean, is_blank, joined, one_line
from rag_engine.parsers._tables import table_text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path

_DEEPEST: Final = 20
"""Groups in groups beyond this are left out."""


class _Paragraph(Protocol):
    text: str
    level: int


class _TextFrame(Protocol):
    text: str
    paragraphs: Iterable[_Paragraph]


class _Cell(Protocol):
    text: str


class _Row(Protocol):
    cells: Iterable[_Cell]


class _Table(Protocol):
    rows: Iterable[_Row]


class _Series(Protocol):
    name: str
    values: Iterable[float | None]


class _Plot(Protocol):
    categories: Iterable[object]
    series: Iterable[_Series]


class _Chart(Protocol):
    has_title: bool
    chart_title: _HasTextFrame
    plots: Iterable[_Plot]


class _HasTextFrame(Protocol):
    text_frame: _TextFrame


class _Shape(Protocol):
    """The parts of python-pptx's shapes that are used here, of whichever class of shape has them."""

    shape_id: int
    has_text_frame: bool
    has_table: bool
    has_chart: bool
    text_frame: _TextFrame
    table: _Table
    chart: _Chart
    shapes: Iterable[_Shape]


class _Shapes(Protocol):
    title: _Shape | None

    def __iter__(self) -> Iterator[_Shape]: ...


class _NotesSlide(Protocol):
    notes_text_frame: _TextFrame | None


class _Slide(Protocol):
    shapes: _Shapes
    has_notes_slide: bool
    notes_slide: _NotesSlide


class _Presentation(Protocol):
    slides: Iterable[_Slide]


_open: Final = cast("Callable[[str], _Presentation]", pptx.Presentation)


def parse(path: Path) -> Iterator[Section]:
    """A section per slide, "slide 2", under its title; tables and notes by themselves."""
    check_archive(path)
    with _translate_errors():
        presentation = _open(str(path))
    yield from joined(_sections(presentation))


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except (
        *(PythonPptxError, SyntaxError, KeyError, ValueError, TypeError, AttributeError, IndexError),
        *(OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error),
    ) as error:
        # python-pptx lets every error of damaged XML through; a SyntaxError is that of the XML parser.
        raise CorruptFile("The presentation is damaged and cannot be read; save it again.") from error


def _sections(presentation: _Presentation) -> Iterator[Section]:
    with _translate_errors():
        for number, slide in enumerate(presentation.slides, 1):
            yield from _slide_sections(slide, f"slide {number}")


def _slide_sections(slide: _Slide, anchor: str) -> Iterator[Section]:
    title = slide.shapes.title
    heading = one_line(title.text_frame.text) if title is not None and title.has_text_frame else ""
    headings = (heading,) if heading else ()
    if heading:
        yield Section(text=heading, anchor=anchor, headings=headings)
    for shape in _flat(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_sections(shape, anchor, headings)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text
        yield Section(text=notes, anchor=anchor, headings=(*headings, "Notes"))


def _flat(shapes: Iterable[_Shape], depth: int = 0) -> Iterator[_Shape]:
    """Shapes with those of groups, in the order they are drawn, which is the order they are read to the blind."""
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEEPEST:
            yield from _flat(shape.shapes, depth + 1)
        else:
            yield shape


def _shape_sections(shape: _Shape, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
    if getattr(shape, "has_table", False):
        text = table_text([cell.text for cell in row.cells] for row in shape.table.rows)
        yield Section(text=text, anchor=anchor, headings=headings, kind="table")
    elif getattr(shape, "has_chart", False):
        yield from _chart_sections(shape.chart, anchor, headings)
    elif shape.has_text_frame:
        paragraphs = (clean(paragraph.text) for paragraph in shape.text_frame.paragraphs)
        text = "\n".join(paragraph for paragraph in paragraphs if not is_blank(paragraph))
        yield Section(text=text, anchor=anchor, headings=headings)


def _chart_sections(chart: _Chart, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
    """A chart's title, and its numbers as the table they were made from."""
    if chart.has_title:
        yield Section(text=chart.chart_title.text_frame.text, anchor=anchor, headings=headings)
    for plot in chart.plots:
        series = list(plot.series)
        columns = [[_number(value) for value in one.values] for one in series]
        categories = [str(category) for category in plot.categories]
        rows = [["", *(one.name or "" for one in series)]]
        rows += [
            [category, *(column[at] if at < len(column) else "" for column in columns)]
            for at, category in enumerate(categories)
        ]
        yield Section(text=table_text(rows), anchor=anchor, headings=headings, kind="table")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.15g}"
