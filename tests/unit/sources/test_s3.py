"""S3 by a real server on a real socket: `make test-s3` installs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rag_engine.errors import Unavailable
from rag_engine.sync.types import SyncCounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.sources.synced import Synced

pytest.importorskip("s3fs", reason="s3fs is not installed: make test-s3")
moto_server: Any = pytest.importorskip("moto.server", reason="moto is not installed: make test-s3")
boto3: Any = pytest.importorskip("boto3", reason="boto3 is not installed: make test-s3")

# Of the libraries.
pytestmark = [pytest.mark.asyncio, pytest.mark.slow, pytest.mark.filterwarnings("default")]

FILES = 300


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    try:
        made = boto3.resource("s3").create_bucket(Bucket="docs")
        for number in range(FILES):
            made.put_object(Key=key(number), Body=f"Rule {number} is here.".encode())
        made.put_object(Key="other/x.md", Body=b"Of another folder.")
        yield made, server
    finally:
        server.stop()


def key(number: int) -> str:
    return f"handbook/{number % 7}/{number}.md"


async def test_a_bucket_is_followed_and_keeps_its_documents_while_it_is_away(
    synced: Synced, bucket: tuple[Any, Any]
) -> None:
    made, server = bucket
    source = await synced.add("fsspec", "s3://docs/handbook")
    outcome = await synced.run(source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(new=FILES))
    assert (await synced.run(source)).counts == SyncCounts()
    assert synced.read == []
    for number in range(3):
        made.put_object(Key=key(number), Body=f"Another rule {number}.".encode())
    made.Object(key(5)).delete()
    assert (await synced.run(source)).counts == SyncCounts(changed=3, gone=1)
    assert synced.read == ["0/0.md", "1/1.md", "2/2.md"]
    cut = Unavailable("cut", backend="source", reason="failed")
    assert (await synced.run(source, break_after=0, failure=cut)).error == "cut"
    server.stop()
    assert "does not answer" in (await synced.run(source)).error
    assert len(await synced.titles()) == FILES - 1
