"""The log of a bot in trouble contains no messages, file contents or secrets."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.doubles import flaky_index
from tests.doubles.chat_server import Upload
from tests.doubles.chats import PLATFORMS
from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.model_servers.openai_server import EVENT_STREAM, JSON, Reply, chunk, refused, streamed
from tests.journeys.chat.scenario import Scenario, file, scenario

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "sk-plantedkeyofthemodel"
QUESTION, EDITED, ASKED, TITLE, TEXT, TOLD, ROOM = (
    "zebrafinch",
    "oystercatcher",
    "kookaburra",
    "wolverine",
    "narwhal",
    "quokka",
    "capybara",
)
WORDS = (QUESTION, EDITED, ASKED, TITLE, TEXT, TOLD, ROOM)
DAMAGED = {
    f"{TITLE}.pdf": b"%PDF-1.7\n1 0 obj << /Type /Catalog /narwhal",
    f"{TITLE}.docx": b"PK\x03\x04 narwhal narwhal narwhal",
    f"{TITLE}.xlsx": b"PK\x05\x06narwhal",
    f"{TITLE}.json": b'{"narwhal": narwhal',
    f"{TITLE}.html": b"<narwhal" * 5_000,
    f"{TITLE}.csv": b'narwhal,"narwhal\n' + b"\xff\xfe\x00\xd8",
    f"{TITLE}.bin": b"\x00\x01narwhal",
}
WRITES = {
    "slack": ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage", "chat.update"),
    "discord": ("create_message", "edit_message"),
}
SECRETS = (KEY, "/response/", "hm=", "ticket=", "Bearer ")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def town(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Scenario]:
    """A bot at the lowest log level."""
    folder = tmp_path_factory.mktemp(request.param)
    flaky_index.install(folder)
    settings = {**flaky_index.ENVIRONMENT, "FOOTNOTE_LOG_LEVEL": "debug", "OPENAI_API_KEY": KEY}
    async with scenario(request.param, folder, FOOTNOTE_MODEL__RETRIES="0", **settings) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(town: Scenario) -> str:
    """A channel and a file with telling names."""
    people = list(town.chat.people.values())
    made = town.chat.add_room(ROOM, people)
    await town.knows(
        made, f"# {TEXT}\n\nThe {QUESTION} and the {TEXT} are kept for two weeks.\n", name=f"{TITLE}.md"
    )
    await town.bot.until(lambda: ended(town))
    return made


def lines(town: Scenario) -> list[dict[str, Any]]:
    """The log so far, checked for planted words and secrets."""
    log = town.bot.log()
    secrets = [value for name, value in town.chat.environment().items() if re.search("TOKEN|SECRET", name)]
    assert secrets
    if isinstance(town.chat.server, DiscordServer):
        secrets += [each.token for each in town.chat.server.interactions.values()]
    found = {word for word in (*WORDS, *SECRETS, *secrets) if word.lower() in log.lower()}
    assert not found, [
        line for line in log.splitlines() if any(word.lower() in line.lower() for word in found)
    ]
    return [json.loads(line) for line in log.splitlines()]


async def asked(town: Scenario, room: str, reply: Reply, *, which: str) -> str:
    """The final answer if the model server replies like this."""
    before = len(ended(town))
    town.model.on(reply, task="answer", matching=which, times=1)
    question = await town.says("ben", room, f"@footnote How long is the {QUESTION} kept, {which}?")
    answer = await town.answered("ben", room, question)
    await town.bot.until(lambda: len(ended(town)) > before)
    return answer[-1].text


async def test_a_bug_is_reported_by_its_id_and_logged_without_a_word(town: Scenario, room: str) -> None:
    bug = town.folder / "data" / flaky_index.BUG
    bug.touch(0o600)
    told = await asked(town, room, streamed("never"), which="stumbling")
    bug.unlink()
    (identity,) = re.findall(r"\(id (\w+)\)", told)
    (line,) = [each for each in lines(town) if each["event"] == f"unexpected error {identity}"]
    assert line["turn"].startswith(identity)
    assert line["platform"] == town.chat.platform
    assert "ValueError\n" in line["traceback"]
    assert "flaky_index.py" in line["traceback"]
    assert line["traceback"].endswith("LookupError")
    (last,) = [each for each in ended(town) if each["turn"] == line["turn"]]
    assert last["state"] == "failed"


async def test_a_model_server_that_repeats_what_it_was_given(town: Scenario, room: str) -> None:
    echo = f"{KEY} {QUESTION} {TEXT} {TITLE}"
    event_of_error = b'data: {"error": {"message": "' + echo.encode() + b'", "code": "overloaded"}}\n\n'
    replies = {
        "refused": refused(400, message=echo, code="odd_prompt"),
        "locked": refused(401, message=f"Incorrect API key provided: {echo}"),
        "unread": Reply(
            parts=[chunk({"content": f"{TOLD} "}), f"data: {{{echo}\n\n".encode()], headers=EVENT_STREAM
        ),
        "reported": Reply(parts=[chunk({"content": f"{TOLD} "}), event_of_error], headers=EVENT_STREAM),
    }
    for which, reply in replies.items():
        assert await asked(town, room, reply, which=which)
    whole = streamed(f"The {QUESTION} and the {TEXT} are kept for two weeks [1].")
    assert "two weeks" in await asked(town, room, whole, which="plain")
    events = [each["event"] for each in lines(town)]
    assert "The language model answered 400 (odd_prompt)." in events
    last = ended(town)[-1]
    assert (last["state"], last["citations"], last["model"]) == ("final", 1, "scripted")
    assert last["engine_turn"].startswith(last["turn"])
    assert last["prompt_tokens"] > 50
    assert last["writes"] >= 1
    assert {"retrieve", "fuse", "first_text", "answer"} <= set(last["stages"])


async def test_a_platform_that_repeats_what_it_was_given(town: Scenario, room: str) -> None:
    told = {"ok": False, "error": f"{TOLD} {QUESTION}", "message": f"{TOLD} {TEXT}", "code": 0}
    body = json.dumps(told).encode()
    page = (body[:-3], {"Content-Type": "text/html"})
    for status, (content, headers) in itertools.product((500, 400, 200), ((body, JSON), page)):
        before = len(ended(town))
        for method in WRITES[town.chat.platform]:
            town.chat.server.fail(method, status=status, body=content, headers=headers)
        town.model.on(streamed(f"{TOLD} [1]."), task="answer", times=1)
        await town.says("ben", room, f"@footnote How long is the {QUESTION} kept?")
        await town.bot.until(lambda before=before: len(ended(town)) > before)
        town.chat.server.repair()
    lines(town)


async def test_files_that_cannot_be_read(town: Scenario, room: str) -> None:
    before = len(ended(town))
    files = tuple(Upload(name=name, content=content) for name, content in DAMAGED.items())
    await town.says("ada", room, "@footnote", files=files)
    await town.bot.until(lambda: len(ended(town)) > before)
    town.chat.server.fail("download", status=503, body=f"{TEXT} {TITLE}".encode())
    await town.says("ada", room, "@footnote", files=(file(f"{TITLE}.txt", TEXT),))
    await town.bot.until(lambda: len(ended(town)) > before + 1)
    town.chat.server.repair()
    lines(town)


async def test_commands_and_buttons(town: Scenario, room: str) -> None:
    before = len(ended(town))
    town.model.on(streamed(f"{TOLD} [1]."), task="answer", times=1)
    await town.commands("ben", room, f"/ask {ASKED} {QUESTION}")
    await town.bot.until(lambda: len(ended(town)) > before)
    away = town.folder / "data" / flaky_index.AWAY
    away.touch(0o600)
    await town.commands("ada", room, f"/kb remove #{ROOM} {TITLE}.md")
    await town.bot.until(lambda: any("command" in each for each in lines(town)))
    away.unlink()
    (line,) = [each for each in lines(town) if "command" in each]
    assert line["platform"] == town.chat.platform


async def test_every_turn_ends_in_one_line(town: Scenario, room: str) -> None:
    """The questions of the tests before it, and more where it runs alone."""
    for number in range(len(ended(town)), 12):
        before = len(ended(town))
        await town.says("ben", room, f"@footnote How long is the {QUESTION} kept in week {number}?")
        await town.bot.until(lambda before=before: len(ended(town)) > before)
    turns = [each["turn"] for each in ended(town)]
    assert len(turns) == len(set(turns)) > 10
    assert [each for each in lines(town) if "turn" in each and each["turn"] not in turns] == []


def ended(town: Scenario) -> list[dict[str, Any]]:
    """The last log lines of all finished turns."""
    return [each for each in lines(town) if each["event"] == "answered"]
