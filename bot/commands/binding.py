"""`/kb create`, `bind`, `unbind`: which knowledge bases a channel uses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.commands.using import code, known_by_id, reply
from rag_engine.errors import NotAllowed, UserError

if TYPE_CHECKING:
    from bot.audience import Known
    from bot.commands.desk import Show
    from bot.commands.using import Use
    from bot.port import Reply, Room

_FEW = ("direct", "group")


async def create(use: Use) -> Reply:
    """A new one, used here from now on."""
    label, everyone = use.values["name"], use.values.get("readers") == "workspace"
    access = use.desk.access
    await access.check(use.person, use.place, use.directory, act="administer")
    if everyone:
        await _check_can_be_for_all(use)
    base = await use.desk.audiences.create(use.place, label, everyone=everyone)
    await use.desk.places.bind(use.place, base.id)
    known = await known_by_id(use, base.id)
    use.audit("create", known)
    readers = (
        "The whole workspace may read it" if everyone else "Everyone who can read this channel may read it"
    )
    return reply(
        f"{code(known.name)} is there, and I look in it here. {readers}. Add files with `/kb add`, naming it."
    )


async def _check_can_be_for_all(use: Use) -> None:
    channel = await use.channel()
    if channel.kind in _FEW or channel.external:
        raise NotAllowed(
            "A knowledge base for the whole workspace is made in one of its own channels, not here."
        )
    await use.desk.access.check_administers(use.person, use.place, use.directory)


async def bind(use: Use) -> Reply:
    """Questions in this channel look in it from now on, as far as those who read the answer may."""
    await use.desk.access.check(use.person, use.place, use.directory, act="administer")
    known = await use.known(use.values["name"])
    name = code(known.name)
    if known.audience and not known.audience.label and known.audience.place in (use.place, use.place.parent):
        return reply(f"I always look in what belongs to this place: {name} needs no binding.")
    if known.audience is None:
        await use.desk.access.check_administers(use.person, use.place, use.directory)
    of_here = known.audience is not None and known.audience.place == use.place.parent
    if not of_here and (await use.channel()).external:
        raise NotAllowed(
            "People of other organisations can read this channel, so I look only in what was added in it."
        )
    new = await use.desk.places.bind(use.place, known.knowledge_base.id)
    use.audit("bind", known)
    seen = await use.desk.audiences.scope(use.place, use.directory)
    if known.knowledge_base.id not in seen.knowledge_bases:
        return reply(
            f"{name} is bound. Not everyone who can read this channel can read {name}, so I look in it only "
            "for private questions (`/ask`) of those who can."
        )
    return reply(f"From now on I look in {name} here." if new else f"I look in {name} here already.")


async def unbind(use: Use) -> Reply:
    """Questions in this channel look in it no longer; asks first when nothing would be left."""
    await use.desk.access.check(use.person, use.place, use.directory, act="administer")
    known = await use.known(use.values["name"])
    if not known.bound:
        raise UserError(_why_not_bound(use, known))
    scope = await use.desk.audiences.scope(use.place, use.directory)
    if scope.knowledge_bases - {known.knowledge_base.id}:
        return await _unbound(use, known)

    async def carry(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.desk.access.check(again.person, again.place, again.directory, act="administer")
        return await _unbound(again, known)

    question = f"{code(known.name)} is the last thing I look in here: without it I cannot answer. Unbind it?"
    return use.ask(question, label="Unbind", carry=carry)


async def _unbound(use: Use, known: Known) -> Reply:
    await use.desk.places.unbind(use.place, known.knowledge_base.id)
    use.audit("unbind", known)
    return reply(
        f"I no longer look in {code(known.name)} here. Nothing was removed: `/kb bind` takes it back."
    )


def _why_not_bound(use: Use, known: Known) -> str:
    if known.audience is None and known.seen:
        return f"Every place sees {code(known.name)}: whoever runs me has set that in FOOTNOTE_ACCESS__EVERYWHERE."
    if known.seen:
        return f"{code(known.name)} belongs to this place, so I always look in it; `/kb remove` removes what is in it."
    return f"{code(known.name)} is not bound to this channel, so there is nothing to undo."
