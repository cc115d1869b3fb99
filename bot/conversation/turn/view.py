from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot import rendering
from bot.commands.research import without_request
from bot.files.uploads import progress
from bot.messages import say
from bot.port import Button, Reply
from bot.rendering.literal import literal, literal_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.access.permissions import Scope
    from bot.conversation.concurrency import Run
    from bot.conversation.turn.recorder import TurnRecorder
    from bot.messages.names import Sentence
    from bot.port import Citation
    from bot.store.turns import ChatTurn, State
    from bot.streaming.message_stream import MessageStream
    from rag_engine.types import Hit


CHOSEN: Final = "choice:"
"""Begins the message id of a button's question."""
_LONGEST_LABEL: Final = 75
"""Slack's limit; Discord's is 80."""


class TurnView:
    """`is_quiet`: nobody asked, so show nothing before the answer."""

    def __init__(
        self, *, stream: MessageStream, run: Run, recorder: TurnRecorder, language: str, is_quiet: bool
    ) -> None:
        self.stream = stream
        self.language = language
        self.text = ""
        self.heard = ""
        self.file_lines: tuple[str, ...] = ()
        self.failed_lines: tuple[str, ...] = ()
        self.read_files = False
        self.promotions: tuple[Button, ...] = ()
        self.links: frozenset[str] = frozenset()
        self.passages: tuple[Hit, ...] = ()
        self.final = Reply()
        self._run = run
        self._recorder = recorder
        self.offers_experts = False
        self._is_quiet = is_quiet

    def say(self, name: Sentence, /, **values: object) -> str:
        return say(name, self.language, **values)

    def show_status(self, status: str) -> None:
        if not self._is_quiet:
            self.stream.show(Reply(status=status, buttons=(self._button("stop"),)))

    def show_files(self, lines: tuple[str, ...]) -> None:
        if not self._is_quiet:
            self.stream.show(replace(progress(lines), buttons=(self._button("stop"),)))

    def headed(self, text: str) -> str:
        """With a question that is in no message."""
        turn = self._recorder.turn
        if text and self.heard:
            return f"> {self.say('heard_as', text=literal(self.heard))}\n\n{text}"
        if not text or not is_chosen(turn):
            return text
        name = f"**{literal(turn.person.name)}**: " if turn.person.name and not turn.private else ""
        return f"> {name}{literal(without_request(turn.question))}\n\n{text}"

    def growing(self, text: str) -> Reply:
        return Reply(text=self.headed(text), buttons=(self._button("stop"),), links=self.links)

    def begin_final(self) -> None:
        self._run.make_uninterruptible()

    async def finish(self, reply: Reply, state: State) -> None:
        self.begin_final()
        messages = await self.stream.finish(reply)
        await self._recorder.save(state, messages=messages)

    async def finish_without_files(self, scope: Scope) -> None:
        if scope.unchecked:
            text = self.say("access_unchecked", reason=scope.reason_in(self.language))
        else:
            text = self.say("no_files_direct" if scope.direct else "no_files")
            if scope.threads:
                text += f" {self.say('files_of_threads')}"
        reply = Reply(text=text, notices=tuple(self.file_lines), buttons=self.repeat_buttons())
        await self.finish(reply, "final")

    def answer_buttons(
        self,
        *,
        cited: bool,
        repeatable: bool,
        completed: bool,
        filtered: bool,
        choices: tuple[str, ...] = (),
        researchable: bool = False,
        unanswered: bool = False,
    ) -> tuple[Button, ...]:
        turn = self._recorder.turn
        rating = tuple(
            Button(name="feedback", label=self.say(way), value=f"{turn.id}:{way}", feedback=True)
            for way in ("up", "down")
        )
        sources = (self._button("sources"),) if cited else ()
        repeat = self.repeat_buttons() if repeatable else ()
        deeper = (self._button("dig_deeper"),) if researchable else ()
        own_words = (self._button("own_words"),) if completed else ()
        without_filter = (self._button("without_filter"),) if filtered else ()
        offered = choice_buttons(turn, choices)
        experts = (self._button("ask_expert"),) if unanswered and self.offers_experts else ()
        return (
            *offered,
            *experts,
            *sources,
            *repeat,
            *deeper,
            *own_words,
            *without_filter,
            self._button("why"),
            *rating,
            *self.promotions,
        )

    def version(
        self,
        *,
        text: str,
        citations: Sequence[Citation],
        notices: Sequence[str],
        links: frozenset[str],
    ) -> Reply:
        turn = self._recorder.turn
        number = self.say("version_shown", number=turn.version_number, total=len(turn.versions))
        return Reply(
            text=text,
            sources=rendering.sources(citations, self.language),
            citations=tuple(citations),
            notices=(*notices, number),
            language=self.language,
            links=links,
            buttons=self.answer_buttons(
                cited=bool(citations), repeatable=True, completed=False, filtered=False
            ),
        )

    def repeat_buttons(self) -> tuple[Button, ...]:
        turn = self._recorder.turn
        previous = (self._button("previous_version"),) if turn.versions[: turn.version_number - 1] else ()
        following = (self._button("next_version"),) if turn.versions[turn.version_number :] else ()
        return (regenerate_button(turn, self.language), *previous, *following)

    def incomplete(self, sentence: str) -> Reply:
        notices = (*self.file_lines, sentence) if self.text else self.file_lines
        return Reply(
            text=self.headed(self.text or literal_sentence(sentence)),
            notices=notices,
            links=self.links,
            buttons=self.repeat_buttons(),
        )

    def _button(self, name: Sentence) -> Button:
        return Button(name=name, label=self.say(name), value=self._recorder.turn.id)


def is_chosen(turn: ChatTurn) -> bool:
    return turn.message.startswith(CHOSEN)


def choice_buttons(turn: ChatTurn, choices: Sequence[str]) -> tuple[Button, ...]:
    return tuple(
        Button(name="choice", label=_label(text), value=f"{turn.id}:{number}")
        for number, text in enumerate(choices, 1)
    )


def _label(text: str) -> str:
    if len(text) <= _LONGEST_LABEL:
        return text
    cut = text[: _LONGEST_LABEL - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def regenerate_button(turn: ChatTurn, language: str) -> Button:
    return Button(name="regenerate", label=say("regenerate", language), value=turn.id)
