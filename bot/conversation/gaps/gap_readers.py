"""A question is read where it was asked; who may not read there sees that it counts, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from bot.access.permissions import answer_or_none
from bot.access.readability import FEW
from bot.port import Channel, Gone

if TYPE_CHECKING:
    from bot.port import Directory, Person, Place
    from bot.store.gaps import GapQuestion

_MOST_PLACES: Final = 100
_MOST_UNANSWERED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceReader:
    """Without a `person`: everyone there."""

    place: Place
    directory: Directory
    person: Person | None = None
    _verdicts: dict[Place, bool] = field(default_factory=dict["Place", bool], init=False)
    _unanswered: list[Place] = field(default_factory=list["Place"], init=False)

    def sees(self, question: GapQuestion) -> bool:
        return question.bucket == (self.place.platform, self.place.workspace)

    async def may_read(self, question: GapQuestion) -> bool:
        if not self.sees(question):
            return False
        if self.person is not None and question.person == self.person.id:
            return True
        if question.private:
            return False
        return await self.reads(question.place)

    async def reads(self, place: Place) -> bool:
        return await self._reads(place.parent) and (not place.thread or await self._reads(place))

    async def _reads(self, place: Place) -> bool:
        known = self._verdicts.get(place)
        if known is None:
            asks = len(self._verdicts) < _MOST_PLACES and len(self._unanswered) < _MOST_UNANSWERED
            answer = await self._ask(place) if asks else False
            if answer is None:
                self._unanswered.append(place)
            known = self._verdicts[place] = bool(answer)
        return known

    async def _ask(self, place: Place) -> bool | None:
        if place.thread:
            return await answer_or_none(self.directory.shares_thread(place))
        if place == self.place.parent:
            return True
        channel = await answer_or_none(_channel(self.directory, place))
        if channel is None or channel.kind in FEW:
            return None if channel is None else False
        if self.person is not None:
            may = self.directory.may_read(place.channel, person=self.person.id)
        else:
            may = self.directory.may_read(place.channel, everyone_in=self.place.channel)
        return await answer_or_none(may)


async def _channel(directory: Directory, place: Place) -> Channel:
    try:
        return await directory.channel(place.channel)
    except Gone:
        return Channel(id=place.channel, name="", kind="direct")


def everyone_in(place: Place, directory: Directory) -> PlaceReader:
    return PlaceReader(place=replace(place, thread=""), directory=directory)
