from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile
from rag_engine.parsers._shared.symbols import as_written, raised
from rag_engine.parsers.documents._rtf.events import (
    Event,
    Group,
    RowEnd,
    RtfCell,
    RtfNote,
    RtfParagraph,
    RtfStyle,
)
from rag_engine.parsers.documents._rtf.tokens import (
    SYMBOLS,
    RtfToken,
    codec_of_character_set,
    codec_of_page,
    tokens,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

_DEEPEST: Final = 2_000
_MOST_BRACES: Final = 200_000
_KNOWN: Final = frozenset(
    {"shpinst", "do", "annotation", "atnauthor", "fldinst", "ud", "moMath", "footnote", "listtext", "pntext"}
    | {"shptxt", "nesttableprops", "fonttbl", "stylesheet"}
)
_IGNORED: Final = frozenset(
    {"colortbl", "info", "pict", "nonshppict", "shprslt", "sp", "objdata", "objclass", "objname", "xe", "tc"}
    | {"tcn", "rxe", "txe", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "mmathPict", "upr"}
    | {"nonesttables", "filetbl", "revtbl", "listtable", "listoverridetable", "rsidtbl", "generator"}
    | {"bkmkstart", "bkmkend", "themedata", "datafield", "formfield", "userprops", "template", "panose"}
    | {"pntxta", "pntxtb", "fname", "falt", "private", "colorschememapping", "latentstyles", "datastore"}
)
_NOTES: Final = {"footnote": "footnote", "annotation": "comment", "shptxt": "box", "dptxbxtext": "box"}
_MARGINS: Final = {
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "footer"),
}
_LABELS: Final = frozenset({"listtext", "pntext"})
_CHARACTERS: Final = {
    "tab": "\t",
    "line": "\n",
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "softline": "\n",
    "lbr": "\n",
}
_SYMBOLS: Final = {"~": "\u00a0", "_": "-", "\t": "\t"}
_SINKS: Final = frozenset({"fldinst", "atnauthor", "fonttbl", "stylesheet", *_NOTES, *_MARGINS, *_LABELS})
_TABLES: Final = frozenset({"fonttbl", "stylesheet"})
_PARAGRAPH_ENDS: Final = frozenset({"par", "sect", "page", "column"})


@dataclass(slots=True)
class _Sink:
    role: str
    depth: int
    pieces: list[str] = field(default_factory=list[str])
    kind: str = ""


