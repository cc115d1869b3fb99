from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.access.expert_names import channel_of, label_of
from bot.access.permissions import answer_or_none
from bot.conversation.gaps.gap_readers import PlaceReader, everyone_in
from bot.conversation.gaps.gap_service import ASK
from bot.port import Button, Person, Reply
from bot.rendering.literal import literal
from bot.store.expert_requests import ExpertRequest

if TYPE_CHECKING:
    from bot.conversation.dependencies import PermissionChecks
    from bot.conversation.experts.expert_readers import ExpertReaders
    from bot.conversation.experts.expert_service import ExpertService
    from bot.conversation.gaps.gap_list import GapList, ShownGap
    from bot.conversation.interactions.buttons import ButtonPress
    from bot.store.gaps import GapQuestion
    from rag_engine.types import KnowledgeBaseId

SEND: Final = "gap_send"
WITHDRAW: Final = "gap_withdraw"
BUTTONS: Final = frozenset({ASK, SEND, WITHDRAW})
_USAGE: Final = "/kb experts add #help"


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRequests:
    service: ExpertService
    readers: ExpertReaders
    permissions: PermissionChecks
    listed: GapList

    async def press(self, press: ButtonPress) -> Reply:
        action, directory = press.action, press.room.directory
        await self.permissions.check_administers(action.person, action.place, directory)
        if action.name == ASK:
            return await self._offer(press)
        request = await self.service.requests.find(action.value)
        if request is None or request.person != action.person.id or not request.answer_id.startswith("gap:"):
            return press.reply("too_old")
        return await (self._send if action.name == SEND else self._withdraw)(press, request)

    async def _offer(self, press: ButtonPress) -> Reply:
        place = press.action.place
        reader = PlaceReader(place=place, directory=press.room.directory, person=press.action.person)
        found = await self.listed.read(reader, gap=press.action.value)
        if not found or not found[0].readable:
            return press.reply("too_old")
        chosen = await self._chosen(press, found[0])
        if chosen is None:
            return press.reply("gap_no_experts", usage=_USAGE)
        question, base, experts = chosen
        running = await self.service.requests.of_answer(f"gap:{question.id}")
        if running is not None and running.is_open:
            return press.reply("expert_running")
        asked = await self.listed.history.asked({question.turn})
        text = asked[question.turn].text if question.turn in asked else ""
        draft = _draft(press, question, base, experts, text)
        await self.service.requests.add(draft)
        name = literal(await label_of(experts, press.room.directory) or "…")
        return Reply(
            text=f"{press.say('expert_preview', channel=name)}\n\n{draft.body}",
            buttons=(
                Button(name=SEND, label=press.say("expert_send"), value=draft.id, style="primary"),
                Button(name=WITHDRAW, label=press.say("cancel"), value=draft.id),
            ),
            links=frozenset(),
        )

    async def _chosen(
        self, press: ButtonPress, shown: ShownGap
    ) -> tuple[GapQuestion, KnowledgeBaseId, str] | None:
        searched = frozenset(base for each in shown.readable for base in each.knowledge_bases)
        listed = await self.service.requests.experts(searched, press.action.place)
        for base, experts in listed:
            questions = [each for each in shown.readable if base in each.knowledge_bases]
            readers = await self._readers(press, experts)
            for question in questions if readers else ():
                if all([await reader.may_read(question) for reader in readers]):
                    return question, base, experts
        return None

    async def _readers(self, press: ButtonPress, experts: str) -> list[PlaceReader]:
        place, directory = press.action.place, press.room.directory
        if channel := channel_of(experts):
            return [everyone_in(replace(place, channel=channel), directory)]
        asked = self.readers.readers(experts, directory, without=press.action.person.id)
        return [
            PlaceReader(place=place, directory=directory, person=Person(id=each))
            for each in await answer_or_none(asked) or ()
        ]

    async def _send(self, press: ButtonPress, request: ExpertRequest) -> Reply:
        if request.state != "draft":
            return press.reply("expert_running" if request.is_open else "expert_closed")
        readers = await self._readers(press, request.expert_channel)
        identity = request.answer_id.removeprefix("gap:")
        known = [each for each in await self.listed.gaps.questions() if each.id == identity]
        if not (known and readers) or not all([await each.may_read(known[0]) for each in readers]):
            return press.reply("too_old")
        if not await self.service.requests.change(request, replace(request, state="sending")):
            return press.reply("too_old")
        self.service.hurry()
        withdraw = Button(name=WITHDRAW, label=press.say("expert_withdraw"), value=request.id)
        return Reply(text=press.say("expert_sent"), buttons=(withdraw,))

    async def _withdraw(self, press: ButtonPress, request: ExpertRequest) -> Reply:
        if request.state == "draft":
            await self.service.requests.remove(request)
            return press.reply("nothing_done")
        done = await self.service.withdraw(request)
        return press.reply("expert_withdrawn" if done else "expert_closed")


def _draft(
    press: ButtonPress, question: GapQuestion, base: KnowledgeBaseId, experts: str, text: str
) -> ExpertRequest:
    action = press.action
    return ExpertRequest(
        knowledge_base=base,
        platform=action.place.platform,
        workspace=action.place.workspace,
        channel=action.place.channel,
        thread=action.place.thread,
        message=action.message,
        answer_id=f"gap:{question.id}",
        private=True,
        person=action.person.id,
        name=action.person.name,
        language=press.language,
        question=text,
        body=_body(press, text),
        expert_channel=experts,
    )


def _body(press: ButtonPress, question: str) -> str:
    person = literal(press.action.person.name or "?")
    quoted = [f"> {literal(line)}" for line in question.splitlines() if line.strip()]
    heading = f"**{press.say('expert_question', person=person)}**"
    return "\n".join((heading, *quoted, "", press.say("expert_unanswered")))
