"""Settings are read once, frozen, and what is wrong with them is said by the variable's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

import adapters
from bot import settings
from bot.composition import loader
from bot.settings.platforms import platforms
from rag_engine import plugins
from rag_engine.errors import BadSettings
from rag_engine.sources._json_client import secret

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nested_names_reach_their_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__PRECISION", "int8")
    monkeypatch.setenv("FOOTNOTE_STEPS__RETRIEVE__CANDIDATES", "50")
    read = settings.read()
    assert read.embedder.kind == "local"
    assert read.embedder.rest() == {"precision": "int8"}
    assert read.steps["retrieve"] == {"candidates": "50"}


def test_a_dotenv_file_is_read(elsewhere: Path) -> None:
    (elsewhere / ".env").write_text("FOOTNOTE_LOG_LEVEL=debug\nOPENAI_API_KEY=sk-secret\n", encoding="utf-8")
    read = settings.read()
    assert read.log_level == "debug"
    assert read.model_kind() == "openai"
    assert "sk-secret" not in repr(read)


def test_an_unknown_name_is_refused_in_any_position(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_DATADIR", "/x")
    with pytest.raises(BadSettings, match="Unknown setting FOOTNOTE_DATADIR"):
        settings.read()
    monkeypatch.delenv("FOOTNOTE_DATADIR")
    (elsewhere / ".env").write_text("export FOOTNOTE_INDX__KIND=embedded\n", encoding="utf-8")
    with pytest.raises(BadSettings, match="FOOTNOTE_INDX__KIND"):
        settings.read()


def test_a_bad_value_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_PARSING__WORKERS", "none")
    with pytest.raises(BadSettings, match=r"^FOOTNOTE_PARSING__WORKERS: "):
        settings.read()


def test_the_tree_cannot_be_changed() -> None:
    read = settings.read()
    with pytest.raises(ValidationError):
        read.log_level = "debug"


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("FOOTNOTE_MODEL__NAME", "m", "openai"),
        ("OPENAI_API_KEY", "k", "openai"),
        ("OPENAI_BASE_URL", "http://localhost/v1", "openai"),
        ("FOOTNOTE_MODEL__KIND", "scripted", "scripted"),
        ("FOOTNOTE_LOG_LEVEL", "info", "extractive"),
    ],
)
def test_the_model_is_what_is_set_or_what_the_rest_implies(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, kind: str
) -> None:
    monkeypatch.setenv(name, value)
    assert settings.read().model_kind() == kind


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FOOTNOTE_MODEL", "gpt-4.1", "FOOTNOTE_MODEL is a group of settings"),
        ("FOOTNOTE_OPENAI_API_KEY", "sk", "Unknown setting FOOTNOTE_OPENAI_API_KEY"),
    ],
)
def test_a_name_that_does_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=said):
        settings.read()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("sk-schlüssel", "OPENAI_API_KEY: it holds “ü”, which no key has: copy it again."),
        ("sk- 1", "OPENAI_API_KEY: it holds a blank or invisible character"),
        ("sk-1\u200b", "OPENAI_API_KEY: it holds a blank or invisible character"),
    ],
)
def test_a_key_that_no_header_can_hold_is_refused_without_its_words(
    monkeypatch: pytest.MonkeyPatch, key: str, said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(BadSettings, match=said) as caught:
        settings.read()
    assert key not in str(caught.value)


async def test_a_token_that_no_header_can_hold_is_named_by_its_own_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-schlüssel")
    with pytest.raises(BadSettings, match="SLACK_BOT_TOKEN: it holds “ü”") as caught:
        await loader.platform("slack", settings.read())
    assert "FOOTNOTE" not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("embedders", "openai"),
        ("indexes", "elasticsearch"),
        ("models", "openai"),
        ("rerankers", "http"),
        ("speakers", "openai"),
        ("transcribers", "openai"),
        ("web_search", "brave"),
        ("web_search", "tavily"),
    ],
)
def test_each_part_with_a_key_refuses_one_that_no_header_can_hold(part: str, kind: str) -> None:
    with pytest.raises(ValidationError, match="it holds “ü”"):
        plugins.load(f"rag_engine.{part}", kind).Settings(api_key="schlüssel")


@pytest.mark.parametrize("kind", ["HTTP__WEATHER", "MCP__WIKI"])
def test_a_header_of_a_tool_that_cannot_be_sent_is_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv(f"FOOTNOTE_TOOLS__{kind}__URL", "http://127.0.0.1:9/x")
    monkeypatch.setenv(f"FOOTNOTE_TOOLS__{kind}__DESCRIPTION", "x")
    monkeypatch.setenv(f"FOOTNOTE_TOOLS__{kind}__HEADERS", '{"Authorization": "Bearer schlüssel"}')
    with pytest.raises(BadSettings, match="the header 'Authorization' holds a letter") as caught:
        settings.read()
    assert "schlüssel" not in str(caught.value)


def test_a_token_of_a_source_that_cannot_be_sent_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_TOKEN", "schlüssel")
    with pytest.raises(BadSettings, match="NOTION_TOKEN: it holds “ü”"):
        secret("NOTION_TOKEN")


def test_a_dotenv_file_that_is_no_text(elsewhere: Path) -> None:
    (elsewhere / ".env").write_bytes(b"OPENAI_API_KEY=\xff\xfe\n")
    with pytest.raises(BadSettings, match="UTF-8"):
        settings.read()


def test_an_empty_value_is_no_value_and_home_is_meant_by_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "")
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", "~/notes")
    read = settings.read()
    assert read.embedder.kind == "local"
    assert "~" not in str(read.data_dir)


def test_the_settings_of_a_part_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_MODEL__API_KEY", "sk-secret")
    assert "sk-secret" not in repr(settings.read()) + str(settings.read())


def test_names_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_ACCESS__ROLES", "kb admins, ops,")
    monkeypatch.setenv("FOOTNOTE_CHAT__BOTS", "B1")
    read = settings.read()
    assert read.access.roles == ("kb admins", "ops")
    assert read.chat.bots == ("B1",)


def test_tokens_of_platforms_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-hush")
    monkeypatch.setenv("DISCORD_TOKEN", "hush")
    monkeypatch.setenv("FOOTNOTE_SLACK__SIGNING_SECRET", "hush")
    assert "hush" not in repr(settings.read()) + str(settings.read())


def test_the_adapters_are_read_once_for_each_search_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = platforms()
    assert platforms() is known
    (tmp_path / "telegraph.py").write_text('VARIABLES = {"token": "TELEGRAPH_TOKEN"}\n', encoding="utf-8")
    monkeypatch.setattr(adapters, "__path__", [*adapters.__path__, str(tmp_path)])
    monkeypatch.setenv("TELEGRAPH_TOKEN", "a word")
    assert {each.name for each in platforms()} == {*(each.name for each in known), "telegraph"}
    assert settings.read().platforms["telegraph"].rest() == {"token": "a word"}
