"""Work that is repeated while the bot runs."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from bot.composition.layers.expansion import expand
from bot.composition.layers.graph import build_graphs
from bot.conversation.verified_reviews import VerifiedReviews
from bot.files.pending_removals import removing
from rag_engine.ingestion.verified_editor import VerifiedEditor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from bot.composition.components import Application, IndexingComponents
    from bot.conversation.service import Service

_WRITE_SECONDS = 600.0
_REVIEW_SECONDS = 300.0


@asynccontextmanager
async def library_upkeep(application: Application) -> AsyncGenerator[None]:
    of_library = (application.settings, application.library)
    observers = application.observers
    answers = verified_editor(application).finish_writing
    async with (
        removing(application.library.ingestion.finish_removals),
        removing(partial(expand, *of_library, observers=observers), what="expansions"),
        removing(answers, every_seconds=_WRITE_SECONDS, what="verified answers"),
        removing(partial(build_graphs, *of_library, observers=observers), what="graphs"),
    ):
        yield


def reviews(library: IndexingComponents, chat: Service) -> AbstractAsyncContextManager[None]:
    asked = VerifiedReviews(
        answers=library.catalog.verified, outbound=chat.outbound, scheduler=chat.runner.scheduler
    )
    return removing(asked.ask_due, every_seconds=_REVIEW_SECONDS, what="reviews")


def verified_editor(application: Application) -> VerifiedEditor:
    library = application.library
    days = application.settings.chat.review_days
    return VerifiedEditor(ingestion=library.ingestion, catalog=library.catalog, review_days=days)
