"""A question about leave, and the file that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.bot.chatting import THREAD

if TYPE_CHECKING:
    from tests.unit.bot.chatting import World

LEAVE = "# Leave\n\nEverybody has 28 days of leave a year.\n"
QUESTION = "How many days of leave do we have?"
IN_THREAD = {"place": THREAD, "in_thread": True}


async def documents(here: World) -> dict[str, list[str]]:
    """Titles of what can be searched, by knowledge base."""
    return {
        base.name: [
            record.document.title for record in await here.catalog.records(base.id) if record.state == "ready"
        ]
        for base in await here.catalog.knowledge_bases()
    }
