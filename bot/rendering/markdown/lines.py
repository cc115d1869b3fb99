from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import regex

from bot.rendering.markdown import line_prefixes, tables
from bot.rendering.markdown.blocks import Fence, Item, read
from bot.rendering.markdown.inline import inline
from bot.rendering.markdown.line import Border, RenderedLine
from bot.rendering.safety import pings
from bot.rendering.stable_prefix import decided
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.rendering.dialect import Dialect
    from bot.rendering.markdown.blocks import SourceLine
    from bot.rendering.safety.links import Links

_HEADING: Final = lazy(lambda: regex.compile(r"#{1,6}[ \t]*(?P<title>.*?)(?:[ \t]+#+)?[ \t]*"))
_LONGEST_FENCE: Final = 20
"""Fences repeat in each message and must leave room."""
_LANGUAGE: Final = lazy(lambda: regex.compile(r"[\w+#.\-]{0,30}"))
_BOX: Final = lazy(lambda: regex.compile(r"\[(?P<tick>[ xX])\](?=\s)"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedLines:
    """Undecided lines may follow the decided ones."""

    lines: list[RenderedLine] = field(default_factory=list[RenderedLine])
    draft: list[RenderedLine] = field(default_factory=list[RenderedLine])
    open: bool = False


def show(text: str, dialect: Dialect, links: Links, *, growing: bool = False) -> RenderedLines:
    lines = read(text)
    count, may_grow = decided(lines) if growing else (len(lines), False)
    lines = lines[:count]
    if not lines:
        return RenderedLines()
    table = lines[-1].table if growing and dialect.tables == "aligned" else -1
    final = [line for line in lines if table < 0 or line.table != table]
    writer = _Writer(dialect=dialect, links=links)
    shown = list(writer.write(final, may_grow=may_grow and len(final) == len(lines)))
    while shown and not shown[-1].code and not shown[-1].text.strip():
        shown.pop()
    draft = list(writer.write(lines[len(final) :], may_grow=False)) if table >= 0 else []
    return RenderedLines(lines=shown, draft=draft, open=lines[-1].kind in ("open", "code"))


@dataclass(slots=True, kw_only=True)
class _Writer:
    dialect: Dialect
    links: Links
    before: SourceLine | None = None

    def write(self, lines: Sequence[SourceLine], *, may_grow: bool) -> Iterator[RenderedLine]:
        position = 0
        while position < len(lines):
            line = lines[position]
            end = position + 1
            if line.table >= 0:
                while end < len(lines) and lines[end].table == line.table:
                    end += 1
                yield from tables.table(lines[position:end], self.dialect, self.links, self.border(line))
            else:
                yield from self.line(line, growing=may_grow and end == len(lines))
                if end < len(lines) and self._unclosed(line, lines[end]):
                    yield self.code(replace(line, kind="close"), growing=False)
            if line.kind != "blank":
                self.before = lines[end - 1]
            position = end

    def _unclosed(self, line: SourceLine, following: SourceLine) -> bool:
        in_code = line.kind in ("open", "code") and following.fence is not line.fence
        return in_code and not self.dialect.verbatim

    def border(self, line: SourceLine) -> Border:
        if self.before is not None and self.before.kind == "heading":
            return Border.AFTER_HEADING
        if line.outermost:
            return Border.BLOCK
        items = [container for container in line.containers if isinstance(container, Item)]
        if items and items[-1].line == line.index:
            return Border.ITEM if items[0].line == line.index else Border.PART
        return Border.PART if line.begins else Border.LINE

    def line(self, line: SourceLine, *, growing: bool) -> Iterator[RenderedLine]:
        match line.kind:
            case "blank":
                yield RenderedLine(text=self.blank(line), border=Border.LINE)
            case "open" | "code" | "close":
                if self.dialect.flat and line.kind == "close" and self.before and self.before.kind == "open":
                    yield replace(
                        self.code(line, growing=False), text=f"{line_prefixes.quoted(line, self.dialect)} "
                    )
                yield self.code(line, growing=growing)
            case "rule":
                if self._under_text(line):
                    yield RenderedLine(text="")  # otherwise the line above becomes a heading
                yield self.plain(line, self.dialect.rule or line.content)
            case "heading" if not self.dialect.verbatim:
                yield self.heading(line)
            case _:
                yield self.prose(line, growing=growing)

    def _under_text(self, line: SourceLine) -> bool:
        above = self.before
        if above is None or above.kind != "prose" or above.index != line.index - 1:
            return False
        return not self.dialect.verbatim and not self.dialect.rule and line.content.startswith("-")

    def blank(self, line: SourceLine) -> str:
        if self.dialect.verbatim or not line.written.strip():
            return line.written if self.dialect.verbatim else ""
        return "> " if self.dialect.flat else line.written

    def plain(self, line: SourceLine, text: str, whole: Sequence[tuple[int, int]] = ()) -> RenderedLine:
        prefix = line_prefixes.before(line, self.dialect)
        length = len(prefix)
        return RenderedLine(
            text=line.written if self.dialect.verbatim else prefix + text,
            border=self.border(line),
            opened=line_prefixes.reopened(line, self.dialect),
            resumed=line_prefixes.resumed(line, self.dialect),
            whole=((0, length), *_moved(whole, length)),
        )

    def prose(self, line: SourceLine, *, growing: bool) -> RenderedLine:
        content = line.content
        if self.dialect.verbatim:
            return self.plain(line, content)
        box = self._box(line, content)
        content = content[3:] if box else content
        shown = inline(content, self.dialect, self.links, growing=growing)
        text = shown.text
        if self.dialect.flat:
            if text.startswith("-# "):
                return self.plain(line, f"\\{text}")
            if text.endswith("\\") and not text.endswith("\\\\"):
                text = text[:-1]
        return self.plain(line, box + text, _moved(shown.whole, len(box)))

    def _box(self, line: SourceLine, content: str) -> str:
        item = line.containers[-1] if line.containers else None
        if self.dialect.boxes is None or not isinstance(item, Item) or item.line != line.index:
            return ""
        found = _BOX.match(content)
        return self.dialect.boxes[found["tick"] != " "] if found else ""

    def heading(self, line: SourceLine) -> RenderedLine:
        found = _HEADING.fullmatch(line.content)
        title = found["title"] if found else line.content
        shown = inline(title, self.dialect, self.links)
        written = shown.text == title and not self.dialect.flat and line.level <= self.dialect.headings
        if written:
            return self.plain(line, line.content, _moved(shown.whole, line.content.find(title)))
        if line.level <= self.dialect.headings:
            begin, end = f"{'#' * line.level} ", ""
        else:
            begin = end = "**" if title.strip() and "**" not in shown.text else ""
        length = len(begin)
        return self.plain(line, begin + shown.text + end, _moved(shown.whole, length))

    def code(self, line: SourceLine, *, growing: bool) -> RenderedLine:
        dialect, fence = self.dialect, line.fence or Fence(mark="```", language="")
        odd = fence.mark[0] == "~" or len(fence.mark) > _LONGEST_FENCE
        mark = "```" if dialect.flat or odd else fence.mark
        prefix = line_prefixes.quoted(line, dialect) if dialect.flat else line_prefixes.before(line, dialect)
        inside = line_prefixes.quoted(line, dialect) if dialect.flat else line_prefixes.inside(line, dialect)
        language = fence.language if _LANGUAGE.fullmatch(fence.language) else ""
        reopened = "" if dialect.flat else line_prefixes.reopened(line, dialect)
        again = f"{reopened}{inside}{mark}{language}\n"
        match line.kind:
            case "open":
                border, text = self.border(line), mark + language
            case "close":
                border, text = Border.NEVER, mark
            case _:
                first = self.before is not None and self.before.kind == "open"
                border = Border.AFTER_HEADING if first else Border.LINE
                text = self._code(line, mark, growing=growing)
        shown = prefix + text if text else prefix.rstrip()
        return RenderedLine(
            text=line.written if dialect.verbatim else shown,
            border=border,
            opened=reopened if line.kind == "open" else again,
            resumed=again + inside,
            closing="" if line.kind == "close" else f"\n{inside}{mark}",
            whole=((0, len(prefix)),),
            code=True,
        )

    def _code(self, line: SourceLine, mark: str, *, growing: bool) -> str:
        content = line.content
        if growing and (unfinished := pings.UNFINISHED.search(content)):
            content = content[: unfinished.start()]
        content = pings.without_pings(content)
        if self.dialect.flat or (line.fence is not None and mark != line.fence.mark):
            if growing:
                content = content.rstrip("`")
            content = regex.sub("``(?=`)", f"``{pings.BREAK}", content)
        # Discord needs content between fences
        return content or (" " if self.dialect.flat else "")


def _moved(stretches: Sequence[tuple[int, int]], by: int) -> list[tuple[int, int]]:
    return [(start + by, end + by) for start, end in stretches]
