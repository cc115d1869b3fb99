from __future__ import annotations

from typing import TYPE_CHECKING

from bot.conversation.channels.channel_service import ChannelService
from bot.conversation.channels.history_reader import HistoryReader
from bot.conversation.channels.talk_files import TalkFiles
from bot.conversation.channels.talk_writer import TalkWriter
from bot.conversation.outbound import OutboundRooms
from bot.store.channel_files import ChannelFiles
from bot.store.channel_sources import ChannelSources
from bot.store.channel_talk import ChannelTalk
from bot.store.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.composition.components import IndexingComponents
    from bot.files.uploads import Uploads
    from bot.store.places import Places
    from bot.streaming.scheduler import Scheduler
    from rag_engine.storage.sqlite.database import Database


def channel_service(
    library: IndexingComponents,
    database: Database,
    places: Places,
    uploads: Uploads,
    scheduler: Callable[[], Scheduler],
) -> ChannelService:
    sources = ChannelSources(database)
    return ChannelService(
        sources=sources,
        reader=HistoryReader(sources=sources, messages=ChannelTalk(database), turns=Turns(database)),
        writer=TalkWriter(
            sources=sources,
            write=library.ingestion.write,
            find=library.catalog.find,
            link=library.catalog.metadata.link,
            forget_source=library.forget_source,
        ),
        files=TalkFiles(
            files=ChannelFiles(database),
            uploads=uploads,
            intake=library.ingestion,
            forget_source=library.forget_source,
        ),
        outbound=OutboundRooms(),
        scheduler=scheduler,
        places=places,
    )
