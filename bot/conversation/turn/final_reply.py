from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot import rendering
from bot.conversation.saved_filters import broken_filters
from bot.messages.translation import in_language
from rag_engine.generation.phrases import not_found
from rag_engine.parsing.media_types import shown

if TYPE_CHECKING:
    from bot.access.permissions import Scope
    from bot.conversation.turn.context import TurnContext
    from bot.messages.names import Sentence
    from bot.port import Reply
    from rag_engine.types import Answer, Evidence

_WITHOUT_ADVICE = frozenset({"summarise", "chat", "clarify", "edit"})
_QUOTING = "extractive"
_MOST_CONSULTED = 3
_EVIDENCE: dict[Evidence, Sentence] = {
    "strong": "evidence_strong",
    "weak": "evidence_weak",
    "none": "evidence_none",
}


def final_reply(answer: Answer, context: TurnContext, scope: Scope, *, deepens: bool) -> Reply:
    view = context.view
    view.language = answer.language or view.language
    view.begin_final()
    rendered = rendering.final(answer, view.language, view.passages)
    engine_notices = (in_language(notice, view.language) for notice in rendered.notices)
    reason = scope.reason_in(view.language)
    scope_notices = [view.say(notice, reason=reason) for notice in scope.notices]
    view.final = replace(
        rendered,
        text=view.headed(rendered.text),
        notices=(
            *view.file_lines,
            *engine_notices,
            *scope_notices,
            *_advice(answer, context, scope),
            *_consulted(answer, context),
            *_evidence(answer, context),
        ),
        language=view.language,
        buttons=view.answer_buttons(
            cited=bool(answer.citations),
            repeatable=answer.repeatable,
            completed=bool(answer.understood_as or answer.corrections),
            choices=answer.choices,
            researchable=deepens,
            filtered=bool(answer.filtered_by),
            unanswered=not answer.citations and answer.route not in _WITHOUT_ADVICE,
        ),
        links=view.links,
    )
    return view.final


def _advice(answer: Answer, context: TurnContext, scope: Scope) -> tuple[str, ...]:
    understood = _understood(answer, context)
    language = answer.language or context.question_language
    found_nothing = answer.text.startswith(not_found(language=language, scope=scope.name_in(language)))
    if not scope.knowledge_bases and context.options.settings.route != "chat" and not found_nothing:
        return (*understood, context.view.say("general"))
    if answer.grounded or answer.citations or answer.route in _WITHOUT_ADVICE or not answer.repeatable:
        return understood
    if answer.text == context.options.settings.empty_answer:
        return ()
    general = context.options.settings.knowledge == "blended" and not found_nothing
    return (*understood, context.view.say("general" if general else "not_found_advice"))


def _consulted(answer: Answer, context: TurnContext) -> tuple[str, ...]:
    view = context.view
    if not answer.citations or answer.model == _QUOTING or answer.route == "summarise":
        return ()
    titles = [shown(title) for title in rendering.consulted(answer, view.passages)]
    more = len(titles) - _MOST_CONSULTED
    if more > 0:
        titles = [*titles[:_MOST_CONSULTED], view.say("count_more", count=more)]
    return (view.say("consulted", titles=" · ".join(titles)),) if titles else ()


def _evidence(answer: Answer, context: TurnContext) -> tuple[str, ...]:
    name = _EVIDENCE.get(answer.evidence)
    is_chosen = answer.text == context.options.settings.empty_answer
    return (context.view.say(name),) if name and not is_chosen else ()


def _understood(answer: Answer, context: TurnContext) -> tuple[str, ...]:
    shown: list[str] = []
    if answer.understood_as:
        shown.append(context.view.say("understood_as", question=answer.understood_as))
    if answer.filtered_by:
        shown.append(context.view.say("filtered_by", filter=answer.filtered_by))
    if broken := broken_filters(context.options.settings):
        shown.append(context.view.say("filter_broken", filter=", ".join(broken)))
    return tuple(shown)
