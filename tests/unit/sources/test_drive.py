"""A folder of Google Drive as a source, against a server that speaks its JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import Unavailable
from rag_engine.sync.types import SyncCounts
from tests.doubles.drive_server import REFRESH, DriveFile, DriveServer, drive_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rag_engine.sync.types import SyncedSource
    from tests.unit.sources.synced import Synced

pytestmark = pytest.mark.asyncio


@dataclass(frozen=True, kw_only=True)
class Drive:
    server: DriveServer
    synced: Synced
    source: SyncedSource


@pytest.fixture
async def drive(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Drive]:
    monkeypatch.setenv("GOOGLE_DRIVE_CLIENT_ID", "client")
    monkeypatch.setenv("GOOGLE_DRIVE_CLIENT_SECRET", "client-secret")
    monkeypatch.setenv("GOOGLE_DRIVE_REFRESH_TOKEN", REFRESH)
    async with drive_server() as server:
        folder = "application/vnd.google-apps.folder"
        server.files["sub"] = DriveFile(name="Sub", kind=folder)
        server.files["loop"] = DriveFile(name="Loop", kind=folder, parent="loop")
        for number in range(6):
            server.files[f"f{number}"] = DriveFile(name=f"f{number}.txt", text=f"Rule {number}.")
        server.files["deep"] = DriveFile(name="deep.md", text="Deep down.", parent="sub")
        server.files["doc"] = DriveFile(
            name="Plan", text="The plan is here.", kind="application/vnd.google-apps.document"
        )
        server.files["form"] = DriveFile(name="Form", kind="application/vnd.google-apps.form")
        options = {"api": f"{server.url}/", "tokens": f"{server.url}/token"}
        source = await synced.add("drive", "gdrive:root", options)
        yield Drive(server=server, synced=synced, source=source)


async def test_files_and_documents_of_all_folders_are_followed(drive: Drive) -> None:
    outcome = await drive.synced.run(drive.source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(new=8))
    assert await drive.synced.titles() == ["Plan", "deep.md", *(f"f{number}.txt" for number in range(6))]
    row = (await drive.synced.store.manifest(drive.source.id))["doc"]
    assert (row.link, row.version) == ("https://drive.google.com/file/d/doc/view", "2026-11-01")
    assert drive.server.exports["doc"].endswith("wordprocessingml.document")
    drive.server.bodies.clear()
    assert (await drive.synced.run(drive.source)).counts == SyncCounts()
    assert drive.server.bodies == []
    drive.server.files["f1"].text = "Another rule."
    drive.server.files["doc"].modified = 2
    drive.server.files["doc"].text = "Another plan."
    drive.server.files["deep"].parent = "root"
    del drive.server.files["f2"]
    assert (await drive.synced.run(drive.source)).counts == SyncCounts(changed=2, gone=1)
    assert sorted(drive.server.bodies) == ["doc", "f1"]


async def test_a_listing_that_fails_half_way_and_a_limit_remove_nothing(drive: Drive) -> None:
    drive.server.limited = 3
    assert (await drive.synced.run(drive.source)).counts == SyncCounts(new=8)
    drive.server.fails_after = 1
    outcome = await drive.synced.run(drive.source)
    assert "fails (HTTP 503)" in outcome.error
    assert len(await drive.synced.titles()) == 8


async def test_a_permission_that_is_lost_keeps_the_last_good_state_and_says_so(drive: Drive) -> None:
    await drive.synced.run(drive.source)
    drive.server.files["f1"].text = "Hidden now."
    drive.server.hidden.add("f1")
    assert (await drive.synced.run(drive.source)).counts == SyncCounts(failed=1)
    (row,) = await drive.synced.store.unread(drive.source.id, limit=5)
    assert "does not show this to the account of GOOGLE_DRIVE_REFRESH_TOKEN" in row.reason
    assert "f1.txt" in await drive.synced.titles()


async def test_a_token_that_was_revoked_is_named(drive: Drive) -> None:
    await drive.synced.run(drive.source)
    drive.server.refresh_token = "another"
    with pytest.raises(Unavailable, match="renew GOOGLE_DRIVE_REFRESH_TOKEN") as refused:
        await drive.synced.run(drive.source)
    assert REFRESH not in str(refused.value)
    assert len(await drive.synced.titles()) == 8
