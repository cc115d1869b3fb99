from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.math import math_text
from rag_engine.parsers._ooxml.package import MC, Element, M, W, chosen_alternative, value
from rag_engine.parsers._shared.symbols import as_written, raised, sign
from rag_engine.parsers.documents._docx.drawings import AnchoredObject, anchored_objects
from rag_engine.parsers.documents._docx.fields import Field, computed_result
from rag_engine.parsers.documents._docx.styles import switch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rag_engine.parsers.documents._docx.hidden_text import HiddenRuns

PAGE_NUMBER: Final = "\x00"
_BREAKS: Final = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_SKIPPED: Final = frozenset(
    {f"{W}{name}" for name in ("moveFrom", "rt", "pPr", "rPr", "sdtPr", "rubyPr", "delText", "pgNum")}
    | {
        f"{W}{name}"
        for name in ("footnoteRef", "endnoteRef", "annotationRef", "softHyphen", "tcPr", "delInstrText")
    }
)
_CONTENTS_LINE: Final = re.compile(r"\t[^\S\t]*+[0-9ivxlcdm]++\s*+$", re.IGNORECASE)
_LONGEST_QUOTE: Final = 80
_DEEPEST: Final = 40
_MOST_RANGES: Final = 100
_MOST_COMPARED: Final = 10


@dataclass(slots=True, kw_only=True)
class DocxParagraph:
    pieces: list[str] = field(default_factory=list[str])
    anchored: list[AnchoredObject] = field(default_factory=list[AnchoredObject])
    notes: list[tuple[str, str, bool]] = field(default_factory=list[tuple[str, str, bool]])
    in_contents: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def is_contents(self) -> bool:
        return self.in_contents and _CONTENTS_LINE.search(self.text) is not None


