from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from bot.conversation.gaps.topic_feedback import topics
from bot.web.gap_access import REASONS, gap_list, gap_reader
from bot.web.known_bases import readable_ids
from bot.web.visit import Shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bot.web.visit import Reply, Visit

TITLE: Final = "Feedback"
PATH: Final = "feedback"
POSITION: Final = 25

_MOST: Final = 100
_MOST_DOCUMENTS: Final = 5


async def show(visit: Visit) -> Reply:
    found = await topics(visit.parts.chat, gap_list(visit), gap_reader(visit))
    shown = found[:_MOST]
    titles = await _titles(visit, {each.document for topic in shown for each in topic.documents})
    documents = {
        topic.gap: [each for each in topic.documents if each.document in titles][:_MOST_DOCUMENTS]
        for topic in shown
    }
    values = {
        "topics": shown,
        "more": max(0, len(found) - _MOST),
        "documents": documents,
        "titles": titles,
        "reasons": REASONS,
    }
    return Shown(template="feedback.html", values=values)


async def _titles(visit: Visit, documents: Collection[str]) -> Mapping[str, tuple[str, str]]:
    rows = await visit.parts.engine.fetch(
        "SELECT id, knowledge_base, title FROM documents "
        "WHERE id IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT document FROM removals)",
        (json.dumps(sorted(documents)),),
    )
    readable = await readable_ids(visit, sorted({base for _, base, _ in rows}))
    return {identity: (base, title) for identity, base, title in rows if base in readable}
