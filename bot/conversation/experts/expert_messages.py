from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from bot import rendering
from bot.messages import say
from bot.port import Button, Reply, Source
from bot.rendering.literal import literal
from rag_engine.verified.reply import day

if TYPE_CHECKING:
    from bot.port import IncomingMessage
    from bot.store.expert_requests import ExpertRequest

ClosingSentence: TypeAlias = Literal["expert_handed_over", "expert_withdrawn", "expert_closed"]

DECLINE: Final = "expert_decline"
VERIFY: Final = "expert_verify"
_LONGEST_ANSWER: Final = 4_000
_LONGEST_QUESTION: Final = 200
_NO_LINKS: Final = frozenset[str]()


def said(message: IncomingMessage) -> str:
    """The text with the names of its files."""
    files = [f"📎 {literal(attachment.name)}" for attachment in message.attachments]
    return "\n".join(filter(None, (message.text.strip(), *files)))


def question(request: ExpertRequest) -> Reply:
    decline = Button(name=DECLINE, label=say("expert_decline", request.language), value=request.id)
    return Reply(text=request.body, buttons=(decline,), language=request.language, links=_NO_LINKS)


def closed(request: ExpertRequest, why: ClosingSentence) -> Reply:
    sentence = say(why, request.language)
    return Reply(text=request.body, notices=(sentence,), language=request.language, links=_NO_LINKS)


def answer_here(request: ExpertRequest) -> Reply:
    return Reply(text=say("expert_answer_here", request.language))


def reminder(request: ExpertRequest) -> Reply:
    return Reply(text=say("expert_reminder", request.language))


def answer(request: ExpertRequest) -> Reply:
    """For the asker."""
    language = request.language or "en"
    if request.state == "declined":
        return Reply(text=f"> {_shown(request)}\n\n{say('expert_declined', language)}", links=_NO_LINKS)
    if not request.said:
        return Reply(text=f"> {_shown(request)}\n\n{say('expert_answer_gone', language)}", links=_NO_LINKS)
    heading = say(
        "expert_answered", language, person=literal(request.expert_name or "?"), question=_shown(request)
    )
    shortened = len(request.said) > _LONGEST_ANSWER
    text = f"{request.said[:_LONGEST_ANSWER].rstrip()}{'…' if shortened else ''}"
    written = Source(
        number=1,
        title=request.expert_name or "?",
        places=day(request.said_at, language),
        uri=request.said_uri,
    )
    return Reply(
        text=f"{heading}\n\n{text} [1]",
        sources=(written,),
        notices=(say("expert_shortened", language),) if shortened else (),
        language=language,
        buttons=(Button(name=VERIFY, label=say("verified_save", language), value=request.id),),
        links=rendering.links_in(text),
    )


def _shown(request: ExpertRequest) -> str:
    text = " ".join(request.question.split())
    return literal(text if len(text) <= _LONGEST_QUESTION else f"{text[:_LONGEST_QUESTION]}…")
