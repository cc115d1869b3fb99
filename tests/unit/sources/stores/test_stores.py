"""Object stores and file servers on real sockets: `make test-stores` installs them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import RagError, Unavailable
from rag_engine.ingestion.source_sync import SyncLimits
from rag_engine.sync.types import SyncCounts
from tests.unit.sources.stores.servers import KINDS, Sftp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.sync.types import SyncedSource
    from tests.unit.sources.stores.servers import Store
    from tests.unit.sources.synced import Synced

# Of the libraries.
pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.filterwarnings("default"),
]

FILES = 40


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    folder = tmp_path / "store"
    folder.mkdir()
    yield from _open(KINDS[request.param](folder), monkeypatch)


@pytest.fixture
def sftp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sftp]:
    folder = tmp_path / "store"
    folder.mkdir()
    for each in _open(Sftp(folder), monkeypatch):
        assert isinstance(each, Sftp)
        yield each


def _open(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    fsspec = pytest.importorskip("fsspec")
    # It was read when fsspec was imported.
    monkeypatch.setattr(fsspec.config, "conf", conf := dict[str, dict[str, object]]())
    monkeypatch.setattr(fsspec.spec, "conf", conf, raising=False)
    fsspec.config.set_conf_env(conf)
    store.start()
    try:
        for number in range(FILES):
            store.put(key(number), f"Rule {number} is here.")
        yield store
    finally:
        store.stop()


async def error_of(synced: Synced, source: SyncedSource) -> str:
    """Of opening it, or of its run."""
    try:
        return (await synced.run(source)).error
    except RagError as error:
        return str(error)


def key(number: int) -> str:
    return f"{number % 7}/{number} of Käthe.md"


async def test_only_what_changed_is_read_and_what_is_gone_goes(synced: Synced, store: Store) -> None:
    source = await synced.add("fsspec", store.address)
    outcome = await synced.run(source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(new=FILES))
    assert (await synced.run(source)).counts == SyncCounts()
    assert synced.read == []
    for number in range(3):
        store.put(key(number), f"Another rule, {number} of them.")
    store.delete(key(5))
    outcome = await synced.run(source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(changed=3, gone=1))
    assert len(synced.read) == 3
    assert len(await synced.titles()) == FILES - 1


async def test_a_renamed_file_is_not_embedded_again(synced: Synced, store: Store) -> None:
    source = await synced.add("fsspec", store.address)
    await synced.run(source)
    embedded = len(synced.world.embedder.texts)
    store.put("moved/file.md", "Rule 4 is here.")
    store.delete(key(4))
    assert (await synced.run(source)).counts == SyncCounts(new=1, gone=1)
    assert len(synced.world.embedder.texts) == embedded


async def test_while_it_is_away_the_documents_stay_and_then_it_is_followed_again(
    synced: Synced, store: Store
) -> None:
    source = await synced.add("fsspec", store.address)
    await synced.run(source)
    cut = Unavailable("cut", backend="source", reason="failed")
    assert (await synced.run(source, break_after=0, failure=cut)).error == "cut"
    store.stop()
    assert await error_of(synced, source)
    assert len(await synced.titles()) == FILES
    store.start()
    store.put("back.md", "It is back.")
    outcome = await synced.run(source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(new=1))


async def test_a_file_that_is_too_large_is_named_and_not_read_again(synced: Synced, store: Store) -> None:
    synced.limits = replace(SyncLimits(), most_bytes=100)
    store.put("large.md", "long " * 200_000 + "end")
    source = await synced.add("fsspec", store.address)
    outcome = await synced.run(source)
    assert outcome.counts == SyncCounts(new=FILES, failed=1)
    (row,) = [each for each in await synced.store.unread(source.id, limit=9) if each.reason]
    assert "large.md has more than 1 MB" in row.reason
    assert (await synced.run(source)).counts == SyncCounts()
    assert synced.read == []


async def test_an_address_without_anything_is_said_and_removes_nothing(synced: Synced, store: Store) -> None:
    source = await synced.add("fsspec", f"{store.address.rstrip('/')}/no-such-folder")
    outcome = await synced.run(source)
    assert outcome.counts == SyncCounts()
    assert outcome.error or outcome.entries == 0


async def test_a_wrong_password_is_one_sentence(
    synced: Synced, sftp: Sftp, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setitem(fsspec.config.conf, "sftp", {"password": "wrong"})
    source = await synced.add("fsspec", sftp.address)
    error = await error_of(synced, source)
    assert "refuses us" in error
    assert "wrong" not in error


async def test_a_host_whose_key_is_unknown_or_another_gets_no_password(synced: Synced, sftp: Sftp) -> None:
    asyncssh = pytest.importorskip("asyncssh")
    source = await synced.add("fsspec", sftp.address)
    sftp.knows(asyncssh.generate_private_key("ssh-ed25519"))
    assert "is not the known one" in await error_of(synced, source)
    (sftp.folder / ".ssh" / "known_hosts").unlink()
    assert "ssh-keyscan" in await error_of(synced, source)
    assert sftp.opened == []


async def test_connections_are_closed(synced: Synced, sftp: Sftp) -> None:
    source = await synced.add("fsspec", sftp.address)
    for _ in range(3):
        assert not (await synced.run(source)).error
    await sftp.all_closed()
