from __future__ import annotations

from typing import TYPE_CHECKING

from bot.messages.refusals import Invalid, NoSuchDocument

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
    """The document by id, else by title, else by the start of its id.

    `base` names the knowledge base, `show` the command that lists its documents. Raises `UnknownDocument`, and `UserError` if
    several match.
    """
    found = [record for record in records if record.document.id == wanted]
    found = found or [record for record in records if record.document.title == wanted]
    found = found or [record for record in records if record.document.title.casefold() == wanted.casefold()]
    if not found and len(wanted) >= _SHORTEST_ID:
        found = [record for record in records if record.document.id.startswith(wanted)]
    if not found:
        raise NoSuchDocument("no_such_document", title=quoted(wanted), name=base, command=show)
    if len(found) > 1:
        ids = ", ".join(record.document.id[:12] for record in found)
        raise Invalid("several_documents", count=len(found), title=quoted(wanted), ids=ids)
    return found[0]
