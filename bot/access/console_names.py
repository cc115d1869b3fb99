"""Names made in chat are ids of places."""

from __future__ import annotations

import re
from urllib.parse import unquote

_MADE_IN_CHAT = re.compile(r"([a-z_]+):(.*)~([0-9a-f]{6})[0-9a-f]{6}", re.DOTALL)


def console_name(name: str) -> str:
    """Such as "Slack T1, C2 (3fa2bc)"; other names as they are."""
    found = _MADE_IN_CHAT.fullmatch(name)
    if found is None:
        return name
    places = ", ".join(unquote(part, errors="replace") for part in found[2].split(":"))
    return f"{found[1].capitalize()} {places} ({found[3]})"
