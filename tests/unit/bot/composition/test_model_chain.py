"""Which language models are asked in which order, and which key each is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from pydantic import SecretStr

from bot import settings
from bot.composition import loader
from bot.composition.model_chain import chosen_models, model_choices, with_tasks
from rag_engine.embedders import hashing
from rag_engine.errors import BadSettings
from rag_engine.ports import Ports

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Embedder, Index


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def given(monkeypatch: pytest.MonkeyPatch, **variables: str) -> settings.Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return settings.read()


def test_without_any_setting_answers_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    (only,) = model_choices(given(monkeypatch))
    assert (only.kind, only.values) == ("extractive", {})


def test_the_models_are_asked_in_the_order_of_their_labels_and_the_last_one_quotes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = given(
        monkeypatch,
        FOOTNOTE_MODEL__NAME="first",
        FOOTNOTE_MODEL__FALLBACKS__10__NAME="third",
        FOOTNOTE_MODEL__FALLBACKS__2__NAME="second",
        FOOTNOTE_MODEL__FALLBACKS__2__FIRST_TOKEN_SECONDS="7",
    )
    choices = model_choices(read)
    assert [choice.values.get("name") for choice in choices] == ["first", "second", "third", None]
    assert [choice.kind for choice in choices] == ["openai", "openai", "openai", "extractive"]
    assert choices[1].values["first_token_seconds"] == "7"


def test_a_model_of_the_same_server_has_its_key_and_another_server_never(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = given(
        monkeypatch,
        OPENAI_API_KEY="sk-first",
        OPENAI_BASE_URL="https://one.example/v1",
        FOOTNOTE_MODEL__FALLBACKS__A__NAME="same",
        FOOTNOTE_MODEL__FALLBACKS__B__BASE_URL="https://two.example/v1",
        FOOTNOTE_MODEL__FALLBACKS__C__BASE_URL="https://three.example/v1",
        FOOTNOTE_MODEL__FALLBACKS__C__API_KEY="sk-third",
    )
    first, same, other, third, _ = model_choices(read)
    assert first.values == {"api_key": SecretStr("sk-first"), "base_url": "https://one.example/v1"}
    assert same.values == {**first.values, "name": "same"}
    assert other.values == {"base_url": "https://two.example/v1"}
    assert third.values == {"base_url": "https://three.example/v1", "api_key": "sk-third"}
    assert "sk-" not in repr(read) + repr(model_choices(read))


def test_a_task_may_have_a_model_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    read = given(
        monkeypatch,
        OPENAI_API_KEY="sk-first",
        FOOTNOTE_MODEL__NAME="large",
        FOOTNOTE_MODEL__CONTEXT_TOKENS="9000",
        FOOTNOTE_TASKS__UNDERSTAND__MODEL="small",
        FOOTNOTE_TASKS__UNDERSTAND__TEMPERATURE="0",
        FOOTNOTE_TASKS__SUMMARY__BASE_URL="https://two.example/v1",
        FOOTNOTE_TASKS__SUMMARY__SECONDS="9",
        FOOTNOTE_TASKS__ANSWER__MAX_TOKENS="900",
    )
    *choices, _ = model_choices(read)
    answering, found = with_tasks(read, choices)
    assert answering == choices
    assert set(found) == {"understand", "summary"}
    assert found["understand"].values == {
        "api_key": SecretStr("sk-first"),
        "name": "small",
        "temperature": 0.0,
    }
    assert found["summary"].values == {
        "name": "large",
        "context_tokens": "9000",
        "base_url": "https://two.example/v1",
        "first_token_seconds": 9.0,
    }
    assert found["understand"].variable == "TASKS__UNDERSTAND"
    assert loader.packing(read).reply_tokens == 900


def test_the_settings_of_a_steps_former_name_still_count(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = Ports(embedder=cast("Embedder", None), index=cast("Index", None))
    good = given(monkeypatch, FOOTNOTE_STEPS__REFINE__SECONDS="2")
    assert loader.step("understand", good, ports).name == "understand"
    bad = given(monkeypatch, FOOTNOTE_STEPS__REFINE__SECONDS="-2")
    with pytest.raises(BadSettings, match=r"^FOOTNOTE_STEPS__UNDERSTAND__SECONDS: "):
        loader.step("understand", bad, ports)


def test_a_list_is_written_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = Ports(embedder=cast("Embedder", None), index=cast("Index", None))
    good = given(monkeypatch, FOOTNOTE_STEPS__UNDERSTAND__LANGUAGES="en, de")
    assert loader.step("understand", good, ports).name == "understand"


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"FOOTNOTE_MODEL__NAME": "one", "FOOTNOTE_TASKS__THINK__MODEL": "two"},
            "FOOTNOTE_TASKS__THINK: there is no such task; there are: answer, understand, summary, outline, hypothesis, follow_ups, titles, tags, sql, mindmap, subqueries, extract, sufficiency, agent, passage_summary, passage_questions, graph, gaps.",
        ),
        (
            {"FOOTNOTE_TASKS__ANSWER__MODEL": "two"},
            "FOOTNOTE_MODEL__NAME is not set, so the FOOTNOTE_TASKS have no model to differ from.",
        ),
    ],
)
def test_tasks_that_cannot_be(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    read = given(monkeypatch, **variables)
    with pytest.raises(BadSettings) as refusal:
        with_tasks(read, model_choices(read)[:-1])
    assert str(refusal.value) == sentence


def test_fallbacks_of_nothing_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSettings, match=r"^FOOTNOTE_MODEL__NAME is not set"):
        model_choices(given(monkeypatch, FOOTNOTE_MODEL__FALLBACKS__1__BASE_URL="https://two.example/v1"))


async def test_a_bad_setting_of_a_fallback_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read = given(monkeypatch, FOOTNOTE_MODEL__NAME="first", FOOTNOTE_MODEL__FALLBACKS__1__RETRIES="many")
    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder:
        with pytest.raises(BadSettings, match=r"^FOOTNOTE_MODEL__FALLBACKS__1__RETRIES: "):
            await loader.model(model_choices(read)[1], embedder=embedder).__aenter__()


def test_models_to_choose_are_known_by_their_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    read = given(
        monkeypatch,
        OPENAI_API_KEY="sk-first",
        FOOTNOTE_MODEL__NAME="large",
        FOOTNOTE_MODEL__CHOICES__FAST__NAME="small",
        FOOTNOTE_MODEL__CHOICES__CODE__NAME="coder",
        FOOTNOTE_MODEL__CHOICES__CODE__BASE_URL="https://two.example/v1",
    )
    chosen = chosen_models(read, model_choices(read)[:-1])
    assert list(chosen) == ["code", "fast"]
    assert chosen["fast"].values == {"api_key": SecretStr("sk-first"), "name": "small"}
    assert chosen["code"].values == {"name": "coder", "base_url": "https://two.example/v1"}
    assert "sk-" not in repr(read)


def test_choices_without_a_model_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    read = given(monkeypatch, FOOTNOTE_MODEL__CHOICES__FAST__NAME="small")
    with pytest.raises(BadSettings, match="FOOTNOTE_MODEL__CHOICES have no model to differ from"):
        chosen_models(read, [])
