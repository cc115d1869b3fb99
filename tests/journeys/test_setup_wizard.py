"""`footnote setup` in a terminal, from an empty folder to an answer in a channel; stopped, refused, gone on with."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import chats, terminal
from tests.doubles.commands import COMMAND
from tests.doubles.model_servers import openai_server
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doubles.chats import Chat
    from tests.doubles.terminal import Terminal

SECRETS = {
    "slack": ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"),
    "discord": ("DISCORD_TOKEN",),
}
NAMES = {"slack": ("Bot User OAuth Token", "App-Level Token"), "discord": ("Bot Token",)}
NOTES = "# Travel\n\nAda approves travel.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "travel.md").write_text(NOTES, encoding="utf-8")
    return tmp_path


def settings(folder: Path, chat: Chat) -> dict[str, str]:
    """The addresses of the double; its secrets are typed."""
    given = chat.environment()
    addresses = {name: value for name, value in given.items() if name not in SECRETS[chat.platform]}
    own = {"FOOTNOTE_DATA_DIR": str(folder / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    return environment(folder, PYTHONPATH=str(PROJECT), **own, **addresses)


async def answers(screen: Terminal, question: str, text: str) -> None:
    """Types once the question is asked as the last line."""
    await screen.until(lambda shown: question in shown.rstrip().splitlines()[-1] if shown.strip() else False)
    screen.type(f"{text}\n")


def env(folder: Path) -> str:
    file = folder / ".env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("platform", chats.PLATFORMS)
async def test_from_nothing_to_an_answer_in_the_channel(folder: Path, platform: str) -> None:
    async with chats.serve(platform) as chat, openai_server.serve() as model:
        secrets = [chat.environment()[name] for name in SECRETS[platform]]
        model.on(streamed("Ada does [1]."), task="answer")
        model.pages["/v1/models"] = {"data": [{"id": "scripted"}]}
        async with terminal.running(
            [*COMMAND, "setup"], environment=settings(folder, chat), columns=140, rows=50
        ) as screen:
            await answers(screen, "Platform [1]", platform.title())
            await answers(screen, NAMES[platform][0], "hello")
            await screen.until("That is not the")
            for name, secret in zip(NAMES[platform], secrets, strict=True):
                await answers(screen, name, secret)
            await screen.until("Kept in .env")
            assert all(
                f"{name}={secret}" in env(folder)
                for name, secret in zip(SECRETS[platform], secrets, strict=True)
            )
            if platform == "discord":
                await answers(screen, "is yours", "y")
            await answers(screen, "Its address", "http://127.0.0.1:9/v1")
            await answers(screen, "Its key", "")
            await screen.until("does not answer")
            await answers(screen, "Its address", model.base_url)
            await answers(screen, "Its key", "sk-test-4711")
            await answers(screen, "Model [1]", "1")
            await answers(screen, "A folder or file", "nowhere")
            await answers(screen, "A folder or file", "notes")
            await screen.until("1 added")
            await answers(screen, "A folder or file", "")
            await answers(screen, "May all", "")
            await answers(screen, "A question about", "Who approves travel?")
            await screen.until("Ada does")
            await answers(screen, "A question about", "")
            await answers(screen, "Start it now?", "y")
            await chat.connected()
            person, room = chat.people["ben"], chat.rooms["general"]
            question = await chat.says(person, room, "@footnote Who approves travel?")
            await chat.server.wait_for(
                lambda: any("Ada does" in each.text for each in _ours(chat, person, room, question)), 30
            )
            seen = "\n".join(screen.frames)
            assert not [secret for secret in (*secrets, "sk-test-4711") if secret in seen]
        assert "FOOTNOTE_MODEL__NAME=" in env(folder)


def _ours(chat: Chat, person: str, room: str, question: str) -> list[object]:
    listed = [*chat.visible(person, room, question), *chat.visible(person, room)]
    return [each for each in listed if each.ours]


async def test_refused_tokens_are_asked_for_again_and_nothing_is_kept(folder: Path) -> None:
    async with chats.serve("discord") as chat:
        async with terminal.running([*COMMAND, "setup"], environment=settings(folder, chat)) as screen:
            await answers(screen, "Platform [1]", "Discord")
            await answers(screen, "Bot Token", "MTIzNDU2Nzg5MA.abcdef.wrongwrongwrong")
            await screen.until("Not accepted: Bot Token")
            await answers(screen, "Bot Token", "")
            await screen.until("goes on from there")
            await screen.end()
        assert not (folder / ".env").exists()


async def test_without_the_network_it_says_that_it_could_not_check(folder: Path) -> None:
    async with chats.serve("discord") as chat:
        away = {**settings(folder, chat), "DISCORD_API_BASE": "http://127.0.0.1:9/api/v10"}
    async with terminal.running([*COMMAND, "setup"], environment=away) as screen:
        await answers(screen, "Platform [1]", "Discord")
        await answers(screen, "Bot Token", "MTIzNDU2Nzg5MA.abcdef.abcdefabcdef")
        await answers(screen, "Try again", "")
        await screen.until("Asking the platform …")
        await answers(screen, "Try again", "n")
        await screen.until("footnote doctor")
        await screen.until("Its address")
        assert not [frame for frame in screen.frames if "ot accepted" in frame]
    assert "DISCORD_TOKEN=MTIzNDU2Nzg5MA.abcdef.abcdefabcdef\n" in env(folder)


async def test_only_what_is_missing_or_refused_is_asked_and_blanks_of_pasting_are_dropped(
    folder: Path,
) -> None:
    async with chats.serve("slack") as chat:
        bot, app = (chat.environment()[name] for name in SECRETS["slack"])
        (folder / ".env").write_text(f"SLACK_BOT_TOKEN={bot}\n", encoding="utf-8")
        async with terminal.running([*COMMAND, "setup"], environment=settings(folder, chat)) as screen:
            await answers(screen, "Platform [1]", "Slack")
            await answers(screen, "App-Level Token", "xapp-wrong-wrong-wrong")
            await screen.until("Not accepted: App-Level Token.")
            await answers(screen, "App-Level Token", f"\u200b {app[:6]} {app[6:]}\u00a0")
            await screen.until("Kept in .env")
            assert not [frame for frame in screen.frames if "Bot User OAuth Token (not shown)" in frame]
        assert env(folder) == f"SLACK_BOT_TOKEN={bot}\nSLACK_APP_TOKEN={app}\n"


async def test_a_key_with_an_umlaut_is_asked_for_again(folder: Path) -> None:
    async with (
        chats.serve("slack") as chat,
        terminal.running([*COMMAND, "setup"], environment=settings(folder, chat)) as screen,
    ):
        await answers(screen, "Platform [1]", "3")
        await answers(screen, "Its address", "http://127.0.0.1:9/v1")
        await answers(screen, "Its key", "sk-schlüssel")
        await screen.until("This is no key: it holds “ü”")
        await answers(screen, "Its key", "sk-1")
        await screen.until("does not answer")


async def test_a_key_that_is_set_is_used_for_its_own_server_and_stays(folder: Path) -> None:
    async with chats.serve("slack") as chat, openai_server.serve() as model:
        model.pages["/v1/models"] = {"data": [{"id": "scripted"}]}
        known = f"OPENAI_BASE_URL={model.base_url}\nOPENAI_API_KEY=sk-test-4711\n"
        (folder / ".env").write_text(known, encoding="utf-8")
        async with terminal.running([*COMMAND, "setup"], environment=settings(folder, chat)) as screen:
            await answers(screen, "Platform [1]", "3")
            await answers(screen, "Its address", "http://127.0.0.1:9/v1")
            await answers(screen, "Its key", "")
            await answers(screen, "Its address", model.base_url)
            await screen.until("Its key is set already")
            await answers(screen, "Model [1]", "1")
            await screen.until("scripted writes the answers.")
        assert "OPENAI_API_KEY=sk-test-4711\n" in env(folder)


async def test_ctrl_c_keeps_what_was_accepted_and_the_next_run_goes_on(folder: Path) -> None:
    (folder / ".env").write_text("# mine\nFOOTNOTE_LOG_LEVEL=warning\n", encoding="utf-8")
    async with chats.serve("slack") as chat:
        secrets = [chat.environment()[name] for name in SECRETS["slack"]]
        async with terminal.running([*COMMAND, "setup"], environment=settings(folder, chat)) as screen:
            await answers(screen, "Platform [1]", "1")
            for name, secret in zip(NAMES["slack"], secrets, strict=True):
                await answers(screen, name, secret)
            assert (folder / "slack-manifest.yaml").exists()
            await screen.until(lambda shown: "Its address" in shown)
            screen.type("\x03")
            await screen.end()
        assert env(folder).startswith("# mine\nFOOTNOTE_LOG_LEVEL=warning\n")
        async with terminal.running([*COMMAND, "setup"], environment=settings(folder, chat)) as screen:
            await answers(screen, "Slack is set up already", "")
            await answers(screen, "Its address", "")
            await screen.until("the best sentences are quoted")
            await answers(screen, "A folder or file", "notes")
            await answers(screen, "A folder or file", "")
            await answers(screen, "May all", "n")
            await answers(screen, "A question about", "")
            await answers(screen, "Start it now?", "n")
            await screen.until("`footnote run` starts it.")
            await screen.end()
        assert "FOOTNOTE_ACCESS__EVERYWHERE" not in env(folder)


async def test_without_a_chat_platform_it_says_which_step_it_skips(folder: Path) -> None:
    async with (
        chats.serve("slack") as chat,
        terminal.running([*COMMAND, "setup"], environment=settings(folder, chat)) as screen,
    ):
        await answers(screen, "Platform [1]", "3")
        await screen.until("Step 2 is skipped: it sets up a chat platform.")
        await screen.until("Step 3")


async def test_without_a_terminal_it_says_what_else_there_is(footnote: object) -> None:
    done = await footnote("setup")  # pyright: ignore[reportCallIssue]
    assert done.code == 1
    assert "`footnote setup slack`" in done.err
