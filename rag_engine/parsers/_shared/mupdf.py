"""A typed interface to PyMuPDF (AGPL-3.0 or commercial)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, cast

import pymupdf
from pymupdf import mupdf

from rag_engine.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path


class _Flags(Protocol):
    TEXT_COLLECT_VECTORS: int
    TEXT_PRESERVE_WHITESPACE: int
    TEXT_CLIP: int
    TEXT_USE_CID_FOR_UNKNOWN_UNICODE: int


_flags: Final = cast("_Flags", pymupdf)
TEXT_FLAGS: Final = (
    _flags.TEXT_PRESERVE_WHITESPACE | _flags.TEXT_CLIP | _flags.TEXT_USE_CID_FOR_UNKNOWN_UNICODE
)


class TextPage(Protocol):
    pass


class _Buffer(Protocol):
    def fz_buffer_extract(self) -> bytes: ...


class _Output(Protocol):
    def fz_close_output(self) -> None: ...


class _Widget(Protocol):
    m_internal: object


class _Bindings(Protocol):
    """Much faster than PyMuPDF's dictionaries."""

    def FzStextOptions(self, flags: int) -> object: ...  # noqa: N802 - MuPDF's names
    def FzStextPage(self, page: object, options: object = ...) -> TextPage: ...  # noqa: N802
    def FzMatrix(self) -> object: ...  # noqa: N802
    def FzCookie(self) -> object: ...  # noqa: N802
    def fz_bound_page(self, page: object) -> object: ...
    def fz_new_stext_device(self, text: TextPage, options: object) -> object: ...
    def fz_run_page_contents(self, page: object, device: object, matrix: object, cookie: object) -> None: ...
    def fz_run_page_annots(self, page: object, device: object, matrix: object, cookie: object) -> None: ...
    def fz_close_device(self, device: object) -> None: ...
    def FzBuffer(self, capacity: int) -> _Buffer: ...  # noqa: N802
    def FzOutput(self, buffer: _Buffer) -> _Output: ...  # noqa: N802
    def fz_print_stext_page_as_json(self, output: _Output, page: TextPage, scale: float) -> None: ...
    def fz_print_stext_page_as_xml_with_flags(
        self, output: _Output, page: TextPage, number: int, flags: int
    ) -> None: ...

    PDF_WIDGET_TYPE_CHECKBOX: int
    PDF_WIDGET_TYPE_RADIOBUTTON: int
    PDF_WIDGET_TYPE_TEXT: int
    PDF_WIDGET_TYPE_COMBOBOX: int
    PDF_WIDGET_TYPE_LISTBOX: int

    def pdf_page_from_fz_page(self, page: object) -> object: ...
    def pdf_first_widget(self, page: object) -> _Widget: ...
    def pdf_next_widget(self, widget: _Widget) -> _Widget: ...
    def pdf_widget_type(self, widget: _Widget) -> int: ...
    def pdf_annot_obj(self, widget: _Widget) -> object: ...
    def pdf_annot_field_value(self, widget: _Widget) -> str: ...
    def pdf_annot_field_label(self, widget: _Widget) -> str: ...
    def pdf_load_field_name(self, field: object) -> str: ...


_bindings: Final = cast("_Bindings", mupdf)


class Rect(Protocol):
    x0: float
    y0: float
    x1: float
    y1: float


class _Native(Protocol):
    def super(self) -> object: ...


class PdfPage(Protocol):
    rect: Rect
    first_annot: object
    rotation: int
    this: _Native

    def set_rotation(self, rotation: int) -> None: ...
    def get_images(self) -> list[object]: ...
    def get_bboxlog(self) -> list[tuple[str, tuple[float, float, float, float]]]: ...


class PdfDocument(Protocol):
    needs_pass: bool
    page_count: int
    metadata: dict[str, str | None] | None

    def load_page(self, index: int) -> PdfPage: ...
    def get_toc(self) -> list[tuple[int, str, int]]: ...
    def close(self) -> None: ...


class _Tools(Protocol):
    def mupdf_display_errors(self, on: bool) -> object: ...
    def mupdf_display_warnings(self, on: bool) -> object: ...
    def store_shrink(self, percent: int) -> object: ...


_tools: Final = cast("_Tools", pymupdf.TOOLS)
_tools.mupdf_display_errors(on=False)
_tools.mupdf_display_warnings(on=False)


