from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.sections import HeadingPath, entered, joined, one_line, section_anchor, titles
from rag_engine.parsers._shared.tables import table_text
from rag_engine.parsers.texts import text
from rag_engine.parsers.texts._latex.inline import group, optional, plain
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

SUFFIXES: Final = "tex ltx"
BEGINNING: Final = r"(?:\s|%.*\n)*\\documentclass"
CONTENT: Final = "text"

_LARGEST: Final = 8 << 20
_MOST_TITLE: Final = 1_000
_COMMENT: Final = re.compile(r"(?<!\\)((?:\\\\)*)%.*?(?:\n[ \t]*|\Z)")
_CODE: Final = frozenset(
    {"verbatim", "Verbatim", "lstlisting", "minted", "alltt", "BVerbatim", "listing*", "python"}
)
_MATH: Final = frozenset(
    {"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "alignat", "flalign"}
)
_TABLES: Final = {
    **dict.fromkeys(("tabular", "longtable", "array", "supertabular"), 1),
    "tabularx": 2,
    "tabulary": 2,
    "tabular*": 2,
}
_SKIPPED: Final = frozenset(
    {"tikzpicture", "comment", "filecontents", "pgfpicture", "picture", "axis", "asy"}
)
_ARGUMENTS: Final = {
    **dict.fromkeys(("multicols", "minipage", "adjustbox", "thebibliography", "column", "spacing"), 1),
    "wrapfigure": 2,
}
_LISTS: Final = frozenset(
    {"itemize", "enumerate", "description", "compactitem", "compactenum", "inparaenum", "thebibliography"}
)
_STATEMENTS: Final = frozenset(
    {"theorem", "lemma", "proof", "definition", "corollary", "proposition", "remark", "example", "abstract"}
)
_LEVELS: Final = {
    "part": 0,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
    "frametitle": 4,
    "addchap": 1,
    "addsec": 2,
}
_WHOLE: Final = "|".join(sorted((re.escape(name) for name in _CODE | _SKIPPED), key=len, reverse=True))
_BLOCK: Final = re.compile(
    rf"\\begin\{{(?P<whole>{_WHOLE})\*?\}}"
    r"|\\begin\{(?P<begin>[A-Za-z]{1,30}\*?)\}|\\end\{(?P<end>[A-Za-z]{1,30}\*?)\}"
    rf"|\\(?P<heading>{'|'.join(_LEVELS)})\*?(?=[\s\[{{])|\\(?P<item>item|bibitem)(?![A-Za-z])"
    r"|\\(?P<caption>caption)\*?(?=[\s\[{])|\\\[(?P<math>.{0,4000}?)\\\]|(?P<paragraph>\n[ \t]*\n\s*)"
    r"|(?P<display>\$\$.{1,4000}?\$\$)",
    re.DOTALL,
)
_MACRO: Final = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand)\*?\s*\{?\\([A-Za-z]{1,40})\}?\s*\{([^{}\\#]{1,200})\}|\\def\\([A-Za-z]{1,40})\{([^{}\\#]{1,200})\}"
)
_ROW_RULES: Final = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|centering|small|footnotesize|scriptsize)(?![A-Za-z])"
    r"|\\(?:cline|cmidrule)(?:\([^()]{0,50}\))?\{[^{}]{0,50}\}|\\addlinespace(?:\[[^\[\]]{0,50}\])?"
)
_CELLS: Final = re.compile(r"(?<!\\)&")
_ROWS: Final = re.compile(r"\\\\(?:\s*\[[^\]]{0,20}\])?\*?|\\tabularnewline(?![A-Za-z])|\\cr(?![A-Za-z])")
_SPAN: Final = re.compile(r"\\multicolumn\s*\{\s*(\d{1,2})\s*\}")


@dataclass(slots=True)
class _Document:
    macros: dict[str, str]
    path: HeadingPath = ()
    lists: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    marker: str = ""
    lead: str = ""

    def section(self, content: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=content, anchor=section_anchor(headings), headings=headings, kind=kind)

    def words(self, source: str) -> str:
        return plain(source, self.macros)

    def paragraph(self, source: str) -> Iterator[Section]:
        content = "\n".join(filter(None, (" ".join(line.split()) for line in self.words(source).split("\n"))))
        if not content:
            return
        if self.lists:
            indent = "  " * (len(self.lists) - 1)
            yield self.section(
                indent + (self.marker or "  ") + content.replace("\n", f"\n{indent}  "), "list"
            )
            self.marker = ""
        else:
            yield self.section(self.lead + content)
            self.lead = ""


def parse(path: Path) -> Iterator[Section]:
    encoding = text_encoding(path)
    if path.stat().st_size > _LARGEST:
        yield from joined(text.sections(text_lines(path, encoding)))
        return
    yield from joined(_sections("\n".join(line.text for line in text_lines(path, encoding))))


def _sections(source: str) -> Iterator[Section]:
    preamble, begins, body = source.partition("\\begin{document}")
    if not begins:
        preamble, body = "", source
    body = body.partition("\\end{document}")[0]
    head = _without_comments(preamble or body[:20_000])
    macros = {match[1] or match[3]: match[2] or match[4] for match in _MACRO.finditer(head)}
    document = _Document(macros=macros)
    for name in ("title", "author", "date"):
        found = re.search(rf"\\{name}(?=[\s\[{{])", head)
        if found is None:
            continue
        words = one_line(
            document.words(group(head, optional(head, found.end())[1])[0][:_MOST_TITLE])
        ).replace(" ,", ",")
        if name == "title" and words:
            document.path = entered((), -1, words)
        yield document.section(words)
    yield from _blocks(document, body)


