from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import P
from rag_engine.parsers._shared.sections import is_blank, one_line
from rag_engine.parsers.documents._pptx.text import body_text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rag_engine.parsers._ooxml.package import Element, OoxmlPackage

_NEW: Final = "{http://schemas.microsoft.com/office/powerpoint/2018/8/main}"
_THREAD: Final = "{http://schemas.microsoft.com/office/powerpoint/2012/main}"


def authors_of(package: OoxmlPackage, main: str) -> dict[str, str]:
    authors: dict[str, str] = {}
    for kind, tag in (("commentAuthors", f"{P}cmAuthor"), ("authors", f"{_NEW}author")):
        for part in package.related(main, kind):
            for element in package.root(part).iter(tag):
                authors[element.get("id") or ""] = one_line(element.get("name") or "")
    return authors


def comment_sections(
    package: OoxmlPackage, slide: str, authors: Mapping[str, str], anchor: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    count = 0
    for part in package.related(slide, "comments"):
        root = package.root(part)
        for text in (*_classic(root, authors), *_threaded(root, authors)):
            count += 1
            yield Section(
                text=f"Comment {count}{text}",
                anchor=f"{anchor}, comment {count}",
                headings=(*headings, "Comments"),
            )


def _by(element: Element, authors: Mapping[str, str]) -> str:
    author = authors.get(element.get("authorId") or "", "")
    return f" by {author}" if author else ""


def _classic(root: Element, authors: Mapping[str, str]) -> Iterator[str]:
    replies: dict[tuple[str | None, str | None], list[Element]] = defaultdict(list)
    first: list[Element] = []
    for comment in root.iterfind(f"{P}cm"):
        above = next(comment.iter(f"{_THREAD}parentCm"), None)
        if above is None:
            first.append(comment)
        else:
            replies[above.get("authorId"), above.get("idx")].append(comment)
    for comment in first:
        answers = replies.pop((comment.get("authorId"), comment.get("idx")), [])
        lines = [f"{_by(comment, authors)}: {_classic_text(comment)}"]
        lines += [f"Reply{_by(reply, authors)}: {_classic_text(reply)}" for reply in answers]
        yield "\n".join(lines)


def _classic_text(comment: Element) -> str:
    text = comment.find(f"{P}text")
    return "" if text is None else (text.text or "").strip()


def _threaded(root: Element, authors: Mapping[str, str]) -> Iterator[str]:
    for comment in root.iterfind(f"{_NEW}cm"):
        settled = " (resolved)" if comment.get("status") == "resolved" else ""
        lines = [f"{_by(comment, authors)}: {_new_text(comment)}{settled}"]
        for reply in comment.iterfind(f"{_NEW}replyLst/{_NEW}reply"):
            lines.append(f"Reply{_by(reply, authors)}: {_new_text(reply)}")
        if not is_blank("".join(lines)):
            yield "\n".join(lines)


def _new_text(comment: Element) -> str:
    body = comment.find(f"{_NEW}txBody")
    return "" if body is None else body_text(body)