@dataclass(slots=True)
class RtfReader:
    """`styles` is complete before the first paragraph."""

    html: bool = False
    styles: dict[int, RtfStyle] = field(default_factory=dict[int, RtfStyle])
    _codec: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict[int, str])
    _symbol_fonts: dict[int, str] = field(default_factory=dict[int, str])
    _groups: list[Group] = field(default_factory=list[Group])
    _sinks: list[_Sink] = field(default_factory=list[_Sink])
    _bytes: bytearray = field(default_factory=bytearray)
    _raw: bool = False
    _units: list[int] = field(default_factory=list[int])
    _to_skip: int = 0
    _starred: bool = False
    _too_deep: int = 0
    _unmatched_ends: int = 0
    _label: str = ""
    _author: str = ""
    _continued: set[int] = field(default_factory=set[int])
    _cells: int = 0

    def events(self, source: bytes | mmap) -> Iterator[Event]:
        self._groups = [Group(codec=self._codec)]
        self._sinks = [_Sink("body", 0)]
        for token in tokens(source):
            yield from self._read_token(token)
        self._flush()
        while len(self._sinks) > 1:
            yield from self._end_of_sink()
        yield self._paragraph()

    @property
    def _group(self) -> Group:
        return self._groups[-1]

    def _read_token(self, token: RtfToken) -> Iterator[Event]:
        if token.kind == "open":
            self._flush()
            self._to_skip = 0
            if len(self._groups) < _DEEPEST:
                self._groups.append(replace(self._group))
                if self._group.role in _TABLES and not self._group.skipped:
                    self._sinks.append(_Sink(self._group.role, len(self._groups)))
            else:
                self._too_deep += 1
                if self._too_deep > _MOST_BRACES:
                    raise CorruptFile("The RTF document is damaged: its groups never end. Save it again.")
        elif token.kind == "close":
            yield from self._close()
        elif self._too_deep or (self._group.skipped and token.kind != "word"):
            return
        elif token.kind == "text":
            self._text(token)
        elif token.kind == "symbol":
            yield from self._symbol(token.word)
        elif self._group.skipped:
            if token.word == "ud":
                self._groups[-1] = replace(self._group, skipped=False)
        elif self._to_skip and token.word != "u":
            self._to_skip -= 1
        else:
            yield from self._word(token.word, token.number)

    def _close(self) -> Iterator[RtfNote]:
        self._flush()
        self._to_skip = 0
        self._starred = False
        if self._too_deep:
            self._too_deep -= 1
            return
        depth = len(self._groups)
        while len(self._sinks) > 1 and self._sinks[-1].depth >= depth:
            yield from self._end_of_sink()
        if depth > 1:
            self._groups.pop()
            return
        self._unmatched_ends += 1
        if self._unmatched_ends > _MOST_BRACES:
            raise CorruptFile("The RTF document is damaged: more groups end than begin. Save it again.")

    def _end_of_sink(self) -> Iterator[RtfNote]:
        sink = self._sinks.pop()
        text = "".join(sink.pieces).strip()
        if sink.role in _LABELS:
            self._label = self._label or text or "•"
        elif sink.role == "atnauthor":
            self._author = text
        elif sink.role == "fldinst":
            if len(self._groups) > 1:
                self._groups[-2].contents = text.upper().startswith("TOC")
        elif sink.role == "stylesheet":
            if text:
                self._style().name = text.rstrip(";").strip().lower()
        elif sink.role == "fonttbl":
            if self._group.font in self._symbol_fonts:
                self._symbol_fonts[self._group.font] = text.rstrip(";").strip()
        elif sink.role in {*_NOTES, *_MARGINS} and text:
            kind = sink.kind or _NOTES.get(sink.role) or _MARGINS[sink.role]
            yield RtfNote(kind=kind, text=text, author=self._author if kind == "comment" else "")
            self._author = ""

    def _text(self, token: RtfToken) -> None:
        content = token.content
        if self._to_skip:
            skipped = min(self._to_skip, len(content))
            self._to_skip -= skipped
            content = content[skipped:]
            if not content:
                return
        if self._units:
            self._flush()
        self._raw = self._raw or not (token.coded or content.isascii())
        self._bytes += content

    def _symbol(self, symbol: str) -> Iterator[RtfParagraph]:
        if self._to_skip:
            self._to_skip -= 1
        elif symbol == "*":
            self._starred = True
        elif symbol in "\r\n":
            yield from self._end_of_paragraph()
        elif symbol in "\\{}":
            self._text(RtfToken("text", content=symbol.encode("ascii")))
        elif symbol in _SYMBOLS:
            self._add_decoded(_SYMBOLS[symbol])

    def _word(self, word: str, number: int | None) -> Iterator[Event]:
        starred, self._starred = self._starred, False
        group = self._group
        if word == "u":
            self._unicode(number or 0)
        elif (starred and word not in _KNOWN and not (self.html and word == "htmltag")) or word in _IGNORED:
            self._flush()
            group.skipped = True
        elif word in _CHARACTERS:
            self._add_decoded(_CHARACTERS[word])
        elif word in _PARAGRAPH_ENDS:
            yield from self._end_of_paragraph()
        elif word in _SINKS:
            self._flush()
            group.role = word
            self._sinks.append(_Sink(word, len(self._groups)))
        elif word in {"cell", "nestcell", "row", "nestrow"}:
            yield from self._end_cell_or_row(word)
        else:
            self._apply_word(group, word, number)

    def _apply_word(self, group: Group, word: str, number: int | None) -> None:
        match word:
            case "f" | "ansicpg" | "mac" | "pc" | "pca" | "fcharset" | "cpg":
                self._flush()
                self._encoding(group, word, number or 0)
            case "uc":
                group.fallback = max(number or 0, 0)
            case "v" | "deleted" | "htmlrtf" | "plain" | "super" | "nosupersub":
                self._flush()
                self._set_visibility(group, word, off=number == 0)
            case "field":
                group.contents = False
            case "fldrslt":
                group.skipped = group.contents
            case "ftnalt":
                self._sinks[-1].kind = "endnote"
            case "nesttableprops":
                group.role = word
            case "trowd" | "clvmrg" | "cellx" if group.role == "nesttableprops":
                return
            case "trowd":
                self._continued, self._cells = set(), 0
            case "clvmrg":
                self._continued.add(self._cells)
            case "cellx":
                self._cells += 1
            case _:
                self._set_paragraph(group, word, number or 0)

    def _set_paragraph(self, group: Group, word: str, number: int) -> None:
        match word:
            case "pard":
                group.style, group.outline, group.listed, group.level = 0, None, False, 0
                group.in_table, group.nesting = False, 0
            case "s":
                group.style = number
            case "sbasedon" if group.role == "stylesheet":
                self._style().parent = number
            case "outlinelevel" if group.role == "stylesheet":
                self._style().outline = number
            case "outlinelevel":
                group.outline = number
            case "ls":
                group.listed = number > 0
            case "ilvl":
                group.level = max(0, min(number, 8))
            case "intbl":
                group.in_table = True
            case "itap":
                group.nesting = number
            case _:
                return

    def _style(self) -> RtfStyle:
        return self.styles.setdefault(self._group.style, RtfStyle())

    def _encoding(self, group: Group, word: str, number: int) -> None:
        match word:
            case "f":
                group.font = number
                group.codec = self._fonts.get(number) or self._codec
            case "fcharset":
                if number == SYMBOLS:
                    self._symbol_fonts[group.font] = ""
                self._fonts[group.font] = codec_of_character_set(number)
            case "cpg":
                self._fonts[group.font] = codec_of_page(number)
            case _:
                pages = {"mac": 10000, "pc": 437, "pca": 850}
                group.codec = self._codec = codec_of_page(pages.get(word, number))

    def _set_visibility(self, group: Group, word: str, *, off: bool) -> None:
        if word == "plain":
            group.hidden = group.deleted = group.raised = False
        elif word in {"super", "nosupersub"}:
            group.raised = word == "super" and not off
        elif word == "v":
            group.hidden = not off
        elif word == "deleted" or self.html:
            group.deleted = not off

    def _unicode(self, number: int) -> None:
        if self._bytes:
            self._flush()
        self._units.append(number & 0xFFFF)
        self._to_skip = self._group.fallback

    def _flush(self) -> None:
        if self._bytes:
            content, self._bytes, raw, self._raw = bytes(self._bytes), bytearray(), self._raw, False
            self._add(_decoded(content, self._group.codec, raw=raw))
        if self._units:
            units, self._units = self._units, []
            self._add(b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", "replace"))

    def _add_decoded(self, text: str) -> None:
        self._flush()
        self._add(text)

    def _add(self, text: str) -> None:
        group = self._group
        if group.hidden or group.deleted:
            return
        text = raised(text) if group.raised else text
        font = self._symbol_fonts.get(group.font)
        self._sinks[-1].pieces.append(as_written(text, font) if font else text)

    def _end_of_paragraph(self) -> Iterator[RtfParagraph]:
        self._flush()
        if self.html or len(self._sinks) > 1:
            self._add("\n")
        elif not self._group.deleted:
            yield self._paragraph()

    def _paragraph(self) -> RtfParagraph:
        text, label = self._take_paragraph()
        group = self._group
        return RtfParagraph(
            text=text,
            style=group.style,
            outline=group.outline,
            label=label or ("-" if group.listed else ""),
            level=group.level,
            in_table=group.in_table or group.nesting > 0,
        )

    def _take_paragraph(self) -> tuple[str, str]:
        text, label = "".join(self._sinks[0].pieces), self._label
        self._sinks[0].pieces.clear()
        self._label = ""
        return text, label

    def _end_cell_or_row(self, word: str) -> Iterator[Event]:
        self._flush()
        if len(self._sinks) > 1:
            self._add("\n" if word.endswith("row") else " | ")
        elif word.endswith("cell"):
            text, label = self._take_paragraph()
            text = f"{label} {text}" if label else text
            yield RtfCell(text=text, depth=int(word == "nestcell"))
        else:
            yield RowEnd(continued=frozenset(self._continued), depth=int(word == "nestrow"))


def _decoded(content: bytes, codec: str, *, raw: bool) -> str:
    """Raw bytes, not written in hex, are UTF-8 if valid."""
    if raw:
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return content.decode(codec, errors="replace")
