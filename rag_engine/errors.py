"""Every error that may leave the engine, sorted by who must act.

RagError
  UserError      the asker can fix it; the text is shown as it is
  Unavailable    wait; `backend`, `retry_after` and `reason` are data
  Refused        the model will not or cannot
  Misconfigured  the operator must act, at start; exit code 78
(any other exception is a bug: logged with its traceback and an id)

The text of an error is one plain sentence: what happened and what to do.
"""

from __future__ import annotations

import errno
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Generator


DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class RagError(Exception):
    """Something went wrong; one sentence says what."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (inspect.getdoc(type(self)) or "").splitlines()[0])


class UserError(RagError):
    """The user can fix this."""


class UnsupportedFile(UserError):
    """This kind of file cannot be read."""


class FileTooLarge(UserError):
    """The file is too large."""


class EmptyDocument(UserError):
    """The file has no text in it."""


class CorruptFile(UserError):
    """The file is damaged and cannot be read."""


class EncryptedFile(UserError):
    """The file is protected by a password; remove the password and add it again."""


class UnknownKnowledgeBase(UserError):
    """There is no knowledge base of that name."""


class UnknownDocument(UserError):
    """There is no document of that name in the knowledge base."""


class NotAllowed(UserError):
    """You may not do that here."""


class QueryTooLong(UserError):
    """The question is too long; shorten it and ask again."""


class InvalidFilter(UserError):
    """A filter cannot be read or met."""


class QueryRefused(UserError):
    """This query over the tables is not allowed."""


class QueryTooHeavy(UserError):
    """This query over the tables takes too long or too much memory; ask for less."""


class Unavailable(RagError):
    """A service does not answer; try again in a moment."""

    def __init__(
        self, message: str = "", *, backend: str = "", retry_after: float | None = None, reason: str = ""
    ) -> None:
        super().__init__(message)
        self.backend = backend
        self.retry_after = retry_after
        """Seconds to wait, if the service named a time."""
        self.reason = reason
        """The cause as one of few words, for counting: `unreachable`, `timeout`, `rejected`, `read_only`, ..."""


class IndexUnavailable(Unavailable):
    """The search index does not answer; try again in a moment."""


class EmbedderUnavailable(Unavailable):
    """The embedding model does not answer; try again in a moment."""


class ModelUnavailable(Unavailable):
    """The language model does not answer; try again in a moment."""


class AudioUnavailable(Unavailable):
    """The audio server does not answer; try again in a moment."""


class RateLimited(Unavailable):
    """A service asks us to slow down; try again in a moment."""


class StorageUnavailable(Unavailable):
    """The data directory cannot be written; check its disk space and permissions."""


class Refused(RagError):
    """The language model will not answer this."""


class ContentFiltered(Refused):
    """The language model's content filter stopped this answer."""


class ContextTooLong(Refused):
    """The question with its passages is too long for the language model."""


class Misconfigured(RagError):
    """The settings cannot work as they are."""


class MissingExtra(Misconfigured):
    """An optional library is not installed."""


class BadSettings(Misconfigured):
    """A setting has a value that cannot be used."""


class SchemaMismatch(Misconfigured):
    """The stored data belongs to another version or another embedding model."""


def first_of(error: BaseException) -> BaseException:
    """The first error inside an `ExceptionGroup`, however deep; any other error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


@contextmanager
def first_error() -> Generator[None]:
    """Around a task group: raises its first error instead of the `ExceptionGroup`."""
    try:
        yield
    except BaseExceptionGroup as group:
        error = first_of(group)
        raise error from error.__cause__
