"""Stores as real servers on loopback: SFTP, Azure Blob, Google Cloud Storage, S3, and a web server that lists its folders.

Each can be filled, and be away and come back at the same port.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import pytest

ACCOUNT, KEY = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
)
"""Public: every emulator of Azure has them."""
USER, PASSWORD = "reader", "quay"
_SECONDS = 60.0
_AZURITE = "azurite@3"


class Store(Protocol):
    address: str
    environment: dict[str, str]

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def put(self, key: str, text: str) -> None: ...

    def delete(self, key: str) -> None: ...


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@dataclass
class _Files:
    """Files of a folder, which the server shows."""

    folder: Path

    def put(self, key: str, text: str) -> None:
        path = self.folder / "docs" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def delete(self, key: str) -> None:
        (self.folder / "docs" / key).unlink()


@dataclass
class Sftp(_Files):
    """By asyncssh; the client is paramiko, which fsspec uses."""

    port: int = field(default_factory=free_port)
    environment: dict[str, str] = field(default_factory=dict[str, str])
    opened: list[Any] = field(default_factory=list[Any])
    _thread: threading.Thread | None = None
    _loop: Any = None
    _server: Any = None
    _key: Any = None

    def __post_init__(self) -> None:
        asyncssh: Any = pytest.importorskip("asyncssh")
        pytest.importorskip("paramiko")
        self._key = asyncssh.generate_private_key("ssh-ed25519")
        self.address = f"sftp://{USER}@127.0.0.1:{self.port}/docs"
        self.environment = {"FSSPEC_SFTP_PASSWORD": PASSWORD, "HOME": str(self.folder)}
        self.knows(self._key)

    def knows(self, key: Any) -> None:
        """The host's key, as `ssh-keyscan` writes it."""
        known = self.folder / ".ssh" / "known_hosts"
        known.parent.mkdir(exist_ok=True)
        known.write_text(f"[127.0.0.1]:{self.port} {key.export_public_key().decode()}")

    def start(self) -> None:
        asyncssh: Any = pytest.importorskip("asyncssh")
        files, opened = str(self.folder), self.opened

        class Accounts(asyncssh.SSHServer):  # type: ignore[misc]
            def begin_auth(self, username: str) -> bool:
                return True

            def password_auth_supported(self) -> bool:
                return True

            def validate_password(self, username: str, password: str) -> bool:
                return (username, password) == (USER, PASSWORD)

        class Chroot(asyncssh.SFTPServer):  # type: ignore[misc]
            def __init__(self, channel: Any) -> None:
                opened.append(channel.get_connection())
                super().__init__(channel, chroot=files)

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

        async def listen() -> Any:
            return await asyncssh.listen(
                "127.0.0.1",
                self.port,
                server_factory=Accounts,
                server_host_keys=[self._key],
                sftp_factory=Chroot,
            )

        self._server = asyncio.run_coroutine_threadsafe(listen(), self._loop).result(_SECONDS)

    async def all_closed(self) -> None:
        async with asyncio.timeout(_SECONDS):
            for each in self.opened:
                closed = asyncio.run_coroutine_threadsafe(each.wait_closed(), self._loop)
                await asyncio.wrap_future(closed)

    def stop(self) -> None:
        if self._loop is None or self._thread is None:
            return

        async def close() -> None:
            self._server.close()
            while self.opened:
                connection = self.opened.pop()
                connection.abort()
                await connection.wait_closed()
            await self._server.wait_closed()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(close(), self._loop).result(_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)
        self._loop.close()
        self._loop = None


