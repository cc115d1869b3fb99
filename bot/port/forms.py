from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FORM: Final = "form_"
MOST_TYPED: Final = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One text to type or change, up to `MOST_TYPED` characters. Long titles and labels are cut."""

    title: str
    label: str
    submit: str
    text: str = ""


def opens_form(button: str) -> bool:
    """Buttons named `form_…` show a `Form` first; their action comes with its text."""
    return button.startswith(FORM)
