"""Answers that were rated down with a reason are grouped by what was asked, with the documents that they cited."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from bot import settings
from bot.cli.quality import feedback
from tests.unit.bot.chatting import ANN, BEN, World, world
from tests.unit.bot.conversation.gaps.test_gap_intake import SECOND

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ASKED = ("How long is the leave?", "how long is the leave??", "How long is the leave!")
OTHER = "Where is the archive of the lighthouse?"


async def rate(here: World, text: str, reason: str, **values: object) -> None:
    post = await here.ask(text, **values)
    turn = await here.turns.of_answer(post.place, post.id)
    assert turn is not None
    person = values.get("person", ANN)
    await here.press(post, "feedback", ends=":down" if reason else ":up", person=person)
    if reason:
        await here.turns.explain_rating(turn, person.id, reason)


async def listed(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    parser = argparse.ArgumentParser()
    feedback.add_arguments(parser)
    here = settings.read().model_copy(update={"data_dir": folder})
    capsys.readouterr()
    assert await feedback.run(parser.parse_args(["--topics", *words]), here) == 0
    return capsys.readouterr().out


async def test_topics_have_reasons_and_the_documents_that_misled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    async with world(tmp_path / "data") as here:
        await here.file("leave.md", "# Leave\n\nThe leave is 28 days.")
        await here.file("leave.md", "# Leave\n\nThe leave is 28 days.", place=SECOND)
        here.says("The leave is 28 days [1].")
        for text, reason in zip(ASKED, ("outdated", "outdated", "wrong"), strict=True):
            await rate(here, text, reason)
        await rate(here, OTHER, "source", person=BEN, place=SECOND)
        await rate(here, OTHER, "", place=SECOND)
        await rate(here, "Which leave has the harbour?", "outdated", private=True)
    rows = json.loads(await listed(tmp_path / "data", capsys, "--json"))
    first, *others = rows
    assert (first["title"], first["down"], first["reasons"]) == (ASKED[0], 3, {"outdated": 2, "wrong": 1})
    assert [(each["title"], each["down"], each["misleads"]) for each in first["documents"]] == [
        ("leave.md", 3, True)
    ]
    assert sorted((each["title"], each["up"], each["down"], len(each["documents"])) for each in others) == [
        ("", 0, 1, 0),
        (OTHER, 0, 1, 1),
    ]
    shown = await listed(tmp_path / "data", capsys)
    assert f"{ASKED[0]}: 0 up, 3 down (2 outdated, 1 wrong)" in shown
    assert "leave.md: 0 up, 3 down (2 outdated, 1 wrong)  often misleads: check it" in shown
    assert "(only private questions): 0 up, 1 down (1 outdated)" in shown
    assert "harbour" not in shown


async def test_nothing_rated_down_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    assert "No answer was rated not helpful with a reason." in await listed(tmp_path, capsys)
