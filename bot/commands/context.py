from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.access.permissions import answer_or_none
from bot.access.watched_directory import WatchedDirectory
from bot.commands.dependencies import EXPIRY_MINUTES
from bot.messages import say
from bot.messages.refusals import Cause, NoSuchKnowledgeBase, Refusal
from bot.messages.workspace_names import sentence_on
from bot.port import NO_WORKSPACE, Button, Reply
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.dependencies import CommandDependencies, Confirmed, Show
    from bot.messages.names import Sentence
    from bot.messages.workspace_names import WorkspaceSentence
    from bot.port import Attachment, Channel, ChatError, Person, Place, Room

BUTTON = "kb"
FORM_BUTTON = "form_kb"

PAGE_LINES = 15
_NO_LINKS: frozenset[str] = frozenset()

# Who did what where, without content.
_audit = logging.getLogger("bot.audit")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    place: Place
    person: Person
    room: Room
    dependencies: CommandDependencies
    show: Show
    language: str = "en"
    command: str = ""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    attachments: Sequence[Attachment] = ()
    typed: str = ""
    failures: list[ChatError] = field(default_factory=list["ChatError"])
    """What the platform did not answer."""

    @property
    def directory(self) -> WatchedDirectory:
        return WatchedDirectory(directory=self.room.directory, failures=self.failures)

    @property
    def cause(self) -> Cause:
        return Cause(self.directory.failure)

    def say(self, name: Sentence, /, **values: object) -> str:
        return say(name, self.language, **values)

    def sentence_here(self, name: WorkspaceSentence) -> Sentence:
        return sentence_on(self.place.platform, name)

    def called(self, known: NamedKnowledgeBase) -> str:
        """A name as code, an English description as text."""
        text = known.name.in_language(self.language)
        return text if known.name.is_description and self.language == "en" else code(text)

    async def known(self, label: str) -> NamedKnowledgeBase:
        return await self.dependencies.audiences.find(label, self.place, self.directory, self.person)

    async def readable(
        self, *, others: Collection[KnowledgeBaseId] | None = None
    ) -> list[NamedKnowledgeBase]:
        return await self.dependencies.audiences.readable(
            self.place, self.directory, self.person, others=others
        )

    async def hints_on_access(self) -> list[str]:
        """For administrators of a workspace that is not the operator's."""
        access = self.dependencies.access
        if access.trusts(self.place, self.directory) or self.place.workspace == NO_WORKSPACE:
            return []
        if not await access.administers(self.person, self.directory):
            return []
        return [self.say(self.sentence_here("operators_closed"), workspace=self.place.workspace)]

    async def channel(self) -> Channel:
        channel = await answer_or_none(self.directory.channel(self.place.channel))
        if channel is None:
            raise Refusal("channel_unknown", reason=self.cause)
        return channel

    async def check_administers(self, known: NamedKnowledgeBase) -> None:
        if known.audience is None:
            raise Refusal("changed_by_operator", name=self.called(known))
        access, owner = self.dependencies.access, known.audience.place
        if owner in (self.place, self.place.parent):
            await access.check(self.person, self.place, self.directory, act="administer")
        else:
            await access.check_administers(self.person, self.place, self.directory)

    def ask(self, question: str, *, label: str, confirmed: Confirmed) -> Reply:
        token = self.dependencies.questions.ask(self.person, self.place, confirmed)
        return reply(
            self.say("question_open", question=question, count=EXPIRY_MINUTES),
            buttons=(
                Button(name=BUTTON, label=label, value=f"yes:{token}", style="danger"),
                Button(name=BUTTON, label=self.say("cancel"), value=f"no:{token}"),
            ),
        )

    def audit(self, act: str, known: NamedKnowledgeBase | None = None) -> None:
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


def reply(text: str, *, buttons: Sequence[Button] = ()) -> Reply:
    """No links: names and titles come from people."""
    return Reply(text=text, buttons=tuple(buttons), links=_NO_LINKS)


def code(text: str) -> str:
    shown = " ".join(text.replace("`", "'").split())
    return f"`{shown}`" if shown else "`?`"


def paged(use: CommandContext, heading: str, lines: Sequence[str], *, page: int, value: str) -> Reply:
    """Buttons have `value:page`."""
    pages = max(1, -(-len(lines) // PAGE_LINES))
    page = min(max(page, 1), pages)
    shown = lines[(page - 1) * PAGE_LINES : page * PAGE_LINES]
    buttons: list[Button] = []
    if page > 1:
        buttons.append(Button(name=BUTTON, label=use.say("sources_back"), value=f"{value}:{page - 1}"))
    if page < pages:
        buttons.append(Button(name=BUTTON, label=use.say("sources_more"), value=f"{value}:{page + 1}"))
    if pages > 1:
        heading = use.say("page_of", heading=heading, page=page, pages=pages)
    return reply("\n".join((heading, "", *shown)), buttons=buttons)


async def known_by_id(use: CommandContext, identity: str) -> NamedKnowledgeBase:
    """Raises `UnknownKnowledgeBase`, also for one the person may not know of."""
    for known in await use.readable(others={KnowledgeBaseId(identity)}):
        if known.knowledge_base.id == identity:
            return known
    if use.failures:
        raise Refusal("bases_unchecked", reason=use.cause)
    raise NoSuchKnowledgeBase("base_gone")
