from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from bot.store.gaps import Gaps
from bot.web.gap_access import REASONS, gap_list, gap_reader
from bot.web.visit import Moved, NothingHere, Shown

if TYPE_CHECKING:
    from bot.conversation.gaps.gap_list import ShownGap
    from bot.web.visit import Reply, Visit

TITLE: Final = "Gaps"
PATH: Final = "gaps"
POSITION: Final = 20
SAID: Final = {"done": "The gap is done. It opens again if somebody asks."}
_SPANS: Final = {"": 0, "30": 30, "7": 7}
_MOST: Final = 200


async def show(visit: Visit) -> Reply:
    days = _SPANS[visit.choice("days", *_SPANS)]
    since = time.time() - days * 86_400 if days else 0.0
    gaps = await gap_list(visit).read(gap_reader(visit), since=since, done="done" in visit.query)
    values = {
        "gaps": gaps[:_MOST],
        "more": max(0, len(gaps) - _MOST),
        "reasons": REASONS,
        "days": str(days or ""),
        "done": "done" in visit.query,
        "changes": visit.checked,
    }
    return Shown(template="gaps.html", values=values)


async def act(visit: Visit) -> Reply:
    chosen = await _chosen(visit)
    visit.audit("close gap")
    await Gaps(visit.parts.chat).close(chosen.gap.id, at=time.time())
    return Moved(path=PATH, said="done")


async def _chosen(visit: Visit) -> ShownGap:
    identity = visit.rest[0] if visit.rest else ""
    found = await gap_list(visit).read(gap_reader(visit), gap=identity) if identity else []
    if not found or not found[0].readable or visit.form.get("act") != "done":
        raise NothingHere
    return found[0]
