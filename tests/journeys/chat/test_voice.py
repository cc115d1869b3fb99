"""Questions that are spoken and answers that are read aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.audio_server import AudioServer, audio_server, wav
from tests.doubles.chat_server import Upload
from tests.doubles.chats import PLATFORMS
from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import Scenario, scenario, words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stage = tuple[Scenario, AudioServer]
HANDBOOK = "Logs are kept for two weeks. Nobody reads them."
CLIP = b"OggS" + bytes(200)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp(request.param)
    async with audio_server() as audio:
        settings = {
            "FOOTNOTE_SPEECH__BASE_URL": audio.url,
            "FOOTNOTE_SPEECH__FORMAT": "wav",
            "FOOTNOTE_TRANSCRIPTION__BASE_URL": audio.url,
        }
        async with scenario(request.param, folder, **settings) as town:
            yield town, audio


def audio_of(town: Scenario, shown: list[Shown]) -> list[bytes]:
    return [
        town.chat.content(file)[0] for each in shown for file in each.files if file.name.startswith("answer")
    ]


async def test_an_answer_is_read_aloud(stage: Stage) -> None:
    town, audio = stage
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Logs are kept for two weeks [1]."), task="answer", times=1)
    question = await town.says("ben", room, "@footnote How long are logs kept?")
    await town.answered("ben", room, question)
    await town.says("ben", room, "@footnote read that aloud", thread=question)
    heard = await town.until(lambda: audio_of(town, town.ours("ada", room, question)))
    assert heard == [wav(len("Logs are kept for two weeks.") / 15)]
    assert [each["input"] for each in audio.spoken] == ["Logs are kept for two weeks."]

    await town.commands("ben", room, "/speak")
    if isinstance(town.chat.server, DiscordServer):
        mine = lambda: audio_of(town, [each for each in town.ours("ben", room) if each.only_for])  # noqa: E731
        assert await town.until(mine) == heard
    else:
        direct = town.direct("ben")
        assert await town.until(lambda: audio_of(town, town.ours("ben", direct))) == heard
    assert len(audio_of(town, town.ours("cleo", room, question))) == 1, "/speak is for ben alone"
    assert len(audio.spoken) == 1, "the same words are not spoken twice"


async def test_a_voice_message_is_answered(stage: Stage) -> None:
    town, audio = stage
    audio.hears = [(0.0, 2.0, "How long are logs kept?")]
    direct = town.direct("ben")
    await town.says("ben", direct, "", files=(Upload(name="handbook.md", content=HANDBOOK.encode()),))
    await town.until(lambda: town.ours("ben", direct))
    town.model.on(streamed("Two weeks [1]."), task="answer", times=1)
    before = len(town.ours("ben", direct))
    server = town.chat.server
    if isinstance(server, DiscordServer):
        await server.user_speaks(server.world.users[town.chat.people["ben"]], direct, CLIP)
    else:
        await town.says(
            "ben", direct, "", files=(Upload(name="audio_message.ogg", content=CLIP, voice=True),)
        )
    await town.until(lambda: any("Two weeks" in words(each) for each in town.ours("ben", direct)[before:]))
    [answer] = [each for each in town.ours("ben", direct) if "Two weeks" in words(each)]
    assert "Heard as: How long are logs kept?" in words(answer)
    assert [each["content"] for each in audio.heard] == [CLIP]
