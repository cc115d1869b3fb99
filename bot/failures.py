"""A failure as one plain sentence in the asker's language, with an id that leads to the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot import telemetry
from bot.port import ChatError
from bot.port import Refused as PlatformRefused
from bot.refusals import Refusal
from bot.sentences import LANGUAGES, say
from rag_engine import errors
from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from bot.sentences.names import Sentence

_log = logging.getLogger(__name__)

_KNOWN: tuple[tuple[type[Exception], Sentence], ...] = (
    (errors.IndexUnavailable, "index_away"),
    (errors.EmbedderUnavailable, "embedder_away"),
    (errors.ModelUnavailable, "model_away"),
    (errors.RateLimited, "rate_limited"),
    (errors.StorageUnavailable, "storage_away"),
    (errors.ContextTooLong, "too_long_for_model"),
    (errors.Refused, "filtered"),
    (errors.Unavailable, "platform_away"),
    (ChatError, "platform_away"),
    (TimeoutError, "platform_away"),
)


def sentence_of(error: BaseException, language: str) -> str:
    """What a person is told. What they can mend themselves has no id; all else is in the log under the id that is named."""
    error = telemetry.unwrapped(error)
    if isinstance(error, Refusal):
        return error.told(language)
    if isinstance(error, UserError | PlatformRefused):
        return str(error)
    known: Sentence | None = next((name for kind, name in _KNOWN if isinstance(error, kind)), None)
    if known is None:
        return say("unexpected", language, id=telemetry.record(error))
    identity = telemetry.told_id()
    # The sentences of these errors tell of services, never of what anybody wrote.
    _log.warning("a turn failed (id %s): %s: %s", identity, type(error).__name__, error)
    own = isinstance(error, RagError) and (language == "en" or language not in LANGUAGES)
    return say("with_id", language, sentence=str(error) if own else say(known, language), id=identity)
