"""What a page of a PDF holds besides its text: the values of form fields, comments, and files attached to it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol, cast

from rag_engine.errors import CorruptFile
from rag_engine.parsers._mupdf import translate_errors
from rag_engine.parsers._sections import one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.parsers._mupdf import Document, Page

_MOST: Final = 1_000
"""Fields or comments of one page."""
_TICKED: Final = "CheckBox"
_RADIO: Final = "RadioButton"
_WITH_VALUES: Final = frozenset({"Text", "ComboBox", "ListBox", _TICKED, _RADIO})
_COMMENTS: Final = frozenset(
    {"Text", "FreeText", "Highlight", "Underline", "Squiggly", "StrikeOut", "Stamp", "Caret"}
)
_MARKS: Final = frozenset({"Highlight", "Underline", "Squiggly", "StrikeOut"})
_OFF: Final = frozenset({"", "Off", "No", "False"})


class _Field(Protocol):
    field_type_string: str
    field_name: str | None
    field_label: str | None
    field_value: object


class _Annotation(Protocol):
    type: tuple[int, str]
    info: dict[str, str]
    rect: object


class _NotedPage(Protocol):
    first_annot: _Annotation | None
    first_widget: _Field | None

    def widgets(self) -> Iterator[_Field]: ...
    def annots(self) -> Iterator[_Annotation]: ...
    def get_textbox(self, rect: object) -> str: ...


class _NotedDocument(Protocol):
    is_form_pdf: object

    def embfile_names(self) -> list[str]: ...
    def pdf_catalog(self) -> int: ...
    def xref_get_key(self, xref: int, key: str) -> tuple[str, str]: ...


def has_fields(document: Document) -> bool:
    """Whether the document is a form."""
    return bool(cast("_NotedDocument", document).is_form_pdf)


def page_notes(page: Page, anchor: str, text: str, *, fields: bool) -> list[Section]:
    """The filled form fields of a page, if it may have any, and the comments on it; damaged ones are left out."""
    noted = cast("_NotedPage", page)
    notes: list[Section] = []
    try:
        with translate_errors():
            if fields and noted.first_widget is not None:
                lines = list(dict.fromkeys(_values(islice(noted.widgets(), _MOST))))
                if lines:
                    notes.append(
                        Section(text="\n".join(["Form fields:", *lines]), anchor=anchor, kind="list")
                    )
            if noted.first_annot is not None:
                comments = list(_comments(noted, text))
                if comments:
                    notes.append(Section(text="\n".join(comments), anchor=anchor, kind="list"))
    except CorruptFile:
        return notes
    return notes


def _values(fields: Iterable[_Field]) -> Iterator[str]:
    for field in fields:
        if field.field_type_string not in _WITH_VALUES:
            continue
        name = one_line(field.field_label or "") or _short(field.field_name or "")
        value = field.field_value
        texts = (
            [str(item) for item in cast("list[object]", value)]
            if isinstance(value, list)
            else [str(value or "")]
        )
        shown = one_line(", ".join(texts))
        if field.field_type_string in {_TICKED, _RADIO}:
            if shown in _OFF:
                continue
            # The value of a box is often only "On", "Yes" or a number, and says nothing.
            ticked = (
                field.field_type_string == _TICKED
                or shown.casefold() in {"on", "yes", "true"}
                or shown.isdigit()
            )
            yield f"{name}: ticked" if ticked else f"{name}: {shown}"
        elif shown:
            yield f"{name}: {shown}" if name else shown


def _short(name: str) -> str:
    """The last part of a field's full name: "topmostSubform[0].Page1[0].City[0]" is "City"."""
    return one_line(name.rsplit(".", 1)[-1].split("[", 1)[0])


def _comments(page: _NotedPage, text: str) -> Iterator[str]:
    for annotation in islice(page.annots(), _MOST):
        kind = annotation.type[1]
        content = one_line(annotation.info.get("content", ""))
        # What stands on the page as text is read there.
        if kind not in _COMMENTS or not content or (kind == "FreeText" and content in " ".join(text.split())):
            continue
        author = one_line(annotation.info.get("title", ""))
        marked = one_line(page.get_textbox(annotation.rect)) if kind in _MARKS else ""
        by = f" by {author}" if author else ""
        on = f" on \u201c{marked}\u201d" if marked else ""
        yield f"Comment{by}{on}: {content}"


def attachments(document: Document) -> Iterator[Section]:
    """The names of files that the PDF carries with it."""
    try:
        with translate_errors():
            names = [
                one_line(name) for name in islice(cast("_NotedDocument", document).embfile_names(), _MOST)
            ]
    except CorruptFile:
        return
    if names:
        yield Section(text="Files attached to this PDF: " + ", ".join(names), anchor="p. 1", kind="list")


def is_dynamic_form(document: Document) -> bool:
    """Whether it is an XFA form, of which the pages may show nothing but a request to open it elsewhere."""
    noted = cast("_NotedDocument", document)
    try:
        with translate_errors():
            kind, _ = noted.xref_get_key(noted.pdf_catalog(), "AcroForm/XFA")
    except CorruptFile:
        return False
    return kind != "null"
