from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FORM: Final = "form_"
MOST_TYPED: Final = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One text of `MOST_TYPED` characters at most. Long titles are cut."""

    title: str
    label: str
    submit: str
    text: str = ""


def opens_form(button: str) -> bool:
    """Their action comes with the form's text."""
    return button.startswith(FORM)
