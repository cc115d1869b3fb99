from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from bot.conversation.answer_maps import AnswerMaps
from bot.conversation.explanation.explanation_view import ExplanationView
from bot.conversation.read_aloud import ReadAloud
from bot.conversation.sources.sources_view import SourcesView
from bot.store.turns import Turns

if TYPE_CHECKING:
    from bot.commands.dependencies import LatestAnswer, ShownAnswers
    from bot.composition.components import Application, IndexingComponents
    from bot.conversation.dependencies import AudienceLookup
    from rag_engine.parsing.pool import ParserPool
    from rag_engine.storage.sqlite.database import Database


def sources_view(
    library: IndexingComponents, audiences: AudienceLookup, pictures: ParserPool | None = None
) -> SourcesView:
    return SourcesView(
        audiences=audiences,
        catalog=library.catalog,
        originals=library.originals,
        draw=None if pictures is None else pictures.picture,
        figure=None if pictures is None else pictures.figure,
    )


def explanation(application: Application, database: Database, audiences: AudienceLookup) -> ExplanationView:
    library = application.library
    return ExplanationView(
        audiences=audiences,
        catalog=library.catalog,
        history=library.storage.history,
        turns=Turns(database),
    )


def answer_maps(application: Application, database: Database, audiences: AudienceLookup) -> AnswerMaps:
    library = application.library
    return AnswerMaps(
        audiences=audiences,
        catalog=library.catalog,
        history=library.storage.history,
        turns=Turns(database),
    )


def read_aloud(application: Application, database: Database, audiences: AudienceLookup) -> ReadAloud:
    library = application.library
    return ReadAloud(
        audiences=audiences,
        catalog=library.catalog,
        answers=library.storage.history,
        turns=Turns(database),
        voice=application.voice,
    )


class AnswerCommands(TypedDict):
    explain: LatestAnswer
    read_aloud: LatestAnswer
    shown_answers: ShownAnswers


def answer_commands(
    application: Application, database: Database, audiences: AudienceLookup
) -> AnswerCommands:
    return {
        "explain": explanation(application, database, audiences).latest,
        "read_aloud": read_aloud(application, database, audiences).latest,
        "shown_answers": answer_maps(application, database, audiences).shown_answers,
    }