def _without_comments(source: str) -> str:
    return _COMMENT.sub(r"\1", source)


def _blocks(document: _Document, source: str) -> Iterator[Section]:
    """Piece by piece, because a listing may contain "%"."""
    pending: list[str] = []
    for raw, is_code in _text_and_listings(source):
        if is_code:
            yield from document.paragraph("".join(pending))
            pending.clear()
            yield document.section(raw, "code")
            continue
        piece = _without_comments(raw)
        at = 0
        while (block := _BLOCK.search(piece, at)) is not None:
            pending.append(piece[at : block.start()])
            yield from document.paragraph("".join(pending))
            pending.clear()
            at = yield from _block(document, piece, block)
        pending.append(piece[at:])
    yield from document.paragraph("".join(pending))


def _text_and_listings(source: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for block in _WHOLE_BEGIN.finditer(source):
        line = source.rfind("\n", 0, block.start()) + 1
        if block.start() < at or re.search(r"(?<!\\)%", source[line : block.start()]):
            continue
        yield source[at : block.start()], False
        name = block[1]
        end = source.find(f"\\end{{{name}", block.end())
        end = end if end >= 0 else len(source)
        if name in _CODE:
            start = _start_of_code(source, block.end(), name)
            yield source[start:end].strip("\n"), True
        closing = source.find("}", end)
        at = closing + 1 if closing >= 0 else len(source)
    yield source[at:], False


_WHOLE_BEGIN: Final = re.compile(rf"\\begin\{{({_WHOLE})\*?\}}")


def _start_of_code(source: str, at: int, name: str) -> int:
    _, at = optional(source, at) if source[at : at + 1] == "[" else ("", at)
    return group(source, at)[1] if name in {"minted", "python"} and source[at : at + 1] == "{" else at


def _block(document: _Document, source: str, block: re.Match[str]) -> Generator[Section, None, int]:
    at = block.end()
    if block["begin"]:
        return (yield from _environment(document, source, at, block["begin"]))
    if block["end"]:
        if block["end"].rstrip("*") in _LISTS and document.lists:
            document.lists.pop()
        document.marker = document.lead = ""
    elif block["heading"]:
        _, at = optional(source, at)
        title, at = group(source, at)
        words = one_line(document.words(title))
        if words:
            document.path = entered(document.path, _LEVELS[block["heading"]], words)
            document.lists.clear()
            yield document.section(words)
    elif block["item"]:
        at = _item(document, source, at, block["item"])
    elif block["caption"]:
        _, at = optional(source, at)
        caption, at = group(source, at)
        yield document.section(one_line(document.words(caption)))
    elif block["math"] or block["display"]:
        yield document.section((block["math"] or block["display"].strip("$")).strip(), "code")
    return at


def _environment(document: _Document, source: str, at: int, name: str) -> Generator[Section, None, int]:
    kind = name.rstrip("*")
    if kind in _MATH or name in _TABLES:
        end = _environment_end(source, at, name)
        content = source[at:end]
        if name in _TABLES:
            yield document.section(_table(document, content, _TABLES[name]), "table")
        else:
            yield document.section(re.sub(r"\\label\{[^{}]{0,200}\}", "", content).strip(), "code")
        return min(end + len(name) + 6, len(source))
    option, at = optional(source, at)
    for _ in range(_ARGUMENTS.get(kind, 0)):
        _, at = group(source, at)
    if kind in _LISTS:
        document.lists.append((kind, 0))
    elif kind in _STATEMENTS:
        of = f" ({document.words(option)})" if option else ""
        document.lead = f"{kind.capitalize()}{of}: "
    elif kind in {"frame", "block", "alertblock", "exampleblock"}:
        title, at = group(source, at) if source[at : at + 1] == "{" else ("", at)
        words = one_line(document.words(title))
        if words:
            document.path = entered(document.path, 4 if kind == "frame" else 5, words)
            yield document.section(words)
    return at


def _item(document: _Document, source: str, at: int, name: str) -> int:
    label, at = optional(source, at)
    if name == "bibitem":
        key, at = group(source, at)
        document.marker = f"[{key}] "
        return at
    kind, count = document.lists[-1] if document.lists else ("itemize", 0)
    if label:
        document.marker = f"- {document.words(label).rstrip(':')}: "
    elif "enum" in kind:
        document.marker = f"{count + 1}. "
    else:
        document.marker = "- "
    if document.lists:
        document.lists[-1] = (kind, count + 1)
    return at


def _environment_end(source: str, at: int, name: str) -> int:
    opening, closing = f"\\begin{{{name}}}", f"\\end{{{name}}}"
    end = source.find(closing, at)
    inner = source.count(opening, at, end) if end >= 0 else 0
    while inner and end >= 0:
        end = source.find(closing, end + 1)
        inner -= 1
    return end if end >= 0 else len(source)


def _table(document: _Document, source: str, count: int) -> str:
    _, at = optional(source, 0)
    for _ in range(count):
        _, at = group(source, at)
    content = re.sub(
        r"\\(?:begin|end)\{(?:tabular|array)\*?\}(?:\[[^\]\[]{0,100}\])?(?:\{[^{}]{0,1000}\})?",
        " ",
        source[at:],
    )
    rows: list[list[str]] = []
    for row in _ROWS.split(_ROW_RULES.sub(" ", content)):
        cells: list[str] = []
        for cell in _CELLS.split(row):
            span = _SPAN.search(cell)
            cells += [document.words(cell), *([""] * (min(int(span[1]), 50) - 1 if span is not None else 0))]
        rows.append(cells)
    return table_text(rows)
