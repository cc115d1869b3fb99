from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import W14, W15, W, number, value
from rag_engine.parsers._shared.numerals import numeral
from rag_engine.parsers._shared.sections import is_blank
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rag_engine.parsers._ooxml.package import Element, OoxmlPackage

    PlainText = Callable[[Element, str], str]

_SEPARATORS: Final = frozenset({"separator", "continuationSeparator", "continuationNotice"})
_OFF: Final = frozenset({"0", "false", "off", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comment:
    identifier: str
    author: str
    text: str
    paragraph: str


class Notes:
    def __init__(self, package: OoxmlPackage, main: str, plain: PlainText) -> None:
        self._texts: dict[tuple[str, str], str] = {}
        self._comments: dict[str, _Comment] = {}
        self._replies: dict[str, list[_Comment]] = defaultdict(list)
        self._resolved: set[str] = set()
        self._counts: dict[str, int] = defaultdict(int)
        self._number_formats = {"footnote": "decimal", "endnote": "lowerRoman"}
        for kind in ("footnote", "endnote"):
            for part in package.related(main, f"{kind}s"):
                self._read_notes(package, part, kind, plain)
        for part in package.related(main, "comments"):
            self._read_comments(package, part, plain)
        self._thread(package, main)
        for part in package.related(main, "settings"):
            self._read_settings(package.root(part))

    def _read_notes(self, package: OoxmlPackage, part: str, kind: str, plain: PlainText) -> None:
        for event, element in package.events(part, f"{W}{kind}"):
            if event == "end":
                identifier = element.get(f"{W}id") or ""
                if element.get(f"{W}type") not in _SEPARATORS:
                    self._texts[kind, identifier] = plain(element, part).strip()
                element.clear(keep_tail=True)

    def _read_comments(self, package: OoxmlPackage, part: str, plain: PlainText) -> None:
        for event, element in package.events(part, f"{W}comment"):
            if event == "end":
                identifier = element.get(f"{W}id") or ""
                paragraphs = [one.get(f"{W14}paraId") or "" for one in element.iter(f"{W}p")]
                self._comments[identifier] = _Comment(
                    identifier=identifier,
                    author=" ".join((element.get(f"{W}author") or "").split()),
                    text=plain(element, part).strip(),
                    paragraph=paragraphs[-1] if paragraphs else "",
                )
                element.clear(keep_tail=True)

    def _thread(self, package: OoxmlPackage, main: str) -> None:
        parents: dict[str, str] = {}
        for part in package.related(main, "commentsExtended"):
            for element in package.root(part).iter(f"{W15}commentEx"):
                paragraph, above = element.get(f"{W15}paraId"), element.get(f"{W15}paraIdParent")
                if paragraph and above and above != paragraph:
                    parents[paragraph] = above
                if paragraph and (element.get(f"{W15}done") or "").lower() not in _OFF:
                    self._resolved.add(paragraph)
        by_paragraph = {comment.paragraph: comment for comment in self._comments.values()}
        for comment in tuple(self._comments.values()):
            above = by_paragraph.get(parents[comment.paragraph]) if comment.paragraph in parents else None
            if above is not None and above.paragraph not in parents:
                self._replies[above.identifier].append(comment)
                del self._comments[comment.identifier]

    def _read_settings(self, settings: Element) -> None:
        for kind in self._number_formats:
            self._number_formats[kind] = (
                value(settings, f"{W}{kind}Pr/{W}numFmt") or self._number_formats[kind]
            )
            start = value(settings, f"{W}{kind}Pr/{W}numStart")
            if start is not None:
                self._counts[kind] = max(number(start, 1) - 1, 0)

    def section(
        self,
        kind: str,
        identifier: str,
        headings: tuple[str, ...],
        *,
        has_mark: bool = False,
        quote: str = "",
    ) -> Section | None:
        if kind == "comment":
            comment = self._comments.pop(identifier, None)
            return None if comment is None else self._comment(comment, headings, quote)
        text = self._texts.pop((kind, identifier), None)
        if text is None:
            return None
        if has_mark:
            return Section(text=f"{kind.capitalize()}: {text}", anchor=kind, headings=headings)
        self._counts[kind] += 1
        anchor = f"{kind} {numeral(self._counts[kind], self._number_formats[kind])}"
        if is_blank(text):
            return None
        return Section(text=f"{anchor.capitalize()}: {text}", anchor=anchor, headings=headings)

    def _comment(self, comment: _Comment, headings: tuple[str, ...], quote: str) -> Section | None:
        self._counts["comment"] += 1
        anchor = f"comment {self._counts['comment']}"
        line = _comment_line(anchor.capitalize(), comment, quote)
        if comment.paragraph and comment.paragraph in self._resolved:
            line += " (resolved)"
        replies = [_comment_line("Reply", reply, "") for reply in self._replies.get(comment.identifier, ())]
        if is_blank(comment.text) and not replies:
            return None
        return Section(text="\n".join([line, *replies]), anchor=anchor, headings=headings)

    def rest(self, deleted: set[tuple[str, str]]) -> Iterator[Section]:
        for kind, title in (("footnote", "Footnotes"), ("endnote", "Endnotes")):
            for of_kind, identifier in tuple(self._texts):
                if of_kind == kind and (kind, identifier) not in deleted:
                    section = self.section(kind, identifier, (title,))
                    if section is not None:
                        yield section
        for identifier in tuple(self._comments):
            if ("comment", identifier) not in deleted:
                section = self.section("comment", identifier, ("Comments",))
                if section is not None:
                    yield section


def _comment_line(what: str, comment: _Comment, quote: str) -> str:
    by = f" by {comment.author}" if comment.author else ""
    on = f" on “{quote}”" if quote else ""
    return f"{what}{by}{on}: {comment.text}"
