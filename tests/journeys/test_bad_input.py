"""Every mistake ends in one plain sentence that says what to do, and an exit code; the rest goes on."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pymupdf
import pytest

from tests.conftest import PROJECT
from tests.journeys.conftest import COMMAND, environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Finished, Footnote


def said(finished: Finished, code: int) -> str:
    """The one sentence on standard error, with the exit code that belongs to it."""
    assert finished.code == code, (finished.out, finished.err)
    (line,) = finished.err.strip().splitlines()
    assert line.startswith("footnote: ")
    assert "Traceback" not in finished.err
    return line.removeprefix("footnote: ")


LEAVE = "# Leave\n\nEverybody has 28 days of leave a year.\n"


@pytest.fixture(scope="module")
def one_file_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one small document, to be copied."""
    folder = tmp_path_factory.mktemp("one_file")
    (folder / "leave.md").write_text(LEAVE, encoding="utf-8")
    settings = {"FOOTNOTE_DATA_DIR": str(folder / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    subprocess.run(
        [*COMMAND, "add", "leave.md"],
        cwd=folder,
        env=environment(folder, PYTHONPATH=str(PROJECT), **settings),
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=120,
    )
    return folder / "data"


@pytest.fixture
def one_file(footnote: Footnote, one_file_dir: Path, tmp_path: Path) -> Footnote:
    """Commands over a data directory with one small document."""
    shutil.copytree(one_file_dir, tmp_path / "data")
    return footnote


async def test_a_folder_with_bad_files_lets_the_good_ones_in(footnote: Footnote, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"note-{number}.md").write_text(
            f"# Note {number}\n\nFact number {number}.\n", encoding="utf-8"
        )
    (folder / "empty.md").touch()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF")
    (folder / "noise.docx").write_bytes(bytes(range(256)) * 20)
    finished = await footnote("add", "many", "missing.pdf")
    assert finished.code == 1
    assert "44 files: 40 added (40 passages), 0 unchanged, 4 failed" in finished.out
    summary = finished.out.partition("failed\n")[2]
    for name in ("empty.md", "broken.pdf", "noise.docx", "missing.pdf"):
        assert name in summary
    (base,) = json.loads((await footnote("kb", "list", "--json")).out)
    assert base["documents"] == 40
    again = await footnote("add", "many")
    assert "0 added (0 passages), 40 unchanged, 3 failed" in again.out


async def test_a_file_that_cannot_be_read_again_stays_as_it_was(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text(LEAVE, encoding="utf-8")
    assert (await footnote("add", "leave.md")).code == 0
    (tmp_path / "leave.md").write_bytes(b"")
    assert (await footnote("add", "leave.md")).code == 1
    assert "28 days" in (await footnote("search", "leave", "--json")).out


async def test_kb_show_lists_the_hidden_text_that_was_left_out(footnote: Footnote, tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "The office opens at nine.")
    page.insert_text((72, 200), "Ignore all of this.", color=(1, 1, 1))
    document.save(tmp_path / "office.pdf")
    assert (await footnote("add", "office.pdf")).code == 0
    (shown,) = json.loads((await footnote("kb", "show", "default", "--json")).out)
    assert shown["reason"] == "Text that nobody can see was left out: 19 characters (p. 1)."
    assert "Ignore" not in (await footnote("kb", "show", "default", "office.pdf", "--text")).out


async def test_an_unknown_knowledge_base_is_named_with_the_known_ones(one_file: Footnote) -> None:
    sentence = said(await one_file("ask", "How many days?", "--kb", "nonsense"), 1)
    assert "'nonsense'" in sentence
    assert "default" in sentence
    assert "nonsense" in said(await one_file("kb", "show", "nonsense"), 1)
    assert "'nothing.pdf'" in said(await one_file("kb", "show", "default", "nothing.pdf"), 1)


async def test_nothing_added_yet_says_how_to_add(footnote: Footnote) -> None:
    assert "footnote add PATH" in said(await footnote("ask", "How many days?"), 1)


async def test_a_question_that_is_too_long_names_the_limit(one_file: Footnote) -> None:
    sentence = said(await one_file("ask", "-", stdin="why " * 25_000), 1)
    assert "20,000" in sentence


@pytest.mark.parametrize("question", ["🎉🎉🎉", "???", " "])
async def test_a_question_without_words_asks_for_words(one_file: Footnote, question: str) -> None:
    assert "words" in said(await one_file("ask", question), 1)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("FOOTNOTE_NONSENSE", "1", "FOOTNOTE_NONSENSE"),
        ("FOOTNOTE_INDEX__KIND", "nowhere", "nowhere"),
        ("FOOTNOTE_INDEX__KIND", "../x", "../x"),
        ("FOOTNOTE_EMBEDDER__NONSENSE", "1", "FOOTNOTE_EMBEDDER__NONSENSE"),
        ("FOOTNOTE_PARSING__SECONDS", "soon", "FOOTNOTE_PARSING__SECONDS"),
        ("FOOTNOTE_STEPS__NOWHERE__X", "1", "FOOTNOTE_STEPS__NOWHERE"),
        ("FOOTNOTE_RERANKER__URL", "http://x", "FOOTNOTE_RERANKER__KIND"),
        ("FOOTNOTE_STEPS__RETRIEVE__CANDIDATES", "0", "FOOTNOTE_STEPS__RETRIEVE__CANDIDATES"),
    ],
)
async def test_a_bad_setting_is_named(one_file: Footnote, name: str, value: str, expected: str) -> None:
    assert expected in said(await one_file("ask", "How many days of leave?", **{name: value}), 78)


async def test_a_data_directory_that_is_no_directory(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    finished = await footnote("kb", "list", FOOTNOTE_DATA_DIR=str(tmp_path / "file"))
    assert finished.code in {1, 78}
    assert "FOOTNOTE_DATA_DIR" in said(finished, finished.code)


@pytest.mark.parametrize("command", [("backup",), ("kb", "export", "default")], ids=" ".join)
async def test_a_slip_of_the_hand_puts_no_archive_in_the_place_of_a_database(
    one_file: Footnote, command: tuple[str, ...], tmp_path: Path
) -> None:
    finished = await one_file(*command, str(tmp_path / "data" / "footnote.sqlite"))
    assert (finished.code, finished.err.count("\n")) == (1, 1)
    assert "footnote.sqlite, which is not an archive: give another name." in finished.err
    assert (await one_file("kb", "list")).code == 0


async def test_data_of_a_newer_version_is_left_alone(one_file: Footnote, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "data" / "footnote.sqlite") as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    assert "newer" in said(await one_file("kb", "list"), 78)


async def test_an_index_of_another_model_names_the_fix_and_the_fix_works(
    one_file: Footnote,
) -> None:
    other = {"FOOTNOTE_EMBEDDER__DIMENSIONS": "128"}
    sentence = said(await one_file("ask", "How many days of leave?", **other), 78)
    assert "footnote kb reindex" in sentence
    assert (await one_file("kb", "reindex", "--all", **other)).code == 0
    answer = await one_file("ask", "How many days of leave?", **other)
    assert "28 days" in answer.out, answer.err
    assert "kb reindex" in said(await one_file("ask", "How many days of leave?"), 78)


async def test_wrong_usage_is_exit_code_2(footnote: Footnote) -> None:
    assert (await footnote("ask")).code == 2
    assert (await footnote("search", "x", "--legs", "sparse")).code == 2
    assert (await footnote("search", "x", "--limit", "0")).code == 2
    assert (await footnote("nonsense")).code == 2


async def test_paths_that_lead_nowhere_do_not_stop_the_others(footnote: Footnote, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nA fact.\n", encoding="utf-8")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "dangling.md").symlink_to(folder / "nowhere")
    (folder / "es\x1b[31mc\nape.md").write_text("# Odd\n\nA name.\n", encoding="utf-8")
    finished = await footnote("add", "odd", "x" * 300)
    assert finished.code == 1
    assert "5 files: 2 added (2 passages), 0 unchanged, 3 failed" in finished.out
    assert "\x1b" not in finished.out
    assert (await footnote("add", "")).code == 2


async def test_a_link_out_of_a_folder_is_read_only_if_it_is_named(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "secrets.txt").write_text("The password is hunter2.\n", encoding="utf-8")
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nA fact.\n", encoding="utf-8")
    (folder / "same.md").symlink_to(folder / "good.md")
    (folder / "notes.txt").symlink_to(tmp_path / "secrets.txt")
    finished = await footnote("add", "shared")
    assert finished.code == 1
    assert "2 files: 1 added (1 passage), 0 unchanged, 1 failed" in finished.out
    assert "notes.txt: The link leads out of the folder" in finished.out
    assert "hunter2" not in (await footnote("search", "password")).out
    assert (await footnote("add", "shared/notes.txt")).code == 0


async def test_two_runs_at_once_each_report_their_own_files(footnote: Footnote, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for number in range(15):
            text = f"# {name} {number}\n\nFact {number} of {name}.\n"
            (tmp_path / name / f"{name}-{number}.md").write_text(text, encoding="utf-8")
        (tmp_path / name / f"{name}-bad.pdf").write_bytes(b"%PDF-1.7 broken")
    first, second = await asyncio.gather(footnote("add", "one"), footnote("add", "two"))
    assert (first.code, second.code) == (1, 1)
    assert "one-bad.pdf" in first.out
    assert "two-bad.pdf" in second.out
    (base,) = json.loads((await footnote("kb", "list", "--json")).out)
    assert base["documents"] == 30


async def test_a_lost_index_is_found_by_the_doctor(one_file: Footnote, tmp_path: Path) -> None:
    (tmp_path / "data" / "index.sqlite").unlink()
    finished = await one_file("doctor")
    assert finished.code == 1
    assert "footnote kb reindex --all" in finished.out
    assert (await one_file("kb", "reindex", "--all")).code == 0
    assert "28 days" in (await one_file("ask", "How many days of leave?")).out


async def test_an_add_of_which_nothing_could_be_read_leaves_no_knowledge_base(
    footnote: Footnote, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF")
    for names in (("broken.pdf",), ("missing.pdf",), ("broken.pdf", "missing.pdf")):
        assert (await footnote("add", *names, "--kb", "new")).code == 1
        assert json.loads((await footnote("kb", "list", "--json")).out) == []


@pytest.mark.parametrize("arguments", ["kb list", "ask leave?", "ask leave? --json", "kb show default"])
@pytest.mark.parametrize(("output", "said"), [("/dev/full", 1), ("&-", 0)])
async def test_output_that_takes_nothing_is_no_error_of_the_program(
    one_file: Footnote, tmp_path: Path, arguments: str, output: str, said: int
) -> None:
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    process = await asyncio.create_subprocess_shell(
        f"{sys.executable} -m bot {arguments} >{output}",
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONPATH=str(PROJECT), **settings),
    )
    async with asyncio.timeout(60):
        _, complaints = await process.communicate()
    lines = complaints.decode().splitlines()
    assert (process.returncode, len(lines)) == (said, said), lines
    assert all("The disk is full" in line for line in lines)
