from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.access.permissions import answer_or_none
from bot.commands.context import BUTTON, code, reply
from bot.conversation.gaps.digest import line
from bot.conversation.gaps.digest_days import next_monday
from bot.conversation.gaps.gap_readers import PlaceReader
from bot.messages.refusals import Invalid, Refusal
from bot.port import Button
from bot.rendering.literal import literal
from bot.store.gaps.digests import GapDigest

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.conversation.gaps.gap_intake import GapIntake
    from bot.conversation.gaps.gap_list import GapList, ShownGap
    from bot.port import Reply
    from bot.store.gaps.digests import GapDigests

ASK: Final = "gap_expert"
_PAGE: Final = 5
_MENTION: Final = re.compile(r"<#([^|>\s]+)(?:\|[^>]*)?>")


@dataclass(frozen=True, slots=True, kw_only=True)
class GapService:
    intake: GapIntake
    listed: GapList
    digests: GapDigests

    async def show(self, use: CommandContext, *, page: int = 1) -> Reply:
        await self._check(use)
        await self.intake.update()
        found = await self.listed.read(_reader(use))
        shown = [each for each in found if each.title]
        hidden = sum(each.count for each in found if not each.title)
        unread = (use.say("gaps_hidden", count=hidden),) if hidden else ()
        if not shown:
            return reply("\n".join((use.say("gaps_none"), *unread)))
        pages = -(-len(shown) // _PAGE)
        page = min(max(page, 1), pages)
        listed = list(enumerate(shown, 1))[(page - 1) * _PAGE : page * _PAGE]
        lines = [f"{number}. {line(each, use.language)}" for number, each in listed]
        heading = use.say("gaps_heading")
        if pages > 1:
            heading = use.say("page_of", heading=heading, page=page, pages=pages)
        return reply(
            "\n".join((heading, "", *lines, *unread)),
            buttons=(
                *(_button(str(number), "open", each) for number, each in listed),
                *_turns(use, page, pages),
            ),
        )

    async def press(self, use: CommandContext, act: str, gap: str) -> Reply:
        await self._check(use)
        shown = await self._found(use, gap)
        if act == "open":
            return _opened(use, shown)
        if act == "file":
            how = use.say("gap_file_how", title=literal(shown.title))
            return reply(how, buttons=_acts(use, shown))
        if act != "done":
            raise Invalid("command_button_stale")
        await self.intake.gaps.close(gap, at=time.time())
        use.audit("close a gap")
        return reply(use.say("gap_closed"), buttons=(_back(use),))

    async def choose_channel(self, use: CommandContext, text: str) -> Reply:
        await self._check(use)
        if text.casefold() == "off":
            await self.digests.remove(use.place)
            use.audit("digest off")
            return reply(use.say("digest_off"))
        mention = _MENTION.fullmatch(text)
        channel = mention[1] if mention else text.removeprefix("#")
        if not await answer_or_none(use.directory.may_read(channel, person=use.person.id)):
            if not mention:
                raise Invalid("name_unpicked", name=code(text))
            raise Refusal("channel_unknown", reason=use.cause)
        zone = use.person.time_zone
        digest = GapDigest(
            place=replace(use.place.parent, channel=channel),
            person=use.person.id,
            language=use.language,
            time_zone=zone,
            due_at=next_monday(time.time(), zone),
        )
        await self.digests.put(digest)
        use.audit("digest on")
        known = await answer_or_none(use.directory.channel(channel))
        name = code(f"#{known.name.removeprefix('#')}" if known and known.name else channel)
        return reply(use.say("digest_on", channel=name))

    async def _check(self, use: CommandContext) -> None:
        await use.dependencies.access.check_administers(use.person, use.place, use.directory)

    async def _found(self, use: CommandContext, gap: str) -> ShownGap:
        found = await self.listed.read(_reader(use), gap=gap)
        if not found or not found[0].title:
            raise Invalid("command_button_stale")
        return found[0]


def _reader(use: CommandContext) -> PlaceReader:
    return PlaceReader(place=use.place, directory=use.directory, person=use.person)


def _opened(use: CommandContext, shown: ShownGap) -> Reply:
    quoted = [f"> {literal(question)}" for question in shown.questions]
    text = "\n".join((f"**{line(shown, use.language)}**", "", *quoted))
    return reply(text, buttons=_acts(use, shown))


def _acts(use: CommandContext, shown: ShownGap) -> tuple[Button, ...]:
    return (
        Button(name=ASK, label=use.say("ask_expert"), value=shown.gap.id, style="primary"),
        _button(use.say("gap_file"), "file", shown),
        _button(use.say("gap_done"), "done", shown),
        _back(use),
    )


def _back(use: CommandContext) -> Button:
    return Button(name=BUTTON, label=use.say("sources_back"), value="gaps:1")


def _button(label: str, act: str, shown: ShownGap) -> Button:
    return Button(name=BUTTON, label=label, value=f"gaps:{act}:{shown.gap.id}")


def _turns(use: CommandContext, page: int, pages: int) -> tuple[Button, ...]:
    back = (Button(name=BUTTON, label=use.say("sources_back"), value=f"gaps:{page - 1}"),)
    more = (Button(name=BUTTON, label=use.say("sources_more"), value=f"gaps:{page + 1}"),)
    return (*(back if page > 1 else ()), *(more if page < pages else ()))
