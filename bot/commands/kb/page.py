from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.specs import kb_command
from bot.port import Reply
from bot.store.web_sessions import LINK_MINUTES, Visitor

if TYPE_CHECKING:
    from bot.commands.context import CommandContext


async def page(use: CommandContext) -> Reply:
    await use.dependencies.access.check_administers(use.person, use.place, use.directory)
    place, person = use.place, use.person
    visitor = Visitor(platform=place.platform, workspace=place.workspace, person=person.id, name=person.name)
    link = await use.dependencies.page.link(visitor) if use.dependencies.page else ""
    if not link:
        return Reply(text=use.say("page_off"), links=frozenset())
    use.audit("page")
    return Reply(text=use.say("page_link", link=link, minutes=LINK_MINUTES), links=frozenset({link}))


COMMANDS = (
    kb_command(
        "page",
        "A link to the page with questions, documents and figures, for you alone",
        position=192,
        summary="command_kb_page",
        execute=page,
        admin=True,
    ),
)
