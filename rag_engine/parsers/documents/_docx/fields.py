from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import W, number, value
from rag_engine.parsers._shared.symbols import sign
from rag_engine.parsers.documents._docx.styles import switch

if TYPE_CHECKING:
    from rag_engine.parsers._ooxml.package import Element

_PAGE_FIELDS: Final = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "PAGENUM"})
_SILENT_FIELDS: Final = frozenset({"XE", "TC", "RD", "TA", "ASK", "SET"})
_BASE: Final = re.compile(
    r"\\o\\?(?:\\a[dclr])?\(\\s\\up\s*\d+\([^()]*\)\s*+[,;]\s*+([^()]*)\)", re.IGNORECASE
)
_SYMBOL_FIELD: Final = re.compile(r'SYMBOL\s+(0x[0-9a-f]+|\d+)(?:.*?\\f\s+"?([^"\\]+))?', re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class Field:
    begin: Element
    code: str = ""
    in_result: bool = False
    has_result: bool = False

    @property
    def name(self) -> str:
        return (self.code.split() or [""])[0].upper()

    @property
    def is_hidden(self) -> bool:
        return not self.in_result or self.is_page_number or self.name in _SILENT_FIELDS

    @property
    def is_page_number(self) -> bool:
        return self.name in _PAGE_FIELDS


def computed_result(one: Field) -> str:
    if one.name == "FORMCHECKBOX":
        box = one.begin.find(f"{W}ffData/{W}checkBox")
        if box is None:
            return "☐"
        checked = box.find(f"{W}checked")
        checked = box.find(f"{W}default") if checked is None else checked
        return "☒" if checked is not None and switch(checked) else "☐"
    if one.name == "FORMDROPDOWN":
        options = one.begin.find(f"{W}ffData/{W}ddList")
        if options is None:
            return ""
        entries = [entry.get(f"{W}val") or "" for entry in options.iterfind(f"{W}listEntry")]
        at = number(value(options, f"{W}result") or value(options, f"{W}default"))
        return entries[at] if 0 <= at < len(entries) else ""
    if one.name == "SYMBOL" and (found := _SYMBOL_FIELD.search(one.code)) is not None:
        return sign(_number(found[1]), (found[2] or "").strip())
    if one.name == "EQ" and (base := _BASE.search(one.code)) is not None:
        return base[1]
    return ""


def _number(code: str) -> int:
    return int(code, 16) if code.lower().startswith("0x") else number(code)
