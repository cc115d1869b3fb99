from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol, cast

from rag_engine.errors import CorruptFile
from rag_engine.parsers._shared.mupdf import form_fields, translate_errors
from rag_engine.parsers._shared.sections import one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.parsers._shared.mupdf import FieldKind, PdfDocument, PdfPage, Rect
    from rag_engine.parsers.documents._pdf.lines import PageText

_MOST: Final = 1_000
_COMMENTS: Final = frozenset(
    {"Text", "FreeText", "Highlight", "Underline", "Squiggly", "StrikeOut", "Stamp", "Caret"}
)
_MARKS: Final = frozenset({"Highlight", "Underline", "Squiggly", "StrikeOut"})
_OFF: Final = frozenset({"", "Off"})
_ON: Final = frozenset({"on", "yes", "true"})


class _Annotation(Protocol):
    type: tuple[int, str]
    info: dict[str, str]
    rect: Rect


class _NotedPage(Protocol):
    def annots(self) -> Iterator[_Annotation]: ...
    def get_text(self, kind: str) -> list[tuple[float, float, float, float, str, int, int, int]]: ...


class _NotedDocument(Protocol):
    is_form_pdf: object

    def embfile_names(self) -> list[str]: ...
    def pdf_catalog(self) -> int: ...
    def xref_get_key(self, xref: int, key: str) -> tuple[str, str]: ...


def has_fields(document: PdfDocument) -> bool:
    return bool(cast("_NotedDocument", document).is_form_pdf)


def page_notes(page: PdfPage, anchor: str, text: PageText, *, fields: bool) -> list[Section]:
    if not fields and not text.noted:
        return []
    noted = cast("_NotedPage", page)
    notes: list[Section] = []
    try:
        with translate_errors():
            if fields:
                lines = list(dict.fromkeys(_values(islice(form_fields(page), _MOST))))
                if lines:
                    notes.append(
                        Section(text="\n".join(["Form fields:", *lines]), anchor=anchor, kind="list")
                    )
            if text.noted:
                comments = list(_comments(noted, text.text))
                if comments:
                    notes.append(Section(text="\n".join(comments), anchor=anchor, kind="list"))
    except CorruptFile:
        return notes
    return notes


def _values(fields: Iterable[tuple[FieldKind, str, str, str]]) -> Iterator[str]:
    for kind, value, label, full_name in fields:
        shown, short = one_line(value), _short(full_name)
        # MuPDF repeats the name if there is no label.
        name = short if not label or label.startswith(f"{short}[") else one_line(label)
        if kind == "box":
            if shown not in _OFF:
                # A check box often has no value but "On" or a number.
                plain = shown.casefold() in _ON or shown.isdecimal()
                yield f"{name}: ticked" if plain else f"{name}: {shown}"
        elif shown:
            yield f"{name}: {shown}" if name else shown


def _short(name: str) -> str:
    """ "topmostSubform[0].Page1[0].City[0]" is "City"."""
    return one_line(name.rsplit(".", 1)[-1].split("[", 1)[0])


def _comments(page: _NotedPage, text: str) -> Iterator[str]:
    for annotation in islice(page.annots(), _MOST):
        kind = annotation.type[1]
        content = one_line(annotation.info.get("content", ""))
        if kind not in _COMMENTS or not content or (kind == "FreeText" and content in " ".join(text.split())):
            continue
        author = one_line(annotation.info.get("title", ""))
        marked = _words_in(page, annotation.rect) if kind in _MARKS else ""
        by = f" by {author}" if author else ""
        on = f" on \u201c{marked}\u201d" if marked else ""
        yield f"Comment{by}{on}: {content}"


def _words_in(page: _NotedPage, box: Rect) -> str:
    return " ".join(
        word
        for left, top, right, bottom, word, *_ in page.get_text("words")
        if box.x0 < (left + right) / 2 < box.x1 and box.y0 < (top + bottom) / 2 < box.y1
    )


def attachments(document: PdfDocument) -> Iterator[Section]:
    try:
        with translate_errors():
            names = [
                one_line(name) for name in islice(cast("_NotedDocument", document).embfile_names(), _MOST)
            ]
    except CorruptFile:
        return
    if names:
        yield Section(text="Files attached to this PDF: " + ", ".join(names), anchor="p. 1", kind="list")


def is_dynamic_form(document: PdfDocument) -> bool:
    noted = cast("_NotedDocument", document)
    try:
        with translate_errors():
            kind, _ = noted.xref_get_key(noted.pdf_catalog(), "AcroForm/XFA")
    except CorruptFile:
        return False
    return kind != "null"
