from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._xml.parts import descendants, local
from rag_engine.parsers.sheets._workbooks.xlsx_cells import string_text, unescaped
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.parsers._xml.parts import XmlPackage, XmlRelation


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
