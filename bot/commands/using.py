"""One use of a command: who, where, with what; and what all commands say alike."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from bot.access import told
from bot.commands.desk import EXPIRY_MINUTES
from bot.port import Button, Reply
from rag_engine.errors import NotAllowed, UnknownKnowledgeBase
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from bot.audience import Known
    from bot.commands.desk import Carry, Desk, Show
    from bot.port import Attachment, Channel, Directory, Person, Place, Room

BUTTON = "kb"
"""The name of every button of a command; the value says the rest."""

PAGE_LINES = 15
_NO_LINKS: frozenset[str] = frozenset()

# Who did what where, without what was in it: for whoever answers for the installation.
_audit = logging.getLogger("bot.audit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of a command, or of a button under its reply."""

    place: Place
    person: Person
    room: Room
    desk: Desk
    show: Show
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    attachments: Sequence[Attachment] = ()

    @property
    def directory(self) -> Directory:
        return self.room.directory

    async def known(self, label: str) -> Known:
        """The knowledge base that is meant by the label, of those that the person may know of."""
        return await self.desk.audiences.find(label, self.place, self.directory, self.person)

    async def readable(self, *, beside: Collection[KnowledgeBaseId] | None = None) -> list[Known]:
        """All that the person may know of here; `beside` narrows what is not used here."""
        return await self.desk.audiences.readable(self.place, self.directory, self.person, beside=beside)

    async def channel(self) -> Channel:
        """Where it is used. Raises `NotAllowed` when the platform does not tell."""
        channel = await told(self.directory.channel(self.place.channel))
        if channel is None:
            raise NotAllowed(
                "The platform does not tell who can read this channel, so nothing was done: try again in a moment."
            )
        return channel

    async def check_administers(self, known: Known) -> None:
        """Raise `NotAllowed` unless the person may change what is in the knowledge base."""
        if known.audience is None:
            raise NotAllowed(
                f"{code(known.name)} was made by whoever runs me: it is changed with `footnote add` and `footnote kb` on that machine."
            )
        access, owner = self.desk.access, known.audience.place
        if owner in (self.place, self.place.parent):
            await access.check(self.person, self.place, self.directory, act="administer")
        else:
            await access.check_administers(self.person, self.place, self.directory)

    def ask(self, question: str, *, label: str, carry: Carry) -> Reply:
        """The question, with a button that does it and one that does not; only this person may press them."""
        token = self.desk.questions.ask(self.person, self.place, carry)
        return reply(
            f"{question} (I wait for the answer for {EXPIRY_MINUTES} minutes.)",
            buttons=(
                Button(name=BUTTON, label=label, value=f"yes:{token}", style="danger"),
                Button(name=BUTTON, label="Cancel", value=f"no:{token}"),
            ),
        )

    def audit(self, act: str, known: Known | None = None) -> None:
        """A line in the log: who did what, where; no content."""
        fields = {
            "act": act,
            "person": self.person.id,
            "platform": self.place.platform,
            "workspace": self.place.workspace,
            "channel": self.place.channel,
            "thread": self.place.thread,
            "knowledge_base": known.knowledge_base.id if known else "",
        }
        _audit.info("audit", extra={"fields": fields})


Handler: TypeAlias = "Callable[[Use], Awaitable[Reply]]"


def reply(text: str, *, buttons: Sequence[Button] = ()) -> Reply:
    """A reply in which nothing becomes a link: names and titles come from people."""
    return Reply(text=text, buttons=tuple(buttons), links=_NO_LINKS)


def code(text: str) -> str:
    """A name or title as it is, in any Markdown; what is described ("this thread") stands as text."""
    if text.startswith("this "):
        return text
    shown = " ".join(text.replace("`", "'").split())
    return f"`{shown}`" if shown else "`?`"


def paged(heading: str, lines: Sequence[str], *, page: int, value: str) -> Reply:
    """One page of the lines, with buttons to the others; `value` is what they say before the number of the page."""
    pages = max(1, -(-len(lines) // PAGE_LINES))
    page = min(max(page, 1), pages)
    shown = lines[(page - 1) * PAGE_LINES : page * PAGE_LINES]
    buttons: list[Button] = []
    if page > 1:
        buttons.append(Button(name=BUTTON, label="Back", value=f"{value}:{page - 1}"))
    if page < pages:
        buttons.append(Button(name=BUTTON, label="More", value=f"{value}:{page + 1}"))
    if pages > 1:
        heading = f"{heading} (page {page} of {pages})"
    return reply("\n".join((heading, "", *shown)), buttons=buttons)


def count(number: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


async def known_by_id(use: Use, identity: str) -> Known:
    """The knowledge base of a button, if the person who presses it may know of it: anybody can send any value."""
    for known in await use.readable(beside={KnowledgeBaseId(identity)}):
        if known.knowledge_base.id == identity:
            return known
    raise UnknownKnowledgeBase("This knowledge base is not there any more, or you may not see it.")