@dataclass
class Listing(_Files):
    """A web server whose folders are pages of links."""

    port: int = field(default_factory=free_port)
    environment: dict[str, str] = field(default_factory=dict[str, str])
    _server: ThreadingHTTPServer | None = None

    def __post_init__(self) -> None:
        self.address = f"http://127.0.0.1:{self.port}/docs/"

    def start(self) -> None:
        handler = partial(_Quiet, directory=str(self.folder))
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@dataclass
class Azure:
    """Azurite of npm; its blobs stay in a folder while it is away."""

    folder: Path
    port: int = field(default_factory=free_port)
    environment: dict[str, str] = field(default_factory=dict[str, str])
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        pytest.importorskip("adlfs")
        self.address = "az://docs/handbook"
        self.environment = {"AZURE_STORAGE_CONNECTION_STRING": self._connection}

    @property
    def _connection(self) -> str:
        endpoint = f"http://127.0.0.1:{self.port}/{ACCOUNT}"
        return (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={endpoint};"
        )

    def start(self) -> None:
        program, node = _azurite(), shutil.which("node")
        assert node is not None
        self._process = subprocess.Popen(
            [node, program, "--blobHost", "127.0.0.1", "--blobPort", str(self.port), "--location", str(self.folder),
             "--silent", "--skipApiVersionCheck", "--disableTelemetry"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _until_open(self.port)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_SECONDS)
            self._process = None

    def put(self, key: str, text: str) -> None:
        container = self._container()
        if not container.exists():
            container.create_container()
        container.upload_blob(f"handbook/{key}", text.encode(), overwrite=True)

    def delete(self, key: str) -> None:
        self._container().delete_blob(f"handbook/{key}")

    def _container(self) -> Any:
        blob: Any = pytest.importorskip("azure.storage.blob")
        return blob.ContainerClient.from_connection_string(self._connection, "docs")


def _azurite() -> str:
    """Where npm puts it: `AZURITE` names its folder."""
    folder = Path(os.environ.get("AZURITE", ".cache/azurite"))
    program = folder / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    if not program.is_file() or shutil.which("node") is None:
        pytest.skip("Azurite is not installed: make test-stores")
    return str(program)


@dataclass
class Google:
    folder: Path
    port: int = field(default_factory=free_port)
    environment: dict[str, str] = field(default_factory=dict[str, str])
    _server: Any = None

    def __post_init__(self) -> None:
        # It reads its environment when it is imported.
        if importlib.util.find_spec("gcsfs") is None:
            pytest.skip("gcsfs is not installed: make test-stores")
        pytest.importorskip("gcp_storage_emulator")
        self.address = "gs://docs/handbook"
        self.environment = {
            "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.port}",
            "FSSPEC_GS_TOKEN": "anon",
            # What it asks of Google itself.
            "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
            "NO_GCE_CHECK": "true",
        }

    def start(self) -> None:
        emulator: Any = pytest.importorskip("gcp_storage_emulator.server")
        storage: Any = pytest.importorskip("gcp_storage_emulator.storage")
        is_new = not any(self.folder.iterdir())
        kept = storage.Storage(use_memory_fs=False, data_dir=str(self.folder))
        # Its own server has one thread, which an idle connection occupies.
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), partial(emulator.RequestHandler, kept))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        if is_new:
            made = f"http://127.0.0.1:{self.port}/storage/v1/b?project=p"
            body, kind = json.dumps({"name": "docs"}).encode(), {"content-type": "application/json"}
            self._call(urllib.request.Request(made, data=body, headers=kind, method="POST"))

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def put(self, key: str, text: str) -> None:
        name = quote(f"handbook/{key}", safe="")
        where = f"http://127.0.0.1:{self.port}/upload/storage/v1/b/docs/o?uploadType=media&name={name}"
        self._call(urllib.request.Request(where, data=text.encode(), method="POST"))

    def delete(self, key: str) -> None:
        name = quote(f"handbook/{key}", safe="")
        where = f"http://127.0.0.1:{self.port}/storage/v1/b/docs/o/{name}"
        self._call(urllib.request.Request(where, method="DELETE"))

    def _call(self, request: urllib.request.Request) -> None:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            answer.read()


@dataclass
class S3:
    """By moto, whose objects are in memory: the server answers nothing while it is away."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])
    _server: Any = None
    _bucket: Any = None
    _name: str = ""

    def __post_init__(self) -> None:
        pytest.importorskip("s3fs")
        pytest.importorskip("moto.server")
        pytest.importorskip("boto3")
        self.port = free_port()
        # Its servers share what they hold.
        self._name = f"docs-{self.port}"
        self.address = f"s3://{self._name}/handbook"
        self.environment = {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
        }

    def start(self) -> None:
        moto_server: Any = pytest.importorskip("moto.server")
        boto3: Any = pytest.importorskip("boto3")
        self._server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=self.port)
        self._server.start()
        if self._bucket is None:
            self._bucket = boto3.resource(
                "s3", endpoint_url=self.environment["AWS_ENDPOINT_URL"], region_name="us-east-1",
                aws_access_key_id="key", aws_secret_access_key="secret",
            ).create_bucket(Bucket=self._name)  # fmt: skip

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def put(self, key: str, text: str) -> None:
        self._bucket.put_object(Key=f"handbook/{key}", Body=text.encode())

    def delete(self, key: str) -> None:
        self._bucket.Object(f"handbook/{key}").delete()


def _until_open(port: int) -> None:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            threading.Event().wait(0.05)
        else:
            return
    raise AssertionError("The store did not start.")


KINDS = {"sftp": Sftp, "azure": Azure, "google": Google, "s3": S3, "listing": Listing}
