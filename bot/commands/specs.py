"""The slash commands as data: the same on every platform."""

from __future__ import annotations

from bot.port import CommandSpec, Option

_NAME = Option(
    name="name",
    description="The knowledge base: its name, or #channel for a channel's own; empty: this place's own",
)
_WANTED_NAME = Option(
    name="name", description="The knowledge base: its name, or #channel for a channel's own", required=True
)

SPECS: tuple[CommandSpec, ...] = (
    CommandSpec(
        name="ask",
        description="Ask a question; only you see the answer, unless you choose the channel",
        options=(
            Option(name="question", description="What you want to know", required=True),
            Option(
                name="where",
                description="Who sees the answer: only you, or the channel",
                choices=("private", "channel"),
            ),
        ),
    ),
    CommandSpec(name="help", description="What I can do, and how to ask"),
    CommandSpec(name="kb list", description="The knowledge bases that you can use here"),
    CommandSpec(name="kb show", description="The documents of a knowledge base", options=(_NAME,)),
    CommandSpec(
        name="kb create",
        description="Make a knowledge base, and use it here",
        options=(
            Option(name="name", description="What it is called", required=True),
            Option(
                name="readers",
                description="Who may read it: everyone in this channel, or the whole workspace",
                choices=("channel", "workspace"),
            ),
        ),
        admin=True,
    ),
    CommandSpec(
        name="kb bind",
        description="Let questions in this channel look in a knowledge base",
        options=(_WANTED_NAME,),
        admin=True,
    ),
    CommandSpec(
        name="kb unbind",
        description="Let questions in this channel look in it no longer",
        options=(_WANTED_NAME,),
        admin=True,
    ),
    CommandSpec(
        name="kb add",
        description="Add a file, or the files of a message, to a knowledge base",
        options=(
            Option(name="file", description="The file to add", kind="file"),
            Option(name="link", description="A link to a message that has files"),
            _NAME,
        ),
    ),
    CommandSpec(
        name="kb remove",
        description="Remove a document, or a whole knowledge base",
        options=(
            _NAME,
            Option(name="document", description="The document: its title or id; empty: all of them"),
        ),
        admin=True,
    ),
    CommandSpec(
        name="kb reindex", description="Split and embed all documents again", options=(_NAME,), admin=True
    ),
    CommandSpec(name="kb status", description="Index, models, and files that wait or failed"),
    CommandSpec(
        name="kb settings",
        description="How I behave in this channel: show it, or change it",
        options=(
            Option(
                name="mode",
                description="When I answer: when mentioned; also in threads I am in; every question in the channel",
                choices=("mention", "thread", "auto"),
            ),
            Option(
                name="knowledge",
                description="Answers from the files alone, or with general knowledge, marked as such",
                choices=("strict", "blended"),
            ),
            Option(
                name="language",
                description="The language of answers, as two letters (de); auto: that of the question",
            ),
        ),
    ),
    CommandSpec(
        name="kb export", description="A knowledge base as one zip file", options=(_NAME,), admin=True
    ),
    CommandSpec(name="kb help", description="All of these commands"),
)


def usage(spec: CommandSpec) -> str:
    """How the command is typed: `/kb create NAME [channel|workspace]`."""
    return " ".join((f"/{spec.name}", *(_slot(option) for option in spec.options)))


def _slot(option: Option) -> str:
    shown = "|".join(option.choices) if option.choices else option.name.upper()
    return shown if option.required else f"[{shown}]"
