"""Commands and buttons: each is done once. One that the program's end interrupted is done again, or its person is told."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import actions, gate
from bot.actions import Again, Context
from bot.commands.parsing import parse
from bot.failures import sentence_of
from bot.gate import Admitted
from bot.port import IncomingMessage, Reply
from bot.sentences import language_of, say
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.dealing import Dealing
    from bot.port import Action, Command, Person, Place, Room
    from bot.resuming import Resuming
    from bot.serving import Parts, Show

_SHOWN_AFTER_SECONDS = 0.5
"""A command that takes longer says that it is being done."""

_log = logging.getLogger(__name__)


class Interacting:
    """What people do beside writing."""

    def __init__(self, parts: Parts, dealing: Dealing, resuming: Resuming) -> None:
        self._parts = parts
        self._dealing = dealing
        self._resuming = resuming
        self._doing: set[tuple[Place, str]] = set()
        """What this process has begun."""

    async def command(self, command: Command, room: Room) -> None:
        """A slash command."""
        if command.name.split()[0].lstrip("/").casefold() == "ask":
            return await self._ask(command, room)

        async def do(*, begun: bool) -> None:
            # It may have been done or not, and none of them is done twice.
            await (self._restarted(command.person, room) if begun else self._execute(command, room))

        return await self._once(command.place, f"command:{command.id}", do)

    async def action(self, action: Action, room: Room) -> None:
        """A button under one of our messages."""

        async def do(*, begun: bool) -> None:
            if begun and action.name not in actions.NAMES:
                await self._restarted(action.person, room)
            elif not (begun and await actions.goes_on(action, self._parts.turns)):
                await self._press(action, room)

        if action.id:
            await self._once(action.place, f"action:{action.id}", do)
        else:
            await do(begun=False)

    async def _once(self, place: Place, event: str, do: Callable[..., Awaitable[None]]) -> None:
        """Do it unless that was done before, or is being done; it is told when another process had begun it."""
        key = place.parent, event
        if key in self._doing:
            return
        self._doing.add(key)
        try:
            claim = await self._parts.claims.begin(place, event)
            if claim == "finished":
                return
            try:
                await do(begun=claim == "begun")
            except Exception:
                await self._finish(place, event)  # whoever called tells the person
                raise
            await self._finish(place, event)
        finally:
            self._doing.discard(key)

    async def _finish(self, place: Place, event: str) -> None:
        try:
            await self._parts.claims.finish(place, event)
        except RagError as error:
            _log.warning("it could not be kept that something was done: %s", error)

    async def _restarted(self, person: Person, room: Room) -> None:
        await self._dealing.tell(room, person, say("restarted", language_of("", person)))

    async def _ask(self, command: Command, room: Room) -> None:
        values = parse(command).values
        public = values.get("where") == "channel"
        message = IncomingMessage(
            id=f"command:{command.id}",
            place=command.place,
            person=command.person,
            text=values.get("question", ""),
            private=not public,
            in_thread=bool(command.place.thread),
            at=time.time(),
            handle=command.handle,
        )
        known = await self._parts.turns.of_message(message.place, message.id)
        if known is not None:
            await self._resuming.redelivered(known, message, room)
            return
        admitted = Admitted(settings=await gate.settings_of(message, self._parts))
        await self._dealing.take_up(message, room, admitted)

    async def _execute(self, command: Command, room: Room) -> None:
        async def work(show: Show) -> Reply | None:
            return await self._parts.commands.execute(command, room, show)

        await self._carry_out(work, command.person, room)

    async def _press(self, action: Action, room: Room) -> None:
        again: list[Again] = []

        async def own(show: Show) -> Reply | None:
            context = Context(action=action, room=room, parts=self._parts, runs=self._dealing.runs, show=show)
            done = await actions.press(context)
            if not isinstance(done, Again):
                return done
            again.append(done)
            return None

        async def others(show: Show) -> Reply | None:
            reply = await self._parts.commands.press(action, room, show)
            return reply or Reply(text=say("unknown_button", language_of("", action.person)))

        if action.name in actions.NAMES:
            await self._carry_out(own, action.person, room, slow=action.name in actions.SLOW)
        else:
            posted = (action.message,) if action.message else ()
            await self._carry_out(others, action.person, room, posted=posted)
        for one in again:
            settings = await gate.settings_of(one.message, self._parts)
            if not self._dealing.runs.is_running(one.turn.id):
                turn = replace(one.turn, attempts=1)
                await self._dealing.again(
                    turn, one.message, room, Admitted(settings=settings), listens=one.listens
                )

    async def _carry_out(
        self,
        work: Callable[[Show], Awaitable[Reply | None]],
        person: Person,
        room: Room,
        *,
        posted: tuple[str, ...] = (),
        slow: bool = True,
    ) -> None:
        """Do it, and tell the person alone what came of it, if anything; what is slow says that it is being done."""
        language = language_of("", person)
        outlet = room.outlet(private=person, posted=posted)
        async with self._parts.scheduler.open(outlet, posted=posted) as stream:
            working = Reply(status=say("working", language))
            timer = asyncio.get_running_loop().call_later(_SHOWN_AFTER_SECONDS, stream.want, working)
            if not slow:
                timer.cancel()

            def show(reply: Reply) -> None:
                timer.cancel()
                stream.want(reply)

            try:
                reply = await work(show)
            except Exception as error:
                reply = Reply(text=sentence_of(error, language))
            finally:
                timer.cancel()
            if reply is not None:
                await stream.finish(reply)
