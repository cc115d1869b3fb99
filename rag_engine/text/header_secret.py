from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, SecretStr

_FIRST: Final = "!"
_LAST: Final = "~"


def unsendable(key: str) -> str:
    """Why no header holds it, else empty."""
    strange = next((letter for letter in key if not _FIRST <= letter <= _LAST), "")
    if not strange:
        return ""
    named = (
        f"“{strange}”"
        if strange.isprintable() and not strange.isspace()
        else "a blank or invisible character"
    )
    return f"it holds {named}, which no key has: copy it again"


def _sendable(key: SecretStr) -> SecretStr:
    if reason := unsendable(key.get_secret_value()):
        raise ValueError(reason)
    return key


HeaderSecret = Annotated[SecretStr, AfterValidator(_sendable)]
