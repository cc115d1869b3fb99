"""The slash commands: data and functions, the same on every platform. Every reply is for the person alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands import behaving, binding, contents, looking
from bot.commands.desk import EXPIRY_MINUTES, Desk, Questions, Receive, Show
from bot.commands.parsing import Parsed, parse
from bot.commands.specs import SPECS, usage
from bot.commands.using import BUTTON, Use, reply
from rag_engine.errors import UserError

if TYPE_CHECKING:
    from bot.commands.using import Handler
    from bot.port import Action, Command, Reply, Room

__all__ = [
    "BUTTON",
    "EXPIRY_MINUTES",
    "SPECS",
    "Desk",
    "Parsed",
    "Questions",
    "Receive",
    "Show",
    "execute",
    "parse",
    "press",
    "usage",
]

_HANDLERS: dict[str, Handler] = {
    "help": looking.welcome,
    "kb list": looking.list_all,
    "kb show": looking.show,
    "kb create": binding.create,
    "kb bind": binding.bind,
    "kb unbind": binding.unbind,
    "kb add": contents.add,
    "kb remove": contents.remove,
    "kb reindex": contents.reindex,
    "kb status": looking.status,
    "kb settings": behaving.settings,
    "kb export": contents.export,
    "kb help": looking.commands,
}
_STALE = "This button no longer works: use the command again."


def _ignore(seen: Reply) -> None:
    """Nobody watches."""


async def execute(command: Command, room: Room, desk: Desk, *, show: Show = _ignore) -> Reply:
    """Do it; what to say to the person alone. `/ask` is the service's: it is only parsed here (`parse`).

    What the person can mend is said in the reply; raises other `RagError`s.
    """
    try:
        desk.access.admit(command.place)
        parsed = parse(command)
        use = Use(
            place=command.place,
            person=command.person,
            room=room,
            desk=desk,
            show=show,
            values=parsed.values,
            attachments=command.attachments,
        )
        handler = _HANDLERS.get(parsed.spec.name)
        if handler is None:
            raise UserError("A question is asked with `/ask` and answered like a message.")
        return await handler(use)
    except UserError as error:
        return reply(str(error))


async def press(action: Action, room: Room, desk: Desk, *, show: Show = _ignore) -> Reply | None:
    """What a button under a reply of a command does; None for buttons of others. The value is not trusted."""
    if action.name != BUTTON:
        return None
    use = Use(place=action.place, person=action.person, room=room, desk=desk, show=show)
    try:
        desk.access.admit(action.place)
        return await _pressed(use, action.value)
    except UserError as error:
        return reply(str(error))


async def _pressed(use: Use, value: str) -> Reply:
    match value.split(":"):
        case ["list", page] if page.isdecimal():
            return await looking.list_all(use, page=int(page[:6]))
        case ["show", identity, page] if page.isdecimal():
            return await looking.show_page(use, identity, int(page[:6]))
        case ["yes", token]:
            carry = use.desk.questions.take(token, use.person, use.place)
            return await carry(use.room, use.show)
        case ["no", token]:
            use.desk.questions.take(token, use.person, use.place)
            return reply("Nothing was done.")
        case _:
            raise UserError(_STALE)
