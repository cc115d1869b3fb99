"""The SDK's warnings that nobody can act on stay out of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

from adapters.discord.connection.client import DiscordClient
from adapters.discord.settings import Settings

if TYPE_CHECKING:
    import pytest


async def test_missing_libraries_for_voice_are_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    DiscordClient(Settings(token=SecretStr("token")))
    assert caplog.records == []