def open_pdf(path: Path) -> PdfDocument:
    with translate_errors():
        return cast("PdfDocument", pymupdf.open(path, filetype="pdf"))


_pdf_page: Final = cast("type[_Native]", mupdf.PdfPage)
_TEXT_OPTIONS: Final = _bindings.FzStextOptions(TEXT_FLAGS)
_VECTOR_OPTIONS: Final = _bindings.FzStextOptions(TEXT_FLAGS | _flags.TEXT_COLLECT_VECTORS)


def text_page(page: PdfPage, *, vectors: bool = False, notes: bool = False) -> TextPage:
    """`vectors`: with drawn shapes; `notes`: with annotations, but no form fields."""
    native = page.this.super() if isinstance(page.this, _pdf_page) else page.this
    options = _VECTOR_OPTIONS if vectors else _TEXT_OPTIONS
    if not notes:
        return _bindings.FzStextPage(native, options)
    text = _bindings.FzStextPage(_bindings.fz_bound_page(native))
    device = _bindings.fz_new_stext_device(text, options)
    matrix, cookie = _bindings.FzMatrix(), _bindings.FzCookie()
    _bindings.fz_run_page_contents(native, device, matrix, cookie)
    _bindings.fz_run_page_annots(native, device, matrix, cookie)
    _bindings.fz_close_device(device)
    return text


def text_page_json(text: TextPage, scale: float) -> str:
    buffer = _bindings.FzBuffer(1 << 16)
    output = _bindings.FzOutput(buffer)
    _bindings.fz_print_stext_page_as_json(output, text, scale)
    output.fz_close_output()
    return buffer.fz_buffer_extract().decode("utf-8", "replace")


def text_page_xml(text: TextPage) -> str:
    buffer = _bindings.FzBuffer(1 << 16)
    output = _bindings.FzOutput(buffer)
    _bindings.fz_print_stext_page_as_xml_with_flags(output, text, 0, 0)
    output.fz_close_output()
    return buffer.fz_buffer_extract().decode("utf-8", "replace")


FieldKind: TypeAlias = Literal["box", "text"]
_KINDS: Final[dict[int, FieldKind]] = {
    _bindings.PDF_WIDGET_TYPE_CHECKBOX: "box",
    _bindings.PDF_WIDGET_TYPE_RADIOBUTTON: "box",
    _bindings.PDF_WIDGET_TYPE_TEXT: "text",
    _bindings.PDF_WIDGET_TYPE_COMBOBOX: "text",
    _bindings.PDF_WIDGET_TYPE_LISTBOX: "text",
}


def form_fields(page: PdfPage) -> Iterator[tuple[FieldKind, str, str, str]]:
    """Kind, value, label and full name; PyMuPDF takes longer for these than for the page."""
    native = page.this
    widget = _bindings.pdf_first_widget(
        native if isinstance(native, _pdf_page) else _bindings.pdf_page_from_fz_page(native)
    )
    while widget.m_internal:
        kind = _KINDS.get(_bindings.pdf_widget_type(widget))
        value = _bindings.pdf_annot_field_value(widget) if kind else ""
        if kind and value:
            name = _bindings.pdf_load_field_name(_bindings.pdf_annot_obj(widget))
            yield kind, value, _bindings.pdf_annot_field_label(widget), name
        widget = _bindings.pdf_next_widget(widget)


_MANY_PATHS: Final = 40


def picture_share(page: PdfPage, *, with_shapes: bool = False) -> float:
    if not with_shapes and not page.get_images():
        return 0.0
    width, height = page.rect.x1 - page.rect.x0, page.rect.y1 - page.rect.y0
    pictures = shapes = 0.0
    paths = 0
    for kind, (x0, y0, x1, y1) in page.get_bboxlog():
        area = max(min(x1, width) - max(x0, 0.0), 0.0) * max(min(y1, height) - max(y0, 0.0), 0.0)
        if "image" in kind:
            pictures += area
        elif "path" in kind:
            paths += 1
            shapes += area
    if with_shapes and paths > _MANY_PATHS:
        pictures += shapes
    return min(pictures / max(width * height, 1.0), 1.0)


def empty_store() -> None:
    _tools.store_shrink(100)


@contextmanager
def translate_errors() -> Generator[None]:
    try:
        yield
    except (pymupdf.FileDataError, mupdf.FzErrorBase, RuntimeError, ValueError, IndexError) as error:
        raise CorruptFile("The PDF is damaged and cannot be opened; save or download it again.") from error
