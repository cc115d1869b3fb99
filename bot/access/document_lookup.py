from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from bot.messages.refusals import Invalid, NoSuchDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.types import DocumentRecord

_SHORTEST_ID = 4
_LONGEST_COMPARED = 100
_MOST_COMPARED = 2_000


def find(
    records: Sequence[DocumentRecord],
    reference: str,
    *,
    base: str,
    show: str,
    quoted: Callable[[str], str] = repr,
) -> DocumentRecord:
    """By id, title, or the start of the id. `show`: the command that lists documents. Raises `UnknownDocument`, and
    `UserError` if several match.
    """
    found = [record for record in records if record.document.id == reference]
    found = found or [record for record in records if record.document.title == reference]
    found = found or [
        record for record in records if record.document.title.casefold() == reference.casefold()
    ]
    if not found and len(reference) >= _SHORTEST_ID:
        found = [record for record in records if record.document.id.startswith(reference)]
    if not found:
        if near := _nearest(reference, records):
            raise NoSuchDocument(
                "no_such_document_meant", title=quoted(reference), name=base, near=quoted(near), command=show
            )
        raise NoSuchDocument("no_such_document", title=quoted(reference), name=base, command=show)
    if len(found) > 1:
        ids = ", ".join(record.document.id[:12] for record in found)
        raise Invalid("several_documents", count=len(found), title=quoted(reference), ids=ids)
    return found[0]


def _nearest(reference: str, records: Sequence[DocumentRecord]) -> str:
    titles = {record.document.title.casefold(): record.document.title for record in records[:_MOST_COMPARED]}
    found = difflib.get_close_matches(reference.casefold()[:_LONGEST_COMPARED], list(titles), n=1)
    return titles[found[0]] if found else ""
