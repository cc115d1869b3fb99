from __future__ import annotations

from typing import TYPE_CHECKING

from bot.access.question_budget import QuestionBudget

if TYPE_CHECKING:
    from bot.access.permissions import Permissions
    from bot.composition.components import Application


def question_budget(application: Application, rights: Permissions) -> QuestionBudget:
    settings = application.settings.chat
    return QuestionBudget(
        questions=settings.questions_per_hour,
        repeats=settings.repeats_per_hour,
        sources=settings.sources_per_hour,
        exempt=rights.administers,
        observers=application.observers,
    )
