"""A file kills `footnote add` in the process that embeds it: the next run continues, and all other files go in.

No real file is known to do that, so an embedder that kills its own process plays its part.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.doubles import deadly_embedder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote


async def test_a_deadly_file_can_be_taken_away_or_changed(footnote: Footnote, tmp_path: Path) -> None:
    deadly_embedder.install(tmp_path)
    for name in ("leave", "notice"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} is 28 days.\n", encoding="utf-8")
    deadly = tmp_path / "deadly.md"
    deadly.write_text(f"# Old lace\n\nAnd {deadly_embedder.WORD}.\n", encoding="utf-8")
    files = ("deadly.md", "leave.md", "notice.md")
    assert (await footnote("add", *files, **deadly_embedder.ENVIRONMENT)).code == -signal.SIGKILL
    killed = await footnote("add", "deadly.md", "--again", **deadly_embedder.ENVIRONMENT)
    assert killed.code == -signal.SIGKILL, "it is tried again"
    deadly.rename(tmp_path / "away.md")
    without = await footnote("add", "leave.md", "notice.md", **deadly_embedder.ENVIRONMENT)
    assert without.code == 1
    assert "deadly.md: " in without.out
    assert "1 failed" in without.out
    for name in ("leave", "notice"):
        answer = await footnote("ask", f"How long is the {name}?", **deadly_embedder.ENVIRONMENT)
        assert "28 days" in answer.out
    deadly.write_text("# Old lace\n\nAnd sugar.\n", encoding="utf-8")
    changed = await footnote("add", "deadly.md", **deadly_embedder.ENVIRONMENT)
    assert (changed.code, changed.err) == (0, "")
    assert changed.out.splitlines()[0] == "deadly.md: 1 passage, searchable"
