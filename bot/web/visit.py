from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from rag_engine.errors import UserError

if TYPE_CHECKING:
    from bot.access.visitor_access import VisitorAccess
    from bot.composition.chat.page_parts import PageParts
    from bot.observability.health import Health
    from bot.store.web_sessions import Visitor
    from bot.web.background import Background

HIDDEN: Final = "hidden: you may not read this place"
UNCHECKED: Final = (
    "hidden: the platform does not answer, so it could not be checked whether you may read this"
)

_audit = logging.getLogger("bot.audit")


class NothingHere(UserError):
    """Also for what exists elsewhere."""

    def __init__(self, sentence: str = "There is nothing here.") -> None:
        super().__init__(sentence)


class NotYours(UserError):
    """The visitor may see it and not change it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    template: str
    values: Mapping[str, object]
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """`said`: a key of the view's SAID."""

    path: str
    said: str = ""
    query: Mapping[str, str] = field(default_factory=dict[str, str])


Reply: TypeAlias = Shown | Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request. `rest`: the parts of its path behind the view's."""

    parts: PageParts
    reader: VisitorAccess
    visitor: Visitor
    health: Health
    background: Background
    checked: bool
    """False: the platform did not say whether the visitor still administers."""
    rest: tuple[str, ...] = ()
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    form: Mapping[str, str] = field(default_factory=dict[str, str])

    def choice(self, name: str, *choices: str) -> str:
        value = self.query.get(name, "")
        return value if value in choices else choices[0]

    def number(self, name: str, *, most: int) -> int:
        value = self.query.get(name, "")
        return min(int(value), most) if value.isascii() and value.isdecimal() and len(value) < 10 else 0

    def origin(self, uri: str) -> str:
        """A link; for the operator, also a path of this machine."""
        if uri.startswith(("https://", "http://")):
            return uri
        return uri if self.reader.is_operator and uri.startswith("/") else ""

    def audit(self, act: str, **fields: str) -> None:
        who = self.visitor
        _audit.info(
            "audit",
            extra={
                "fields": {
                    "act": f"page {act}",
                    "person": who.person or "operator",
                    "platform": who.platform,
                    "workspace": who.workspace,
                    **fields,
                }
            },
        )


Act: TypeAlias = Callable[[Visit], Awaitable[Reply]]


class View(Protocol):
    TITLE: str
    PATH: str
    POSITION: int

    async def show(self, visit: Visit) -> Reply: ...
