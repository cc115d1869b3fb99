"""A branch of a real repository, followed by the program git."""

from __future__ import annotations

import asyncio
import base64
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UserError
from rag_engine.ingestion.source_sync import SyncLimits
from rag_engine.sync.types import SyncCounts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.sources.synced import Synced

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    program = shutil.which("git") or "git"
    done = subprocess.run((program, *who, *arguments), cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, **files: str) -> str:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Change")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "guides.git"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "link.md").symlink_to("/etc/hostname")
    (folder / "big.md").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    commit(folder, docs__a="The first guide.", docs__b="The second guide.", other="Something else.")
    return folder


async def test_a_branch_is_followed(synced: Synced, repository: Path) -> None:
    source = await synced.add("git", f"file://{repository}", {"branch": "main", "paths": "docs, big.md"})
    outcome = await synced.run(source)
    assert outcome.error == ""
    assert outcome.counts == SyncCounts(new=2, failed=1)
    (pointer,) = await synced.store.unread(source.id, limit=9)
    assert pointer.reason == "big.md is stored in Git LFS, which is not read."
    assert (await synced.run(source)).counts == SyncCounts()
    assert synced.read == []
    embedded = list(synced.world.embedder.texts)
    git(repository, "mv", "docs/a.md", "docs/renamed.md")
    changed = commit(repository)
    assert (await synced.run(source)).counts == SyncCounts(new=1, gone=1)
    assert synced.world.embedder.texts == embedded
    assert await synced.titles() == ["docs/b.md", "docs/renamed.md"]
    rows = await synced.store.manifest(source.id)
    assert rows["docs/renamed.md"].version == changed[:10]
    commit(repository, docs__b="The second guide, changed.")
    assert (await synced.run(source)).counts == SyncCounts(changed=1)
    assert synced.read == ["docs/b.md"]


async def test_a_repository_that_is_away_removes_nothing(synced: Synced, repository: Path) -> None:
    source = await synced.add("git", f"file://{repository}", {"paths": "docs"})
    await synced.run(source)
    shutil.move(repository, repository.with_name("elsewhere"))
    outcome = await synced.run(source)
    assert outcome.error.startswith("git: ")
    assert await synced.titles() == ["docs/a.md", "docs/b.md"]


