from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from bot import rendering
from bot.messages import say
from bot.port import NO_WORKSPACE, Button, Reply, Source
from bot.rendering.literal import literal
from rag_engine.verified.reply import day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import IncomingMessage
    from bot.store.expert_requests import ExpertPost, ExpertRequest

ClosingSentence: TypeAlias = Literal["expert_handed_over", "expert_withdrawn", "expert_closed"]

DECLINE: Final = "expert_decline"
VERIFY: Final = "expert_verify"
RECLASSIFY: Final = "expert_reclassify"
"""`question`, `answer` or `nothing`: what an expert's message was."""
_LONGEST_ANSWER: Final = 4_000
_LONGEST_QUESTION: Final = 200
_LONGEST_QUESTION_BACK: Final = 300
_NO_LINKS: Final = frozenset[str]()


def is_question(message: IncomingMessage) -> bool:
    text = message.text.strip()
    return text.endswith(("?", "？", "؟")) and len(text) <= _LONGEST_QUESTION_BACK and not message.attachments


def has_threads(post: ExpertPost) -> bool:
    return post.workspace != NO_WORKSPACE


def body(request: ExpertRequest, quotes: Sequence[tuple[str, str, str]]) -> str:
    if not quotes:
        return request.body
    titles = " · ".join(text for _, _, text in quotes)
    return f"{request.body}\n\n{say('expert_unhelpful', request.language, titles=titles)}"


def question(request: ExpertRequest, text: str, *, hint: bool) -> Reply:
    decline = Button(name=DECLINE, label=say("expert_decline", request.language), value=request.id)
    notices = (say("expert_reply_here", request.language),) if hint else ()
    return Reply(text=text, notices=notices, buttons=(decline,), language=request.language, links=_NO_LINKS)


def closed(request: ExpertRequest, text: str, why: ClosingSentence) -> Reply:
    sentence = say(why, request.language)
    return Reply(text=text, notices=(sentence,), language=request.language, links=_NO_LINKS)


def answer_here(request: ExpertRequest) -> Reply:
    return Reply(text=say("expert_answer_here", request.language))


def reminder(request: ExpertRequest, *, threaded: bool) -> Reply:
    text = say("expert_reminder", request.language)
    return Reply(text=text if threaded else f"> {_shown(request)}\n\n{text}", links=_NO_LINKS)


def receipt(request: ExpertRequest) -> Reply:
    """For the experts: how their message was understood."""
    language, person = request.language or "en", literal(request.name or "?")
    if request.is_gone:
        return Reply(text=say("expert_taken_back", language), links=_NO_LINKS)
    asks = request.state in ("asking", "asked")
    value = f"{request.id}:{request.round}:{'answer' if asks else 'question'}"
    label = say("expert_was_answer" if asks else "expert_was_question", language)
    buttons = (
        Button(name=RECLASSIFY, label=label, value=value),
        Button(
            name=RECLASSIFY,
            label=say("expert_take_back", language),
            value=f"{request.id}:{request.round}:nothing",
        ),
    )
    text = say("expert_sent_question" if asks else "expert_sent_answer", language, person=person)
    return Reply(text=text, buttons=buttons, links=_NO_LINKS)


def asked_back(request: ExpertRequest, *, sent: bool = False) -> Reply:
    language = request.language or "en"
    heading = say(
        "expert_asks", language, person=literal(request.expert_name or "?"), question=_shown(request)
    )
    how = "expert_reply_sent" if sent else "expert_ask_again" if request.private else "expert_reply_next"
    return Reply(
        text=f"{heading}\n\n{request.said}",
        notices=(say(how, language),),
        language=language,
        links=rendering.links_in(request.said),
    )


def replied(request: ExpertRequest) -> Reply:
    heading = say("expert_asker_replied", request.language, person=literal(request.name or "?"))
    return Reply(text=f"{heading}\n\n{request.replied}", links=rendering.links_in(request.replied))


def answer(request: ExpertRequest) -> Reply:
    language = request.language or "en"
    if request.state == "declined":
        return Reply(text=f"> {_shown(request)}\n\n{say('expert_declined', language)}", links=_NO_LINKS)
    if request.is_gone:
        return Reply(text=f"> {_shown(request)}\n\n{say('expert_answer_gone', language)}", links=_NO_LINKS)
    heading = say(
        "expert_answered", language, person=literal(request.expert_name or "?"), question=_shown(request)
    )
    shortened = len(request.said) > _LONGEST_ANSWER
    text = f"{request.said[:_LONGEST_ANSWER].rstrip()}{'…' if shortened else ''}"
    sources = _sources(request, language)
    written = f"{text} [1]" if text else "[1]"
    return Reply(
        text="\n\n".join((heading, written, *_file_lines(request))),
        sources=sources,
        notices=(say("expert_shortened", language),) if shortened else (),
        language=language,
        buttons=(Button(name=VERIFY, label=say("verified_save", language), value=request.id),),
        links=rendering.links_in(text),
    )


def text_of(request: ExpertRequest) -> str:
    return "\n".join(filter(None, (request.said, *(f"📎 {name}" for name, _ in request.files))))


def _sources(request: ExpertRequest, language: str) -> tuple[Source, ...]:
    written = Source(
        number=1,
        title=request.expert_name or "?",
        places=day(request.said_at, language),
        uri="" if request.said_by_post else request.said_uri,
    )
    carried = [(name, uri) for name, uri in request.files if uri]
    files = (
        Source(number=number, title=name, places="", uri="" if request.said_by_post else uri)
        for number, (name, uri) in enumerate(carried, 2)
    )
    return (written, *files)


def _file_lines(request: ExpertRequest) -> list[str]:
    number = 1
    lines: list[str] = []
    for name, uri in request.files:
        number += bool(uri)
        lines.append(f"📎 {literal(name)}{f' [{number}]' if uri else ''}")
    return ["\n".join(lines)] if lines else []


def _shown(request: ExpertRequest) -> str:
    text = " ".join(request.question.split())
    return literal(text if len(text) <= _LONGEST_QUESTION else f"{text[:_LONGEST_QUESTION]}…")
