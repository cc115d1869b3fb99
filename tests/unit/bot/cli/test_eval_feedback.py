"""Rated questions become an evaluation set that `footnote eval answers` reads; what is private or names people does not."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.cli.quality import eval as evaluation
from bot.cli.quality import feedback as ratings
from bot.cli.quality._eval_feedback import facts, without_people
from rag_engine.errors import UserError
from rag_engine.evaluation.answer_set import read_questions
from rag_engine.evaluation.dataset import read_corpus
from rag_engine.types import ConversationId
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, World, world

if TYPE_CHECKING:
    from pathlib import Path

    from bot.settings import Settings


def chosen(folder: Path, monkeypatch: pytest.MonkeyPatch, *, consents: bool = True) -> Settings:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    monkeypatch.setenv("FOOTNOTE_CHAT__FEEDBACK_EXPORT", "true" if consents else "false")
    return settings.read().model_copy(update={"data_dir": folder})


async def rated(here: World, text: str, answer: str, way: str, **values: object) -> None:
    here.says(answer)
    post = await here.ask(text, **values)
    await here.press(post, "feedback", ends=f":{way}")


def arguments(target: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    evaluation.add_arguments(parser)
    return parser.parse_args(["answers", "--from-feedback", str(target)])


async def talked(folder: Path) -> None:
    async with world(folder) as here:
        await here.file("leave.md", "# Leave\n\nThe leave is 28 days. Mona Lind approves it.")
        await rated(here, "How long is Ann's leave, @ben?", "The leave is 28 days [1].", "up")
        await rated(here, "Who signs?", "Mona Lind approves it [1].", "up", private=True)
        await rated(here, "Where is the pool?", "I do not know.", "up")
        await rated(here, "What is the leave of Ben?", "The leave is 28 days [1].", "down", person=BEN)
        await rated(here, "Tell me more", "It is approved [1].", "up")


async def test_the_set_is_one_that_answers_can_be_measured_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await talked(tmp_path / "data")
    target = tmp_path / "rated"
    assert await evaluation.run(arguments(target), chosen(tmp_path / "data", monkeypatch)) == 0
    assert "2 questions" in capsys.readouterr().out
    found = {question.text: question for question in read_questions(target)}
    assert set(found) == {"How long is someone's leave, someone?", "Where is the pool?"}
    asked = found["How long is someone's leave, someone?"]
    assert (asked.answers, asked.unanswerable) == (("28 days",), False)
    assert [row.title for row in read_corpus(target)] == ["leave.md"]
    assert list(asked.documents) == [row.id for row in read_corpus(target)]
    assert found["Where is the pool?"].unanswerable
    review = [json.loads(line) for line in (target / "to_review.jsonl").read_text().splitlines()]
    assert [row["question"] for row in review] == ["What is the leave of someone?"]
    assert {path.stat().st_mode & 0o777 for path in target.iterdir()} == {0o600}
    everything = "".join(path.read_text() for path in target.iterdir())
    for hidden in (ANN.id, BEN.id, "Who signs", "slack:", "test:"):
        assert f'"{hidden}' not in everything
    assert "Who signs" not in everything


async def test_a_single_file_has_the_questions_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await talked(tmp_path / "data")
    target = tmp_path / "rated.jsonl"
    await evaluation.run(arguments(target), chosen(tmp_path / "data", monkeypatch))
    assert len(target.read_text().splitlines()) == 2
    assert not (tmp_path / "corpus.jsonl").exists()


async def test_without_consent_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await talked(tmp_path / "data")
    target = tmp_path / "rated"
    with pytest.raises(UserError, match="FOOTNOTE_CHAT__FEEDBACK_EXPORT=true"):
        await evaluation.run(arguments(target), chosen(tmp_path / "data", monkeypatch, consents=False))
    assert not target.exists()


async def test_nothing_rated_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="No answer that may be exported"):
        await evaluation.run(arguments(tmp_path / "rated"), chosen(tmp_path / "data", monkeypatch))


def test_facts_are_in_the_quotes_and_not_in_the_question() -> None:
    quotes = ["The leave is 28 days. Mona Lind approves it."]
    assert facts("Mona approves 28 days, after 3 weeks.", quotes, "Who is Mona?") == ["28 days"]
    assert facts("Mona Lind approves 29 days.", quotes, "Who?") == ["Mona Lind"]
    assert facts("It is long.", quotes, "How long?") == []


def test_people_become_someone() -> None:
    text = "Ask <@U12> or @ben about Ann Smith, not Annabel."
    assert without_people(text, ["Ann Smith", "Ann"]) == "Ask someone or someone about someone, not Annabel."


@pytest.mark.parametrize(
    ("by", "shown"),
    [
        ("--sources", [("added by hand or in chat", 2, 1)]),
        ("--tags", [("travel", 1, 1), ("without a tag", 1, 0)]),
    ],
)
async def test_ratings_by_source_and_topic(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    by: str,
    shown: list[tuple[str, int, int]],
) -> None:
    async with world(tmp_path / "data") as here:
        await here.file("leave.md", "# Leave\n\nThe leave is 28 days.")
        second = {"place": CHANNEL.__class__(platform="test", workspace="w", channel="general", thread="t9")}
        await rated(here, "How long is the leave?", "The leave is 28 days [1].", "up")
        await rated(here, "And mine?", "The leave is 28 days [1].", "up", in_thread=True, **second)
        await rated(here, "And his?", "The leave is 28 days [1].", "down", in_thread=True, **second)
        await here.history.tag(ConversationId("test:w:general:t9"), ["travel"])
    parser = argparse.ArgumentParser()
    ratings.add_arguments(parser)
    await ratings.run(parser.parse_args([by, "--json"]), chosen(tmp_path / "data", monkeypatch))
    rows = json.loads(capsys.readouterr().out)
    assert [(row["title"], row["up"], row["down"]) for row in rows] == shown
