"""Which document somebody means who names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.errors import UnknownDocument, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.types import DocumentRecord

_SHORTEST_ID = 4


def find(
    records: Sequence[DocumentRecord],
    wanted: str,
    *,
    base: str,
    show: str,
    quoted: Callable[[str], str] = repr,
) -> DocumentRecord:
    """By id, else by title, else by the beginning of its id; a title that several share must be told apart by id.

    `base` is what the knowledge base is called, `show` the command that lists its documents.
    """
    found = [record for record in records if record.document.id == wanted]
    found = found or [record for record in records if record.document.title == wanted]
    found = found or [record for record in records if record.document.title.casefold() == wanted.casefold()]
    if not found and len(wanted) >= _SHORTEST_ID:
        found = [record for record in records if record.document.id.startswith(wanted)]
    if not found:
        raise UnknownDocument(f"There is no document {quoted(wanted)} in {base}: `{show}` lists them.")
    if len(found) > 1:
        ids = ", ".join(record.document.id[:12] for record in found)
        raise UserError(f"{len(found)} documents are called {quoted(wanted)}: say which by its id ({ids}).")
    return found[0]
