from __future__ import annotations


class ChatError(Exception):
    """The text is for the log and `doctor`, without secrets."""


class Throttled(ChatError):
    """The platform did nothing; retry after `seconds`."""

    def __init__(self, message: str = "", *, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Unreachable(ChatError):
    """The same call may work later."""


class Unreadable(Unreachable):
    """Names the missing or wrongly typed field, and no value."""


class Stopped(ChatError):
    """A person pressed the platform's button: only the final write is left."""


class Gone(ChatError):
    """Deleted or closed to us: retrying cannot help."""


class WriteRefused(ChatError):
    """One plain sentence for people, with the remedy if known."""
