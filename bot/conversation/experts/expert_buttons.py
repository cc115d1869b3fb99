"""The asker's consent and withdrawal, and what experts and administrators press."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.access.expert_names import label_of
from bot.access.permissions import answer_or_none
from bot.conversation.experts import expert_messages
from bot.conversation.experts.expert_readers import draft_posts
from bot.conversation.gaps.gap_readers import everyone_in
from bot.conversation.sources.readable_records import readable_record
from bot.port import Button, Reply
from bot.rendering.literal import literal
from bot.store.expert_requests import ExpertRequest
from bot.store.feedback import is_direct
from rag_engine.metadata.verified_answer import VerifiedAnswer, Verifier
from rag_engine.parsing.media_types import shown
from rag_engine.types import DocumentId
from rag_engine.web.addresses import is_outside

if TYPE_CHECKING:
    from bot.conversation.dependencies import AudienceLookup, PermissionChecks
    from bot.conversation.experts.expert_readers import ExpertReaders
    from bot.conversation.experts.expert_service import ExpertService
    from bot.conversation.interactions.buttons import ButtonPress
    from bot.port import Citation, Directory
    from bot.store.gaps import Gaps
    from bot.store.turns import ChatTurn
    from rag_engine.ingestion.verified_editor import VerifiedEditor
    from rag_engine.types import KnowledgeBaseId
    from rag_engine.verified.best_match import QuestionMatcher

OFFER: Final = "ask_expert"
BY_REQUEST: Final = frozenset({expert_messages.DECLINE, expert_messages.RECLASSIFY, expert_messages.VERIFY})
_MOST_QUOTED: Final = 3
_LONGEST_QUOTE: Final = 200
_USAGE: Final = "/kb verified add QUESTION = ANSWER"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertButtons:
    service: ExpertService
    readers: ExpertReaders
    audiences: AudienceLookup
    permissions: PermissionChecks
    editor: VerifiedEditor
    matcher: QuestionMatcher
    gaps: Gaps

    async def button(self, press: ButtonPress, turn: ChatTurn) -> tuple[Button, ...]:
        """Under *What was wrong*, for the asker."""
        if press.action.person.id != turn.person.id or not await self._experts(press, turn):
            return ()
        return (Button(name=OFFER, label=press.say("ask_expert"), value=turn.id),)

    async def offer(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        """A preview of all that will be sent."""
        if press.action.person.id != turn.person.id:
            return press.reply("expert_only_asker")
        running = await self.service.requests.of_answer(turn.id)
        if running is not None and running.is_open:
            return _sent(press, running, turn)
        experts = await self._experts(press, turn)
        if not experts or not turn.question:
            return press.reply("too_old")
        base, first = experts[0]
        draft = ExpertRequest(
            knowledge_base=base,
            platform=turn.place.platform,
            workspace=turn.place.workspace,
            channel=turn.place.channel,
            thread=turn.place.thread,
            message=turn.message,
            answer_id=turn.id,
            private=turn.private,
            person=turn.person.id,
            name=turn.person.name,
            language=press.language,
            question=turn.question,
            body="",
            expert_channel=first,
        )
        draft = await self._content(press, turn, draft)
        await self.service.requests.add(draft)
        return await self._preview(press, turn, draft)

    async def send(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        draft = await self._own(press, turn)
        if draft is None:
            return press.reply("too_old")
        if draft.state != "draft":
            return _sent(press, draft, turn) if draft.is_open else press.reply("expert_closed")
        changed = await self._content(press, turn, draft)
        if changed != draft:
            await self.service.requests.change(draft, changed)
            return await self._preview(press, turn, changed)
        same = await self._same(draft, press.room.directory)
        state = "waiting" if same else "sending"
        sent = replace(draft, state=state, parent=same.id if same else "")
        if not await self.service.requests.change(draft, sent):
            return press.reply("too_old")
        self.service.hurry()
        return _sent(press, sent, turn)

    async def withdraw(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        request = await self._own(press, turn)
        if request is None:
            return press.reply("too_old")
        if request.state == "draft":
            await self.service.requests.remove(request)
            return press.reply("nothing_done")
        done = await self.service.withdraw(request)
        return press.reply("expert_withdrawn" if done else "expert_closed")

    async def press(self, press: ButtonPress) -> Reply:
        """A button under a message about a request, in its own place."""
        action = press.action
        identity, _, detail = action.value.partition(":")
        request = await self.service.requests.find(identity)
        if request is None:
            return press.reply("too_old")
        if action.name == expert_messages.VERIFY:
            return await self._verify(press, request)
        places = {post.place for post in await self.service.requests.posts(request)}
        if action.place.parent not in places:
            return press.reply("too_old")
        await self.permissions.check_present(action.person, action.place, press.room.directory)
        if action.name == expert_messages.DECLINE:
            hands_over = await self.service.decline(request, action)
            return press.reply("expert_handed_over" if hands_over else "expert_closed")
        number, _, what = detail.partition(":")
        done = await self.service.reclassify(request, round_number=number, what=what)
        return press.reply("expert_corrected" if done else "too_old")

    async def _verify(self, press: ButtonPress, request: ExpertRequest) -> Reply:
        action, place, directory = press.action, request.place, press.room.directory
        may_see = not request.private or action.person.id == request.person
        if place.parent != action.place.parent or not may_see or request.is_gone:
            return press.reply("too_old")
        await self.permissions.check_present(action.person, action.place, directory)
        await self.permissions.check(action.person, place.parent, directory, act="administer")
        if not await self._is_for_all(request, directory):
            return press.reply("gap_not_here", usage=_USAGE)
        base = await self.audiences.own(place.parent)
        posts = await self.service.requests.posts(request)
        post = next((each for each in posts if each.person == request.said_by_post), None)
        author = Verifier(
            name=request.expert_name,
            platform=request.platform,
            workspace=post.workspace if post else request.workspace,
            channel=post.channel if post else request.channel,
            person=request.expert,
        )
        await self.editor.save(
            base.id,
            question=request.question,
            answer=expert_messages.text_of(request),
            author=author,
            uri="" if request.said_by_post else request.said_uri,
        )
        return press.reply("verified_saved", name=press.say("this_channel"))

    async def _is_for_all(self, request: ExpertRequest, directory: Directory) -> bool:
        """A gap may come from a place that not everyone here may read."""
        if not request.answer_id.startswith("gap:"):
            return True
        identity = request.answer_id.removeprefix("gap:")
        reader = everyone_in(request.place, directory)
        known = [each for each in await self.gaps.questions() if each.id == identity]
        return bool(known) and await reader.may_read(known[0])

    async def _own(self, press: ButtonPress, turn: ChatTurn) -> ExpertRequest | None:
        request = await self.service.requests.find(press.action.value.rpartition(":")[2])
        is_own = request is not None and request.answer_id == turn.id
        return request if is_own and press.action.person.id == turn.person.id else None

    async def _experts(self, press: ButtonPress, turn: ChatTurn) -> list[tuple[KnowledgeBaseId, str]]:
        """Of the knowledge bases that were searched; those that the platform knows now."""
        scope = await self._scope(press, turn)
        listed = await self.service.requests.experts(scope, turn.place)
        directory = press.room.directory
        known: list[tuple[KnowledgeBaseId, str]] = []
        for base, experts in listed:
            if await answer_or_none(self.readers.readers(experts, directory, without=turn.person.id)):
                known.append((base, experts))
        return known

    async def _scope(self, press: ButtonPress, turn: ChatTurn) -> frozenset[KnowledgeBaseId]:
        person = turn.person if turn.private else None
        scope = await self.audiences.scope(turn.place, press.room.directory, person=person, asker=turn.person)
        return scope.knowledge_bases

    async def _preview(self, press: ButtonPress, turn: ChatTurn, draft: ExpertRequest) -> Reply:
        listed = await self.service.requests.experts({draft.knowledge_base}, turn.place)
        labels = [await label_of(experts, press.room.directory) for _, experts in listed]
        names = " → ".join(literal(label) for label in labels if label)
        value = f"{turn.id}:{draft.id}"
        return Reply(
            text=f"{press.say('expert_preview', channel=names)}\n\n{expert_messages.body(draft, draft.quotes)}",
            buttons=(
                Button(name="expert_send", label=press.say("expert_send"), value=value, style="primary"),
                Button(name="expert_withdraw", label=press.say("cancel"), value=value),
            ),
            links=frozenset(),
        )

    async def _content(self, press: ButtonPress, turn: ChatTurn, draft: ExpertRequest) -> ExpertRequest:
        """Quotes only what all who are asked first may read now."""
        person = literal(turn.person.name or "?")
        lines = [
            f"**{press.say('expert_question', person=person)}**",
            *(f"> {literal(line)}" for line in turn.question.splitlines() if line.strip()),
        ]
        if not turn.citations:
            return replace(draft, body="\n".join((*lines, "", press.say("expert_unanswered"))), quotes=())
        scope = await self._scope(press, turn)
        found = [await self._quote(each, scope) for each in turn.citations if not is_outside(each.document)]
        wanted = replace(draft, quotes=tuple(dict.fromkeys(each for each in found if each)))
        directory = press.room.directory
        people = await answer_or_none(
            self.readers.readers(draft.expert_channel, directory, without=turn.person.id)
        )
        quotes = await self.readers.quotes(wanted, draft_posts(draft, people or ()), directory)
        return replace(draft, body="\n".join(lines), quotes=quotes[:_MOST_QUOTED])

    async def _quote(
        self, citation: Citation, scope: frozenset[KnowledgeBaseId]
    ) -> tuple[str, str, str] | None:
        record = await readable_record(self.editor.catalog, citation.document, scope)
        if record is None:
            return None
        quote = literal(" ".join(citation.quote.split())[:_LONGEST_QUOTE])
        text = f"{literal(shown(record.document.title))}: {quote}"
        return record.document.knowledge_base, citation.document, text

    async def _same(self, draft: ExpertRequest, directory: Directory) -> ExpertRequest | None:
        """An open request to the same experts that asks the same, where all who read the draft's place may read."""
        reader = everyone_in(draft.place, directory)
        others = [
            each
            for each in await self.service.requests.open_with(draft.place, draft.expert_channel)
            if not (each.private or is_direct(each.platform, each.workspace, each.channel))
            and await reader.reads(each.place)
        ]
        asked = [
            VerifiedAnswer(
                id=DocumentId(each.id),
                knowledge_base=each.knowledge_base,
                question=each.question,
                answer="",
                author=Verifier(name=""),
                written_at=0.0,
            )
            for each in others
            if each.knowledge_base == draft.knowledge_base
        ]
        found = await self.matcher.compare((draft.question,), asked) if asked else None
        best = found.best.id if found is not None and found.best is not None else ""
        return next((each for each in others if each.id == best), None)


def _sent(press: ButtonPress, request: ExpertRequest, turn: ChatTurn) -> Reply:
    withdraw = Button(
        name="expert_withdraw", label=press.say("expert_withdraw"), value=f"{turn.id}:{request.id}"
    )
    name = "expert_running" if request.parent else "expert_sent"
    return Reply(text=press.say(name), buttons=(withdraw,))
