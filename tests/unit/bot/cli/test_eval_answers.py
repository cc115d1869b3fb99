"""`footnote eval answers` on a small folder, with the production engine and with a model over a real socket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bot import __main__

if TYPE_CHECKING:
    from pathlib import Path

_HR = "# Notice\n\nThe notice period is four weeks to the end of a month.\n\n# Leave\n\nEveryone has 30 days of leave.\n"
_QUESTIONS: list[dict[str, Any]] = [
    {"question": "How long is the notice period?", "answers": ["four weeks"], "documents": ["hr.md"]},
    {"question": "Who won the 1990 World Cup in Rome?", "unanswerable": True, "kind": "off_topic"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    made = tmp_path / "set"
    (made / "files").mkdir(parents=True)
    (made / "files" / "hr.md").write_text(_HR, encoding="utf-8")
    _ask(made, _QUESTIONS)
    return made


def _ask(folder: Path, questions: list[dict[str, Any]]) -> None:
    lines = "\n".join(map(json.dumps, questions))
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")


def _as_corpus(folder: Path, *, others: int = 0) -> None:
    (folder / "files" / "hr.md").unlink()
    (folder / "files").rmdir()
    rows = [{"id": "hr.md", "title": "Notice", "text": _HR}]
    rows += [
        {"id": f"room{number}.md", "title": "Rooms", "text": f"Room {number} has a window."}
        for number in range(others)
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert __main__.main(["eval", "answers", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.process
def test_files_are_read_as_in_production(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _run(capsys, str(folder))

    assert (found["answer_recall"], found["quote_recall"], found["citation_recall"]) == (1, 1, 1)
    assert (found["abstention_recall"], found["refused_answerable"]) == (1, 0)
    assert (found["calls"], found["prompt_tokens"]) == (0, 0)
    assert found["seconds"]["total"] > 0

    _ask(folder, [{**_QUESTIONS[0], "documents": ["no.md"]}])
    assert __main__.main(["eval", "answers", str(folder)]) != 0
    assert "questions.jsonl names no.md, which is not in files/." in capsys.readouterr().err


def test_a_corpus_is_enough_and_a_step_can_be_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _as_corpus(folder)

    found = _run(capsys, str(folder), "--without", "understand")

    assert found["citation_recall"] == found["without"]["citation_recall"] == 1


def test_a_model_that_always_invents_is_not_asked_what_the_passages_do_not_answer(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_MODEL__KIND", "scripted")
    monkeypatch.setenv("FOOTNOTE_MODEL__REPLIES", json.dumps([{"text": "It is four weeks [1]."}]))
    _as_corpus(folder, others=9)

    found = _run(capsys, str(folder), "--without", "evidence", "--prices", "1", "2")

    assert (found["abstention_recall"], found["answer_recall"], found["calls"]) == (1, 1, 1)
    assert (found["without"]["abstention_recall"], found["without"]["calls"]) == (0, 2)
    assert 0 < found["cost"] < found["without"]["cost"]
    assert {"line": 0.3, "abstained": 1.0, "refused": 0.0} in found["curve"]


@pytest.mark.parametrize(
    ("questions", "arguments", "sentence"),
    [
        ([{"answers": ["x"]}], [], "questions.jsonl, line 1: there is no question."),
        ([{"question": "Why?"}], [], "questions.jsonl, line 1: an answerable question needs answers."),
        ([{"question": "Why?", "answers": [1]}], [], "answers must be a list of texts."),
        (
            [{"question": "Why?", "answers": ["x"], "unanswerable": True}],
            [],
            "an unanswerable question has no answers",
        ),
        (_QUESTIONS, ["--without", "pack"], "--without takes one of the steps"),
    ],
)
def test_a_bad_folder_is_refused_in_one_sentence(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    questions: list[dict[str, Any]],
    arguments: list[str],
    sentence: str,
) -> None:
    _ask(folder, questions)

    assert __main__.main(["eval", "answers", str(folder), *arguments]) != 0
    shown = capsys.readouterr().err
    assert sentence in shown
    assert shown.count("\n") == 1


def test_a_folder_that_is_missing_is_refused(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert __main__.main(["eval", "answers", str(folder / "gone")]) != 0
    assert "There is no folder" in capsys.readouterr().err
    assert __main__.main(["eval", "answer", str(folder)]) != 0
    assert "footnote eval answers DIR" in capsys.readouterr().err
