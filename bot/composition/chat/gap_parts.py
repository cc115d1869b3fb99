from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.conversation.gaps.digest import WeeklyDigest
from bot.conversation.gaps.gap_intake import GapIntake
from bot.conversation.gaps.gap_list import GapList
from bot.conversation.gaps.gap_service import GapService
from bot.files.pending_removals import removing
from bot.store.gaps.digests import GapDigests

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.composition.components import Application
    from bot.conversation.service import Service
    from rag_engine.storage.sqlite.database import Database

_READ_SECONDS = 300.0
_DIGEST_SECONDS = 5.0
_RETENTION_STEP = 3600.0


def gap_service(application: Application, database: Database) -> GapService:
    library = application.library
    history = library.storage.history
    intake = GapIntake.over(database, history, library.embedder, application.gap_names)
    return GapService(
        intake=intake, listed=GapList(gaps=intake.gaps, history=history), digests=GapDigests(database)
    )


@asynccontextmanager
async def watched_gaps(gaps: GapService, chat: Service, clock: Callable[[], float]) -> AsyncGenerator[None]:
    digest = WeeklyDigest(
        digests=gaps.digests,
        listed=gaps.listed,
        update=gaps.intake.update,
        outbound=chat.outbound,
        scheduler=chat.runner.scheduler,
        clock=lambda: min(time.time(), clock() + _RETENTION_STEP),
    )
    async with (
        removing(gaps.intake.update, every_seconds=_READ_SECONDS, what="gaps"),
        removing(digest.work, every_seconds=_DIGEST_SECONDS, what="digests"),
    ):
        yield
