from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._xml.parts import attribute, descendants, local
from rag_engine.parsers.sheets._cells.grid import column_letters
from rag_engine.parsers.sheets._workbooks.xlsx_cells import string_text, unescaped
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.parsers._xml.parts import Element, XmlPackage, XmlRelation


def comments(
    package: XmlPackage, relations: Iterable[XmlRelation], *, title: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    """Without notes that duplicate a thread for old programs."""
    relations = list(relations)
    threads = [relation for relation in relations if relation.kind == "threadedComment"]
    people = _people(package) if threads else {}
    for relation in threads:
        root = package.tree(relation.target)
        for node in descendants(root, "threadedComment") if root is not None else ():
            text = " ".join(part.text or "" for part in descendants(node, "text"))
            yield _note(text, people.get(node.get("personId", ""), ""), node.get("ref", ""), title, headings)
    for relation in relations if not threads else ():
        root = package.tree(relation.target) if relation.kind == "comments" else None
        if root is None:
            continue
        authors = [node.text or "" for node in descendants(root, "author")]
        for node in descendants(root, "comment"):
            number = node.get("authorId", "")
            author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
            text = "".join(string_text(part) for part in node if local(part) == "text")
            yield _note(text, author, node.get("ref", ""), title, headings)


def note_text(text: str, author: str) -> str:
    """Without the author's name that programs repeat."""
    author = one_line(author)
    text = text.strip()
    if author and text.startswith(f"{author}:"):
        text = text[len(author) + 1 :].strip()
    if not text:
        return ""
    return f"Comment by {author}: {text}" if author and author.lower() != "author" else f"Comment: {text}"


def _note(text: str, author: str, reference: str, title: str, headings: tuple[str, ...]) -> Section:
    place = f"{title}!{reference.replace('$', '')}" if reference else title
    return Section(text=note_text(unescaped(text), author), anchor=place, headings=headings)


def _people(package: XmlPackage) -> dict[str, str]:
    root = package.tree("xl/persons/person.xml")
    nodes = descendants(root, "person") if root is not None else ()
    return {node.get("id", ""): node.get("displayName", "") for node in nodes}


def drawings(package: XmlPackage, part: str, *, title: str, headings: tuple[str, ...]) -> Iterator[Section]:
    for relation in package.relations(part).values():
        root = package.tree(relation.target) if relation.kind == "drawing" else None
        if root is None:
            continue
        charts = package.relations(relation.target)
        for anchor in root:
            text = "\n".join(filter(None, _drawn(package, anchor, charts)))
            if text:
                yield Section(text=text, anchor=_place(anchor, title), headings=headings)


def _drawn(package: XmlPackage, anchor: Element, charts: dict[str, XmlRelation]) -> Iterator[str]:
    for node in anchor.iter("{*}chart", "{*}txBody"):
        if local(node) == "txBody":
            yield _paragraphs(node)
            continue
        relation = charts.get(attribute(node, "id"))
        root = package.tree(relation.target) if relation else None
        found = [_words(heading) for heading in descendants(root, "title")] if root is not None else []
        found = [words for words in found if words]
        if found:
            axes = f" ({'; '.join(found[1:])})" if len(found) > 1 else ""
            yield f"Chart: {found[0]}{axes}"


def _paragraphs(body: Element) -> str:
    lines = ("".join(run.text or "" for run in descendants(line, "t")) for line in descendants(body, "p"))
    return "\n".join(line for line in lines if line.strip())


def _words(node: Element) -> str:
    return one_line(" ".join(run.text or "" for run in node.iter("{*}t", "{*}v")))


def _place(anchor: Element, title: str) -> str:
    for start in descendants(anchor, "from"):
        numbers = {local(part): (part.text or "").strip() for part in start}
        column, row = numbers.get("col", ""), numbers.get("row", "")
        if column.isdecimal() and row.isdecimal() and len(column + row) < 14:
            return f"{title}!{column_letters(int(column) + 1)}{int(row) + 1}"
    return title
