from __future__ import annotations


class ChatError(Exception):
    """The text is for the log and `doctor`, without secrets."""


class Throttled(ChatError):
    """The platform did nothing; retry after `seconds`."""

    def __init__(self, message: str = "", *, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Unreachable(ChatError):
    """No answer, or a server error: the same call may work later."""


class Unreadable(Unreachable):
    """The text names the missing or wrongly typed field, and no value."""


class Stopped(ChatError):
    """A person stopped this message with the platform's button: only the final write is left."""


class Gone(ChatError):
    """The message, thread or channel is deleted or closed to us: retrying cannot help."""


class WriteRefused(ChatError):
    """The text is one plain sentence for people, with the remedy if known."""
