from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from bot.web.known_bases import DocumentCounts, bound_names, counts, known_bases, who_reads
from bot.web.visit import Shown

if TYPE_CHECKING:
    from bot.web.known_bases import KnownBase
    from bot.web.visit import Visit

TITLE: Final = "Knowledge bases"
PATH: Final = "knowledge-bases"
POSITION: Final = 40

_NONE: Final = DocumentCounts()


async def show(visit: Visit) -> Shown:
    known = await known_bases(visit)
    numbers = await counts(visit, known)
    readable = [each for each in known if each.is_readable]
    hidden = [each for each in known if not each.is_readable]
    values = {
        "rows": await asyncio.gather(*(_row(visit, each) for each in readable)),
        "numbers": numbers,
        "no_documents": _NONE,
        "hidden": len(hidden),
        "unchecked": sum(each.verdict == "unknown" for each in hidden),
        "hidden_documents": sum(numbers.get(each.base.id, _NONE).ready for each in hidden),
        "threads": await _threads(visit),
    }
    return Shown(template="knowledge_bases.html", values=values)


async def _row(visit: Visit, known: KnownBase) -> dict[str, object]:
    bound, more = await bound_names(visit, known)
    return {"known": known, "who": await who_reads(visit, known), "bound": bound, "more": more}


async def _threads(visit: Visit) -> int:
    who = visit.visitor
    rows = await visit.parts.chat.fetch(
        "SELECT count(*) FROM audiences WHERE thread <> '' AND (? = '' OR (platform = ? AND workspace = ?))",
        (who.platform, who.platform, who.workspace),
    )
    return int(rows[0][0])
