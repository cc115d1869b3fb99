from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.commands.context import FORM_BUTTON, code, known_by_id, paged, reply
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Invalid, Refusal
from bot.port import MOST_TYPED, Button, Form, Option
from bot.rendering.literal import literal
from rag_engine.metadata.verified_answer import Verifier
from rag_engine.verified.reply import day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.port import Reply
    from rag_engine.metadata.verified_answer import VerifiedAnswer

USAGE: Final = "/kb verified {action} QUESTION = ANSWER"
_MOST_DIGITS: Final = 6


async def verified(use: CommandContext) -> Reply:
    action, text = use.values.get("action", ""), use.values.get("text", "").strip()
    known = await use.known(use.values.get("name", ""))
    if not action and not text:
        return await _listed(use, known, page=1)
    await use.check_administers(known)
    if action in ("revoke", "confirm"):
        answer = await _named(use, known, text)
        return await (_revoke if action == "revoke" else _confirm)(use, answer)
    if action == "edit" and "=" not in text:
        return _offer(use, await _named(use, known, text))
    question, _, answer_text = (part.strip() for part in text.partition("=" if " = " not in text else " = "))
    if not (question and answer_text):
        raise Invalid("verified_form", usage=USAGE.format(action=action or "add"))
    if action == "edit":
        answer = await _named(use, known, question)
        await use.dependencies.verified.change(answer, answer_text, author=verifier(use))
    else:
        await use.dependencies.verified.save(
            known.knowledge_base.id, question=question, answer=answer_text, author=verifier(use)
        )
    use.audit(f"{action or 'add'} a verified answer", known)
    return reply(use.say("verified_saved", name=use.called(known)))


def verifier(use: CommandContext) -> Verifier:
    place, person = use.place, use.person
    return Verifier(
        name=person.name,
        platform=place.platform,
        workspace=place.workspace,
        channel=place.channel,
        person=person.id,
    )


async def press(use: CommandContext, act: str, identity: str) -> Reply:
    """By the author, or an administrator of the knowledge base."""
    answer = await _editable(use, identity)
    if act == "keep":
        return await _confirm(use, answer)
    if act == "revoke":
        return await _revoke(use, answer)
    if use.typed.strip():
        await use.dependencies.verified.change(answer, use.typed.strip(), author=verifier(use))
        return reply(use.say("verified_changed"))
    usage = f"/kb verified edit {answer.question} = …"
    return reply(use.say("verified_edit_how", usage=usage.replace("`", "'")))


async def form(use: CommandContext, act: str, identity: str) -> Form | None:
    """None for answers that are too long for one."""
    answer = await _editable(use, identity)
    if len(answer.answer) > MOST_TYPED:
        return None
    submit = use.say("verified_save")
    return Form(title=use.say("verified_edit"), label=answer.question, submit=submit, text=answer.answer)


async def _editable(use: CommandContext, identity: str) -> VerifiedAnswer:
    answer = await use.dependencies.verified.catalog.verified.find(identity)
    if answer is None:
        raise Invalid("command_button_stale")
    author = (answer.author.platform, answer.author.workspace, answer.author.person)
    if author != (use.place.platform, use.place.workspace, use.person.id):
        await use.check_administers(await known_by_id(use, answer.knowledge_base))
    return answer


async def _confirm(use: CommandContext, answer: VerifiedAnswer) -> Reply:
    await use.dependencies.verified.confirm(answer)
    return reply(use.say("verified_confirmed"))


async def _revoke(use: CommandContext, answer: VerifiedAnswer) -> Reply:
    await use.dependencies.verified.revoke(answer)
    return reply(use.say("verified_revoked"))


def _offer(use: CommandContext, answer: VerifiedAnswer) -> Reply:
    button = Button(name=FORM_BUTTON, label=use.say("verified_edit"), value=f"verified:edit:{answer.id}")
    return reply(f"{code(answer.question)}\n\n{literal(answer.answer)}", buttons=(button,))


async def _named(use: CommandContext, known: NamedKnowledgeBase, text: str) -> VerifiedAnswer:
    answers = await _answers(use, known)
    wanted = " ".join(text.split()).casefold()
    if wanted.isdecimal() and 0 < int(wanted[:_MOST_DIGITS]) <= len(answers):
        return answers[int(wanted[:_MOST_DIGITS]) - 1]
    for answer in answers:
        if answer.question.casefold() == wanted:
            return answer
    raise Refusal("verified_unknown", name=use.called(known))


async def _answers(use: CommandContext, known: NamedKnowledgeBase) -> Sequence[VerifiedAnswer]:
    return await use.dependencies.verified.catalog.verified.read({known.knowledge_base.id})


async def _listed(use: CommandContext, known: NamedKnowledgeBase, *, page: int) -> Reply:
    answers = await _answers(use, known)
    if not answers:
        usage = USAGE.format(action="add")
        return reply(use.say("verified_none", name=use.called(known), usage=usage))
    lines = [_line(use, number, answer) for number, answer in enumerate(answers, 1)]
    heading = use.say("verified_heading", name=use.called(known))
    return paged(use, heading, lines, page=page, value=f"verified:{known.knowledge_base.id}")


def _line(use: CommandContext, number: int, answer: VerifiedAnswer) -> str:
    written = day(answer.written_at, use.language)
    line = f"{number}. {code(answer.question)} — ✓ {literal(answer.author.name or '?')}, {written}"
    return f"{line} ({use.say('verified_outdated')})" if answer.is_outdated(time.time()) else line


async def turn_page(use: CommandContext, identity: str, page: int) -> Reply:
    return await _listed(use, await known_by_id(use, identity), page=page)


COMMANDS = (
    kb_command(
        "verified",
        "Answers that a person verified: list, add, edit, confirm or revoke them",
        Option(
            name="action",
            description="What to do with one; empty: list them",
            choices=("add", "edit", "confirm", "revoke"),
        ),
        Option(
            name="text", description="QUESTION = ANSWER; to edit, confirm or revoke: its number or question"
        ),
        replace(KNOWLEDGE_BASE, named=True),
        position=186,
        summary="command_kb_verified",
        execute=verified,
        turn_page=turn_page,
        press=press,
        form=form,
    ),
)
