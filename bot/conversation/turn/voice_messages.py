from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.conversation.newcomers.small_talk import question_in
from bot.messages import language_of
from bot.messages.refusals import Refusal
from rag_engine.parsing.media_types import suffix_of
from rag_engine.speech import audio_text

if TYPE_CHECKING:
    from bot.conversation.turn.context import TurnContext
    from bot.files.downloads import Downloads
    from bot.port import Attachment
    from rag_engine.speech.types import Transcriber

_MOST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceMessages:
    downloads: Downloads
    transcriber: Transcriber | None = None

    async def hear(self, context: TurnContext) -> TurnContext:
        voices, turn, view = context.voices, context.recorder.turn, context.view
        if not voices:
            return context
        if turn.question == question_in(context.message):
            if self.transcriber is None:
                raise Refusal("hear_unset")
            view.show_status(view.say("stage_listen"))
            heard = " ".join([await self._words(voice, self.transcriber) for voice in voices[:_MOST]]).strip()
            if not heard:
                raise Refusal("heard_nothing")
            await context.recorder.save(question="\n".join(filter(None, (turn.question, heard))))
        # Else heard before a restart.
        question = context.recorder.turn.question
        chosen = context.options.settings.language
        view.heard = question
        view.language = language_of(question, context.message.person, chosen=chosen)
        return replace(context, voices=(), message=replace(context.message, text=question))

    async def _words(self, voice: Attachment, transcriber: Transcriber) -> str:
        self.downloads.refuse(voice)
        async with self.downloads.fetched(voice, uri=voice.uri) as blob:
            audio_text.check(blob, transcriber)
            transcript = await transcriber.transcribe(blob.path, suffix=suffix_of(voice.name))
        return transcript.text
