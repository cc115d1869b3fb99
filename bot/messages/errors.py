from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot.messages import LANGUAGES, say
from bot.messages.refusals import LocalizedError
from bot.messages.translation import in_language
from bot.observability import log
from bot.port import ChatError
from bot.port import WriteRefused as PlatformRefused
from rag_engine import errors
from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from bot.messages.names import Sentence

_log = logging.getLogger(__name__)

_KNOWN: tuple[tuple[type[Exception], Sentence], ...] = (
    (errors.IndexUnavailable, "index_away"),
    (errors.EmbedderUnavailable, "embedder_away"),
    (errors.ModelUnavailable, "model_away"),
    (errors.AudioUnavailable, "audio_away"),
    (errors.RateLimited, "rate_limited"),
    (errors.StorageUnavailable, "storage_away"),
    (errors.ContextTooLong, "too_long_for_model"),
    (errors.Refused, "filtered"),
    (errors.Unavailable, "platform_away"),
    (ChatError, "platform_away"),
    (TimeoutError, "platform_away"),
)


def sentence_of(error: BaseException, language: str) -> str:
    """What the person cannot fix is logged, and the sentence has the line's id."""
    error = log.unwrapped(error)
    if isinstance(error, LocalizedError):
        return error.in_language(language)
    if isinstance(error, UserError | PlatformRefused):
        return in_language(str(error), language)
    known = _known(error)
    if known is None:
        return say("unexpected", language, id=log.record(error))
    identity = log.error_id()
    _log.warning("a turn failed (id %s): %s: %s", identity, type(error).__name__, error)
    return say("with_id", language, sentence=_text(error, known, language), id=identity)


def reason_of(error: RagError, language: str) -> str:
    known = _known(error)
    return _text(error, known, language) if known else in_language(str(error), language)


def _known(error: BaseException) -> Sentence | None:
    return next((name for kind, name in _KNOWN if isinstance(error, kind)), None)


def _text(error: BaseException, known: Sentence, language: str) -> str:
    own = isinstance(error, RagError) and (language == "en" or language not in LANGUAGES)
    return str(error) if own else say(known, language)
