"""The slash commands of every platform. Only their user sees the reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands import registry
from bot.commands.context import BUTTON, FORM_BUTTON, CommandContext, reply
from bot.commands.dependencies import EXPIRY_MINUTES, CommandDependencies, Questions, Receive, Show
from bot.commands.parser import Parsed, parse
from bot.commands.specs import usage
from bot.messages import language_of
from bot.messages.errors import sentence_of
from bot.messages.refusals import Invalid
from rag_engine.errors import UserError

if TYPE_CHECKING:
    from bot.port import Action, Command, Form, Person, Place, Reply, Room

__all__ = [
    "BUTTON",
    "EXPIRY_MINUTES",
    "FORM_BUTTON",
    "SPECS",
    "CommandDependencies",
    "Parsed",
    "Questions",
    "Receive",
    "Show",
    "execute",
    "form",
    "parse",
    "press",
    "usage",
]

SPECS = registry.specs()


def _ignore(seen: Reply) -> None: ...


async def execute(
    command: Command, room: Room, dependencies: CommandDependencies, *, show: Show = _ignore
) -> Reply:
    """A `UserError` becomes the reply; other `RagError`s are raised. `/ask` is only parsed."""
    language = await _language(command.place, command.person, dependencies)
    try:
        await dependencies.access.admit_person(command.person, command.place, room.directory)
        parsed = parse(command)
        use = CommandContext(
            place=command.place,
            person=command.person,
            room=room,
            dependencies=dependencies,
            show=show,
            language=language,
            command=command.id,
            values=parsed.values,
            attachments=command.attachments,
        )
        handler = registry.commands()[parsed.spec.name].execute
        if handler is None:
            raise Invalid("ask_is_a_question")
        return await handler(use)
    except UserError as error:
        return reply(sentence_of(error, language))


async def press(
    action: Action, room: Room, dependencies: CommandDependencies, *, show: Show = _ignore
) -> Reply | None:
    """None for other buttons."""
    if action.name not in (BUTTON, FORM_BUTTON):
        return None
    use = await _use(action, room, dependencies, show)
    try:
        await _check_present(use)
        return await _pressed(use, action.value)
    except UserError as error:
        return reply(sentence_of(error, use.language))


async def form(action: Action, room: Room, dependencies: CommandDependencies) -> Form | None:
    """None for those who may not press it."""
    name, _, subject = action.value.partition(":")
    act, _, identity = subject.partition(":")
    command = registry.commands().get(f"kb {name}") if action.name == FORM_BUTTON else None
    if command is None or command.form is None:
        return None
    use = await _use(action, room, dependencies, _ignore)
    try:
        await _check_present(use)
        return await command.form(use, act, identity)
    except UserError:
        return None


async def _use(action: Action, room: Room, dependencies: CommandDependencies, show: Show) -> CommandContext:
    return CommandContext(
        place=action.place,
        person=action.person,
        room=room,
        dependencies=dependencies,
        show=show,
        language=await _language(action.place, action.person, dependencies),
        typed=action.text,
    )


async def _check_present(use: CommandContext) -> None:
    use.dependencies.access.admit(use.place)
    await use.dependencies.access.check_present(use.person, use.place, use.directory)


async def _pressed(use: CommandContext, value: str) -> Reply:
    match value.split(":"):
        case ["yes", token]:
            confirmed = use.dependencies.questions.redeem(token, use.person, use.place)
            return await confirmed(use.room, use.show)
        case ["no", token]:
            use.dependencies.questions.redeem(token, use.person, use.place)
            return reply(use.say("nothing_done"))
        case [name, *subject, page] if page.isdecimal() and len(subject) <= 1:
            command = registry.commands().get(f"kb {name}")
            if command is not None and command.turn_page is not None:
                return await command.turn_page(use, "".join(subject), int(page[:6]))
        case [name, act, subject]:
            command = registry.commands().get(f"kb {name}")
            if command is not None and command.press is not None:
                return await command.press(use, act, subject)
        case _:
            pass
    raise Invalid("command_button_stale")


async def _language(place: Place, person: Person, dependencies: CommandDependencies) -> str:
    settings = await dependencies.places.settings(place)
    return language_of("", person, chosen=settings.language)