async def test_a_hook_of_a_repository_does_not_run(
    synced: Synced, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    hook = hooks / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    configuration = tmp_path / "gitconfig"
    configuration.write_text(f"[core]\n\thooksPath = {hooks}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    configuration.rename(tmp_path / ".gitconfig")
    outcome = await synced.run(await synced.add("git", f"file://{repository}"))
    assert outcome.error == ""
    assert not ran.exists()


@pytest.mark.parametrize("address", ["--upload-pack=touch x", "ext::sh -c touch% x", "https://a b/x.git"])
async def test_an_address_is_no_option_and_no_program(synced: Synced, address: str) -> None:
    source = await synced.add("git", address)
    try:
        outcome = await synced.run(source)
    except UserError:
        return
    assert outcome.error


async def test_an_error_names_no_user(synced: Synced) -> None:
    source = await synced.add("git", "http://token@127.0.0.1:1/x.git")
    outcome = await synced.run(source)
    assert "token" not in outcome.error
    assert outcome.error.startswith("git: ")


async def test_a_server_that_says_nothing_is_left_and_removes_nothing(
    synced: Synced, repository: Path
) -> None:
    source = await synced.add("git", f"file://{repository}", {"paths": "docs"})
    await synced.run(source)
    synced.seconds = 0.5
    silent = await asyncio.start_server(_until_left, "127.0.0.1", 0)
    async with silent:
        port = silent.sockets[0].getsockname()[1]
        other = await synced.add("git", f"git://127.0.0.1:{port}/guides.git")
        async with asyncio.timeout(10):
            outcome = await synced.run(other)
    assert outcome.error == "git took too long."
    assert await synced.titles() == ["docs/a.md", "docs/b.md"]


async def test_a_slow_server_that_reports_progress_is_waited_for(
    synced: Synced, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text(
        '#!/bin/sh\ncase "$*" in *-G*) exit 0;; esac\n'
        "for each in 1 2 3 4 5 6 7 8; do echo counting >&2; sleep 0.25; done\n"
        f"exec git-upload-pack {repository}\n"
    )
    slow.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(slow))
    synced.seconds = 1
    source = await synced.add("git", "ssh://ada@guides/guides.git", {"paths": "docs"})
    outcome = await synced.run(source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(new=2))


async def test_a_path_is_taken_by_its_letters(synced: Synced, repository: Path) -> None:
    commit(repository, **{":docs__c": "The third guide.", "do*__d": "The fourth guide."})
    source = await synced.add("git", f"file://{repository}", {"paths": ":docs, do*"})
    outcome = await synced.run(source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(new=2))
    assert await synced.titles() == [":docs/c.md", "do*/d.md"]


async def test_a_million_files_are_not_listed_to_refuse_them(synced: Synced, repository: Path) -> None:
    """Git names each of a tree's million entries; the listing ends soon after the limit."""
    fill(repository, folders=1_000, files=1_000)
    synced.limits = SyncLimits(entries=5_000)
    source = await synced.add("git", f"file://{repository}")
    async with synced.opened(source) as opened:
        outcome = await synced.sync.run(source, opened)
    assert outcome.error.startswith("The source has more than 5,000 entries")
    assert len(opened.blobs) == 6_000  # type: ignore[attr-defined]


async def _until_left(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


def fill(repository: Path, *, folders: int, files: int) -> None:
    """Folders that are all the same tree."""
    blob = git(repository, "rev-parse", "HEAD:docs/a.md")
    tree = _tree(repository, [f"100644 blob {blob}\t{number}.md" for number in range(files)])
    root = _tree(repository, [f"040000 tree {tree}\tx{number}" for number in range(folders)])
    head = git(repository, "commit-tree", root, "-m", "Many")
    git(repository, "update-ref", "HEAD", head)


def _tree(repository: Path, lines: list[str]) -> str:
    program = shutil.which("git") or "git"
    made = subprocess.run(
        (program, "mktree"),
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
        input="\n".join(lines) + "\n",
    )
    return made.stdout.strip()


_SLOW = """
import pathlib, subprocess, sys, time
if "-G" not in sys.argv:
    given = subprocess.Popen(["git-upload-pack", {repository!r}], stdout=subprocess.PIPE)
    while block := given.stdout.read1(200_000):
        with pathlib.Path({sent!r}).open("ab") as sent:
            sent.write(block)
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        time.sleep(0.05)
"""


async def test_a_repository_larger_than_the_limit_is_not_downloaded_to_its_end(
    synced: Synced, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a server that sends it in parts, and from one where it is there at once."""
    slow, sent = tmp_path / "slow.py", tmp_path / "sent"
    slow.write_text(_SLOW.format(repository=str(repository), sent=str(sent)))
    monkeypatch.setenv("GIT_SSH_COMMAND", f"{sys.executable} {slow}")
    (repository / "docs" / "large.md").write_text(noise(1, 8_000_000))
    commit(repository)
    synced.most_download_bytes = 3 << 19
    for address in ("ssh://ada@guides/guides.git", f"file://{repository}"):
        source = await synced.add("git", address)
        outcome = await synced.run(source)
        assert outcome.error.startswith("The repository has more than 1.5 MB"), address
        assert not (synced.data_dir / "sources" / str(source.id) / "git").exists()
    assert sent.stat().st_size < 7_000_000


def noise(seed: int, size: int) -> str:
    """Text that no packing makes much shorter."""
    return base64.b85encode(random.Random(seed).randbytes(size)).decode()


async def test_earlier_versions_make_room(synced: Synced, repository: Path) -> None:
    synced.most_download_bytes = 2_000_000
    source = await synced.add("git", f"file://{repository}", {"paths": "docs"})
    for number in range(4):
        (repository / "docs" / "large.md").write_text(noise(number, 900_000))
        commit(repository)
        assert (await synced.run(source)).error == "", number
    kept = synced.data_dir / "sources" / str(source.id)
    assert sum(each.stat().st_size for each in kept.rglob("*") if each.is_file()) < 3_000_000