class TextReader:
    """Needs paragraphs in sequence, because a field may span several."""

    def __init__(self, hidden: HiddenRuns) -> None:
        self._hidden = hidden
        self._properties: Element | None = None
        self._fields: list[Field] = []
        self._font = ""
        self._is_raised = False
        self.deleted_notes: set[tuple[str, str]] = set()
        self.quotes: dict[str, str] = {}
        self._ranges: dict[str, int] = {}
        self._handlers: Mapping[object, Callable[[Element, DocxParagraph], None]] = {
            f"{W}t": self._words,
            f"{W}r": self._run,
            f"{W}fldChar": self._field_sign,
            f"{W}instrText": self._field_code,
            f"{W}fldSimple": self._simple_field,
            f"{W}sdt": self._control,
            f"{W}sym": self._symbol,
            f"{W}del": self._deleted,
            f"{W}footnoteReference": self._note,
            f"{W}endnoteReference": self._note,
            f"{W}commentReference": self._note,
            f"{W}commentRangeStart": self._range_start,
            f"{W}commentRangeEnd": self._range_end,
            f"{W}drawing": self._drawing,
            f"{W}pict": self._drawing,
            f"{W}object": self._drawing,
            f"{MC}AlternateContent": self._alternatives,
            f"{M}oMath": self._formula,
        }

    def read(self, paragraph: Element) -> DocxParagraph:
        line = DocxParagraph()
        self._properties = paragraph.find(f"{W}pPr")
        self._ranges.clear()
        self._walk(paragraph, line)
        for identifier in tuple(self._ranges):
            self._quote(identifier, line)
        # A field without an end must not hide the text.
        self._fields = [one for one in self._fields if not one.is_hidden]
        return line

    def forget(self) -> None:
        self._fields.clear()

    def _walk(self, element: Element, line: DocxParagraph) -> None:
        for child in element:
            tag = child.tag
            handler = self._handlers.get(tag)
            if handler is not None:
                handler(child, line)
            elif tag in _BREAKS:
                self._append(_BREAKS[str(tag)], line)
            elif tag not in _SKIPPED:
                self._walk(child, line)

    def _append(self, text: str, line: DocxParagraph) -> None:
        if self._fields:
            if any(one.is_hidden for one in self._fields):
                return
            for one in self._fields:
                one.has_result = True
            line.in_contents = line.in_contents or any(one.name == "TOC" for one in self._fields)
        line.pieces.append(text)

    def _words(self, element: Element, line: DocxParagraph) -> None:
        text = element.text or ""
        if "\n" in text and element.get("{http://www.w3.org/XML/1998/namespace}space") != "preserve":
            text = " ".join(text.split())
        self._append(raised(text) if self._is_raised else as_written(text, self._font), line)

    def _run(self, run: Element, line: DocxParagraph) -> None:
        properties = run.find(f"{W}rPr")
        self._font, self._is_raised = "", False
        if self._hidden.is_hidden(run, properties, self._properties):
            self._walk_signs(run, line)
            return
        if properties is not None:
            fonts = properties.find(f"{W}rFonts")
            self._font = "" if fonts is None else fonts.get(f"{W}ascii") or ""
            self._is_raised = value(properties, f"{W}vertAlign") == "superscript"
        self._walk(run, line)

    def _walk_signs(self, run: Element, line: DocxParagraph) -> None:
        for child in run:
            if child.tag == f"{W}fldChar":
                self._field_sign(child, line)
            elif child.tag == f"{W}instrText":
                self._field_code(child, line)
            elif child.tag == f"{W}t" and not any(one.is_hidden for one in self._fields):
                self._hidden.characters += len((child.text or "").strip())

    def _field_sign(self, element: Element, line: DocxParagraph) -> None:
        kind = element.get(f"{W}fldCharType")
        if kind == "begin":
            del self._fields[:-_DEEPEST]
            self._fields.append(Field(begin=element))
        elif self._fields and kind == "separate":
            self._fields[-1].in_result = True
            self._page_number(self._fields[-1], line)
        elif self._fields and kind == "end":
            ended = self._fields.pop()
            if not ended.in_result:
                self._page_number(ended, line)
            if not ended.has_result:
                self._append(computed_result(ended), line)

    def _page_number(self, one: Field, line: DocxParagraph) -> None:
        if one.is_page_number:
            line.pieces.append(PAGE_NUMBER)

    def _field_code(self, element: Element, _: DocxParagraph) -> None:
        if self._fields and not self._fields[-1].in_result:
            self._fields[-1].code += element.text or ""

    def _simple_field(self, element: Element, line: DocxParagraph) -> None:
        one = Field(begin=element, code=element.get(f"{W}instr") or "", in_result=True)
        self._page_number(one, line)
        self._fields.append(one)
        self._walk(element, line)
        self._fields.pop()

    def _control(self, control: Element, line: DocxParagraph) -> None:
        if not shows_prompt(control):
            self._walk(control, line)

    def _symbol(self, element: Element, line: DocxParagraph) -> None:
        try:
            code = int(element.get(f"{W}char") or "", 16)
        except ValueError:
            return
        self._append(sign(code, element.get(f"{W}font") or ""), line)

    def _deleted(self, element: Element, _: DocxParagraph) -> None:
        for found in element.iter(f"{W}footnoteReference", f"{W}endnoteReference", f"{W}commentReference"):
            self.deleted_notes.add((_kind(found), found.get(f"{W}id") or ""))

    def _note(self, element: Element, line: DocxParagraph) -> None:
        mark = element.get(f"{W}customMarkFollows")
        has_mark = mark is not None and mark.lower() not in {"0", "false", "off"}
        line.notes.append((_kind(element), element.get(f"{W}id") or "", has_mark))

    def _range_start(self, element: Element, line: DocxParagraph) -> None:
        if len(self._ranges) < _MOST_RANGES:
            self._ranges[element.get(f"{W}id") or ""] = len(line.pieces)

    def _range_end(self, element: Element, line: DocxParagraph) -> None:
        self._quote(element.get(f"{W}id") or "", line)

    def _quote(self, identifier: str, line: DocxParagraph) -> None:
        start = self._ranges.pop(identifier, None)
        if start is not None:
            words = " ".join("".join(line.pieces[start:]).replace(PAGE_NUMBER, "").split())
            short = (
                words if len(words) <= _LONGEST_QUOTE else f"{words[:_LONGEST_QUOTE].rpartition(' ')[0]} …"
            )
            self.quotes[identifier] = short

    def _formula(self, element: Element, line: DocxParagraph) -> None:
        if line.pieces and not line.pieces[-1].endswith((" ", "\t", "\n", "(")):
            self._append(" ", line)
        self._append(math_text(element), line)

    def _alternatives(self, element: Element, line: DocxParagraph) -> None:
        for child in chosen_alternative(element):
            if child.tag in self._handlers:
                self._handlers[child.tag](child, line)
            else:
                self._walk(child, line)

    def _drawing(self, element: Element, line: DocxParagraph) -> None:
        for thing in anchored_objects(element):
            if thing not in line.anchored[-_MOST_COMPARED:]:
                line.anchored.append(thing)


def shows_prompt(control: Element) -> bool:
    properties = control.find(f"{W}sdtPr")
    prompt = None if properties is None else properties.find(f"{W}showingPlcHdr")
    return prompt is not None and switch(prompt)


def _kind(reference: Element) -> str:
    return str(reference.tag).removeprefix(W).removesuffix("Reference")
