from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot import __main__
from bot.cli.operation._setup import known_models
from bot.settings import read
from rag_engine import plugins

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTATION = Path(__file__).parents[4] / "docs" / "models.md"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    monkeypatch.chdir(tmp_path)

    def main(*arguments: str) -> tuple[int, str]:
        code = __main__.main(["setup", *arguments])
        told = capsys.readouterr()
        return code, told.out + told.err

    return main


def test_all_models_are_compared_as_in_the_documentation(run: Callable[..., tuple[int, str]]) -> None:
    code, told = run("model")
    assert code == 0
    assert told.strip() in DOCUMENTATION.read_text(encoding="utf-8")
    assert "multilingual-e5-small" in told


def test_the_settings_of_one_are_printed_and_written(
    run: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(
        "SLACK_BOT_TOKEN=x\nFOOTNOTE_EMBEDDER__KIND=openai\nFOOTNOTE_EMBEDDER__BASE_URL=http://x\nFOOTNOTE_INDEX__KIND=embedded"
    )
    code, told = run("model", "Multilingual-E5-Small", "--write")
    assert code == 0
    assert "FOOTNOTE_EMBEDDER__MODEL=intfloat/multilingual-e5-small" in told
    assert "kb reindex --all" in told
    lines = (tmp_path / ".env").read_text().splitlines()
    assert lines == [
        "SLACK_BOT_TOKEN=x",
        "# FOOTNOTE_EMBEDDER__KIND=openai",
        "# FOOTNOTE_EMBEDDER__BASE_URL=http://x",
        "FOOTNOTE_INDEX__KIND=embedded",
        "FOOTNOTE_EMBEDDER__KIND=onnx",
        "FOOTNOTE_EMBEDDER__MODEL=intfloat/multilingual-e5-small",
    ]
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [".env"]
    run("model", "ms-marco-MiniLM-L6-v2", "--write")
    assert "FOOTNOTE_EMBEDDER__KIND=onnx" in (tmp_path / ".env").read_text().splitlines()


@pytest.mark.parametrize("model", known_models.MODELS, ids=lambda model: model.name)
def test_the_settings_of_each_are_valid(
    model: known_models.KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model.settings().items():
        monkeypatch.setenv(name, value)
    part = getattr(read(), model.part)
    assert part.kind == model.kind
    module = plugins.load(f"rag_engine.{model.part}s", part.kind)
    module.Settings.model_validate(part.rest())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("model", "gpt"), "There is no model 'gpt' in the list"),
        (("model", "--write"), "Say which model to write"),
        (("slack", "bge-m3"), "belong to `footnote setup model`"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    run: Callable[..., tuple[int, str]], arguments: tuple[str, ...], told: str
) -> None:
    code, said = run(*arguments)
    assert code != 0
    assert told in said


def test_a_file_that_cannot_be_written_is_one_sentence(
    run: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / ".env").mkdir()
    code, said = run("model", "bge-m3", "--write")
    assert code != 0
    assert ".env" in said
