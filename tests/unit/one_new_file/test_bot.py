"""A platform, a command of the command line, a slash command."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bot import settings
from bot.__main__ import main
from bot.commands import registry
from bot.commands.context import CommandContext
from bot.commands.help import list_commands
from bot.composition import loader
from bot.web import registry as web_registry

if TYPE_CHECKING:
    import pytest

    from bot.commands.dependencies import CommandDependencies, Show
    from bot.port import ChatService, Person, Place, Room, Signals
    from tests.unit.one_new_file.added import Add


async def test_a_platform(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    add(
        "adapters",
        "pigeon",
        """
        from pydantic import BaseModel

        VARIABLES = {"token": "PIGEON_TOKEN"}

        class Settings(BaseModel):
            token: str
            loft: str = ""

        async def run(settings, service, *, signals):
            signals.ready({"loft": settings.loft})

        async def check(settings, commands):
            return
            yield

        def setup(settings, commands):
            return f"Give the pigeon {len(commands)} commands."
        """,
    )
    assert "pigeon" not in loader.platform_names(settings.read())
    monkeypatch.setenv("PIGEON_TOKEN", "coo")
    monkeypatch.setenv("FOOTNOTE_PIGEON__LOFT", "roof")
    read = settings.read()
    assert loader.platform_names(read) == ["pigeon"]
    assert "coo" not in repr(read)
    platform = await loader.platform("pigeon", read)
    ready: list[dict[str, object]] = []

    class Listening:
        def ready(self, facts: dict[str, object]) -> None:
            ready.append(facts)

    await platform.module.run(
        platform.settings, cast("ChatService", None), signals=cast("Signals", Listening())
    )
    assert ready == [{"loft": "roof"}]
    monkeypatch.delenv("PIGEON_TOKEN")
    unset = await loader.unset_platform("pigeon", settings.read())
    assert unset.module.setup(unset.settings, []) == "Give the pigeon 0 commands."


def test_a_command_of_the_command_line(
    add: Add, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add(
        "bot.cli",
        "wave",
        """
        '''`footnote wave`: say hello.'''

        EXAMPLE = "footnote wave Ada"

        def add_arguments(parser):
            parser.add_argument("name")

        async def run(arguments, settings):
            print(f"Hello {arguments.name}, {settings.log_level}.")
            return 3
        """,
    )
    monkeypatch.setenv("FOOTNOTE_LOG_LEVEL", "error")
    assert main(["wave", "Ada"]) == 3
    assert capsys.readouterr().out == "Hello Ada, error.\n"
    main([])
    assert "say hello" in capsys.readouterr().out


def test_a_view_of_the_page(add: Add) -> None:
    add(
        "bot.web.views",
        "weather",
        """
        from bot.web.visit import Shown

        TITLE = "Weather"
        PATH = "weather"
        POSITION = 15

        async def show(visit):
            return Shown(template="message.html", values={"sentence": "Rain."})
        """,
    )
    web_registry.views.cache_clear()
    try:
        view = web_registry.views()["weather"]
        assert (view.title, view.act, view.operator_only, view.said) == ("Weather", None, False, {})
        assert list(web_registry.views()).index("weather") == 2, "the menu has it behind the questions"
    finally:
        web_registry.views.cache_clear()


async def test_a_slash_command(add: Add) -> None:
    add(
        "bot.commands",
        "wave",
        """
        from bot.commands.context import reply
        from bot.commands.specs import SlashCommand
        from bot.port import CommandSpec

        async def wave(use):
            return reply(f"Hello, {use.language}.")

        COMMANDS = (
            SlashCommand(
                position=1, spec=CommandSpec(name="wave", description="Wave back"), execute=wave
            ),
        )
        """,
    )
    registry.commands.cache_clear()
    try:
        command = registry.commands()["wave"]
        assert registry.specs()[0] == command.spec, "platforms register it"
        use = CommandContext(
            place=cast("Place", None),
            person=cast("Person", None),
            room=cast("Room", None),
            dependencies=cast("CommandDependencies", None),
            show=cast("Show", None),
        )
        assert command.execute is not None
        assert "Hello, en." in str(await command.execute(use))
        assert "`/wave`: Wave back" in str(await list_commands(use))
    finally:
        registry.commands.cache_clear()
