"""A file that ends the program which reads it: no other is lost with it, and it is not tried again by itself."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.doubles import deadly_embedder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Finished, Footnote

SET_ASIDE = "deadly.md: deadly.md ended the program twice while it was read, so it is set aside"


@pytest.fixture
def adding(footnote: Footnote, tmp_path: Path) -> Footnote:
    """Commands next to three files, one of which kills whoever embeds it."""
    deadly_embedder.install(tmp_path)
    for name in ("leave", "notice"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} is 28 days.\n", encoding="utf-8")
    (tmp_path / "deadly.md").write_text(f"# Old lace\n\nAnd {deadly_embedder.WORD}.\n", encoding="utf-8")

    async def run(*arguments: str, stdin: str = "", **more: str) -> Finished:
        return await footnote(*arguments, stdin=stdin, **{**deadly_embedder.ENVIRONMENT, **more})

    return run


async def test_what_ends_the_program_twice_is_set_aside_and_everything_else_goes_in(adding: Footnote) -> None:
    files = ("deadly.md", "leave.md", "notice.md")
    assert (await adding("add", *files)).code == -signal.SIGKILL
    second = await adding("add", *files)
    assert second.code == 1
    assert SET_ASIDE in second.out
    assert "1 failed" in second.out.splitlines()[-2]
    for name in ("leave", "notice"):
        assert "28 days" in (await adding("ask", f"How long is the {name}?")).out
    shown = await adding("kb", "show", "default")
    assert "failed\tdeadly.md ended the program twice" in shown.out
    third = await adding("add", *files)
    assert (third.code, third.out.count(SET_ASIDE)) == (1, 2), (
        "said once when it is refused, once in the summary"
    )


async def test_what_was_set_aside_is_known_by_its_bytes_and_tried_anew_when_asked_for(
    adding: Footnote, tmp_path: Path
) -> None:
    for _ in range(2):
        await adding("add", "deadly.md")
    (tmp_path / "copy.md").write_bytes((tmp_path / "deadly.md").read_bytes())
    copied = await adding("add", "copy.md", "--kb", "other")
    assert (copied.code, "copy.md ended the program twice" in copied.out) == (1, True)
    assert (await adding("add", "deadly.md", "--again")).code == -signal.SIGKILL


async def test_a_file_that_changed_is_another(adding: Footnote, tmp_path: Path) -> None:
    for _ in range(2):
        await adding("add", "deadly.md")
    (tmp_path / "deadly.md").write_text("# Old lace\n\nAnd sugar.\n", encoding="utf-8")
    mended = await adding("add", "deadly.md")
    assert (mended.code, mended.err) == (0, "")
    assert mended.out.splitlines()[0] == "deadly.md: 1 passage, searchable"
