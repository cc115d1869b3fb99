from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.unit.bot.chatting import attachment

if TYPE_CHECKING:
    from bot.files.uploads import UploadResult
    from bot.port import Attachment
    from rag_engine.types import KnowledgeBase
    from tests.unit.bot.chatting import World


async def taken(
    here: World, base: KnowledgeBase, *attachments: Attachment, language: str = "en"
) -> list[UploadResult]:
    async with asyncio.timeout(10):
        return await here.uploads.add(
            attachments, knowledge_base=base.id, show=lambda lines: None, language=language
        )


def unopened(name: str, **values: object) -> Attachment:
    """A file that must not be fetched."""
    return attachment(name, AssertionError("it was fetched"), **{"size": 10, **values})
