"""`footnote ask`: ask one question."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from bot import rendering
from bot.access.permissions import scope
from bot.cli._shared import options
from bot.composition import application as composition
from bot.composition import loader
from bot.conversation.newcomers.small_talk import REPLIES, small_talk
from bot.conversation.read_aloud import omitted_words
from bot.messages import say
from bot.streaming import scheduler
from rag_engine.errors import UserError
from rag_engine.tables.answers.chart import chart, png
from rag_engine.tables.answers.reply import computed_values as computed
from rag_engine.types import BEST_PASSAGES, Answer, AnswerOptions, Query, TurnId

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bot.port import Reply
    from bot.settings import Settings
    from rag_engine.engine import Engine
    from rag_engine.speech.voice import Voice


EXAMPLE = """footnote ask "Who approves travel?" --kb handbook
footnote ask "Who approves travel?" --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "question", metavar="QUESTION", help="the question, or - to read it from standard input"
    )
    options.add_knowledge_bases(parser)
    parser.add_argument(
        "--model", default="", metavar="LABEL", help="use this model of FOOTNOTE_MODEL__CHOICES (the first)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="let the model read whole files, as far as they fit into its window",
    )
    parser.add_argument("--table", action="store_true", help="compute the answer over tables, or say why not")
    parser.add_argument(
        "--tools", action="store_true", help="let the model call tools, those of FOOTNOTE_TOOLS too"
    )
    parser.add_argument(
        "--speak", metavar="FILE", type=Path, help="also read the answer aloud into this file"
    )
    options.add_filters(parser)
    options.add_json(
        parser,
        "{answer, citations: [{number, title, anchor, uri, quote}], turn, grounded, support_ratio, unsupported, timings}",
    )


async def run(arguments: argparse.Namespace, settings: Settings, *, research: bool = False) -> int:
    question = arguments.question
    if question == "-":
        question = await asyncio.to_thread(sys.stdin.read)
    if (talk := small_talk(question)) is not None and talk.languages:
        text = say(REPLIES[talk.kind], talk.languages[0])
        answer = Answer(turn=TurnId(""), text=text, citations=(), grounded=False, timings={})
        print(json.dumps(as_json(answer), ensure_ascii=False, indent=2) if arguments.json else text)
        return 0
    async with composition.application(settings) as application:
        chosen = arguments.model and _model_label(arguments.model, list(application.engine.choices))
        places = await scope(application.catalog, arguments.kb)
        query = Query(
            text=question.strip(),
            knowledge_bases=places.knowledge_bases,
            scope=places.name,
            filters=tuple(arguments.filter),
            names=places.names_in("en"),
            limit=settings.answering.passages or BEST_PASSAGES,
            exact_limit=settings.answering.passages is not None,
            web="on_request" if settings.web_search.kind else "never",
            options=_options(arguments, chosen, research=research),
        )
        target = getattr(arguments, "speak", None)
        if target is not None:
            _check_speaker(application.voice, target)
        if arguments.json:
            answer = await _answer(application.engine, query)
            print(json.dumps(as_json(answer), ensure_ascii=False, indent=2))
        else:
            answer = await print_answer(application.engine, query)
        if target is not None and application.voice is not None and answer is not None:
            await _speak(application.voice, answer.text, target)
    path = getattr(arguments, "chart", None)
    if path is not None and answer is not None:
        await _draw(answer, path)
    return 0


async def _draw(answer: Answer, path: Path) -> None:
    drawn = chart(answer.computed, answer.language) if answer.computed is not None else None
    if drawn is None:
        raise UserError("No chart was drawn: that takes a computed column of numbers with at least two rows.")
    try:
        await asyncio.to_thread(lambda: path.write_bytes(png(drawn)))
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error
    print(f"The chart is in {path}.", file=sys.stderr)


def _options(arguments: argparse.Namespace, model: str, *, research: bool) -> AnswerOptions:
    return AnswerOptions(
        model=model,
        research=research,
        compute=arguments.table,
        chart=getattr(arguments, "chart", None) is not None,
        whole_files=arguments.full,
        tools="all",
        agent=arguments.tools and not research,
    )


def _check_speaker(voice: Voice | None, target: Path) -> None:
    if voice is None:
        raise UserError(say("speak_unset", "en").replace("`", ""))
    if target.suffix != f".{voice.speaker.suffix}":
        raise UserError(f"The audio will be .{voice.speaker.suffix}: name the file so.")


async def _speak(voice: Voice, text: str, target: Path) -> None:
    spoken = await voice.read(text, omitted=omitted_words(text))
    if spoken is None:
        raise UserError(say("speak_silent", "en"))
    try:
        await asyncio.to_thread(target.write_bytes, spoken.content)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}.") from error
    if spoken.characters:
        print(say("spoken_cut", "en", characters=spoken.characters), file=sys.stderr)


async def print_answer(engine: Engine, query: Query) -> Answer | None:
    with loader.console().outlet(Console(highlight=False)) as outlet:
        async with (
            scheduler.Scheduler().open(outlet) as stream,
            aclosing(engine.answer(query)) as events,
        ):
            return await scheduler.relay(events, stream, final=_reply)


def _reply(answer: Answer) -> Reply:
    reply = rendering.final(answer)
    if not answer.filtered_by:
        return reply
    said = say("filtered_by", "en", filter=rendering.printable(answer.filtered_by))
    return replace(reply, notices=(*reply.notices, said))


def as_json(answer: Answer) -> dict[str, object]:
    return {
        "answer": answer.text,
        "citations": [
            {key: value for key, value in asdict(citation).items() if key in _CITATION_KEYS}
            for citation in answer.citations
        ],
        "turn": answer.turn,
        "grounded": answer.grounded,
        "support_ratio": answer.support_ratio,
        "unsupported": list(answer.unsupported),
        "timings": {name: round(seconds, 4) for name, seconds in answer.timings.items()},
        "notices": list(answer.notices),
        "filter": answer.filtered_by,
        **({"research": dict(answer.research)} if answer.research else {}),
        **({"computed": computed(answer.computed)} if answer.computed else {}),
    }


_CITATION_KEYS = frozenset({"number", "title", "anchor", "uri", "quote"})


async def _answer(engine: Engine, query: Query) -> Answer:
    async with aclosing(engine.answer(query)) as events:
        async for event in events:
            if isinstance(event, Answer):
                return event
    raise RuntimeError("the engine ended a reply without an answer")


def _model_label(model: str, choices: Sequence[str]) -> str:
    # The package imports every command of the chat.
    from bot.commands.setting_values import model_label

    return model_label(model, choices)
