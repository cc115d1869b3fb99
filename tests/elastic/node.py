"""Elasticsearch nodes as child processes: started, killed, started again with the same data, and never left behind."""

from __future__ import annotations

import os
import random
import select
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx2

from tests.elastic.distribution import QUICK, Distribution, distribution, write_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HOST = "127.0.0.1"
START_LIMIT = 120.0
"""Seconds until a node is ready: some 3 on a free machine, ten times that on one where every core is wanted."""

# Below what systems choose from for outgoing connections, so that nobody is given a port while its node is down.
_PORTS = range(20_000, 30_000)


THOROUGH = ("-XX:+UseG1GC", "--add-modules=jdk.incubator.vector")
"""JVM options for figures: the optimising compiler and vector instructions, as a server has; starts slowly."""


class NodeFailed(Exception):
    """A node did not start or did not become what was waited for; the message holds the end of its log."""


class Node:
    """One node: `start`, `stop` (in order), `kill` (-9), and `start` again with the same ports and data.

    All of it blocks; a test whose event loop is to go on meanwhile calls it by `asyncio.to_thread`.
    """

    def __init__(
        self,
        build: Distribution,
        folder: Path,
        settings: Mapping[str, object],
        options: Sequence[str],
    ) -> None:
        self.name = str(settings["node.name"])
        self.http_port = cast("int", settings["http.port"])
        self.transport_port = cast("int", settings["transport.port"])
        self.log = folder / "node.log"
        self._command = build.command(folder / "config", options)
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False
        paths = {"path.home": build.home, "path.data": folder / "data", "path.logs": folder / "logs"}
        write_settings(folder / "config", {**{name: str(path) for name, path in paths.items()}, **settings})

    @property
    def url(self) -> str:
        """Where it is spoken to over HTTP."""
        return f"http://{HOST}:{self.http_port}"

    @property
    def pid(self) -> int | None:
        """The process, None while there is none."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Launch it and wait until it is ready; `NodeFailed` if it does not become so."""
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        """Begin to start; no error when it runs already."""
        if self.pid is not None:
            return
        self._close_pipes()
        self._ready = False
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the tests; the node goes when they let go of it
            )

    def wait_until_ready(self, limit: float = START_LIMIT) -> None:
        """Return when the node has joined its cluster and listens."""
        process = self._process
        if self._ready and self.pid is not None:
            return
        if process is None or process.stdout is None:
            raise NodeFailed(f"node {self.name} was not launched")
        readable, _, _ = select.select([process.stdout], [], [], limit)
        if not readable:
            raise NodeFailed(f"node {self.name} was not ready after {limit:.0f} s{self._log_tail()}")
        if process.stdout.readline() != b"ready\n":
            raise NodeFailed(f"node {self.name} ended while starting{self._log_tail()}")
        self._ready = True

    def stop(self) -> None:
        """End it in order: it leaves its cluster and closes its files."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
            self._close_pipes()

    def kill(self) -> None:
        """End it as a power cut would (SIGKILL); no error when it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(20)
            self._close_pipes()

    def wait_for(self, limit: float = 60.0, **conditions: object) -> dict[str, object]:
        """Its `_cluster/health` once it is as asked (`status="green"`, `nodes=3`, `no_initializing_shards=True`)."""
        parameters = {
            f"wait_for_{name}": str(value).lower() for name, value in conditions.items() if value is not None
        }
        deadline = time.monotonic() + limit
        health: object = None
        while (left := deadline - time.monotonic()) > 0:
            health = self._health({**parameters, "timeout": f"{left:.0f}s"}, left)
            if isinstance(health, dict) and health.get("timed_out") is False:
                return cast("dict[str, object]", health)
            time.sleep(0.1)
        raise NodeFailed(f"after {limit:.0f} s not {parameters} but {health}{self._log_tail()}")

    def _health(self, parameters: Mapping[str, str], limit: float) -> object:
        try:
            response = httpx2.get(
                f"{self.url}/_cluster/health", params=dict(parameters), timeout=limit + 1, trust_env=False
            )
        except httpx2.TransportError as error:
            return f"{type(error).__name__}: {error}"
        return response.json()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout) if self._process else ():
            if pipe is not None:
                pipe.close()

    def _log_tail(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([f"; its log, {self.log}, ends:", *lines[-40:]])


@contextmanager
def running_node(
    settings: Mapping[str, object] | None = None,
    *,
    heap: str = "512m",
    options: Sequence[str] | None = None,
) -> Iterator[Node]:
    """One node that is ready, with data of its own, which go with it.

    `settings` are added to `elasticsearch.yml`. `options` of the JVM replace those for a quick start, for
    example `THOROUGH` where speed is measured. Raises `Missing`, `BuildFailed` or `NodeFailed`.
    """
    http, transport = free_ports(2)
    alone = {"discovery.type": "single-node"}
    with _folder() as folder, ExitStack() as stack:
        node = _prepare(folder, "node", (http, transport), {**alone, **(settings or {})}, heap, options)
        stack.callback(node.kill)
        node.start()
        yield node


@contextmanager
def running_cluster(
    names: Sequence[str] = ("one", "two", "three"),
    settings: Mapping[str, object] | None = None,
    *,
    heap: str = "400m",
    options: Sequence[str] | None = None,
) -> Iterator[tuple[Node, ...]]:
    """Several nodes that have found each other, otherwise as `running_node`."""
    ports = free_ports(2 * len(names))
    transports = ports[1::2]
    together = {
        "discovery.seed_hosts": [f"{HOST}:{port}" for port in transports],
        "cluster.initial_master_nodes": list(names),
        # They begin at the same moment; the first vote need not wait for late comers as long as in a data centre.
        "discovery.find_peers_interval": "200ms",
        **(settings or {}),
    }
    with _folder() as folder, ExitStack() as stack:
        nodes = tuple(
            _prepare(folder, name, (ports[2 * place], transports[place]), together, heap, options)
            for place, name in enumerate(names)
        )
        for node in nodes:
            stack.callback(node.kill)
            node.launch()
        for node in nodes:
            node.wait_until_ready()
        nodes[0].wait_for(nodes=len(names))
        yield nodes


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on."""
    found: list[int] = []
    for port in random.SystemRandom().sample(_PORTS, 50 * count):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) != 0 and len(found) < count:
                found.append(port)
    if len(found) < count:
        raise NodeFailed(f"fewer than {count} free ports among {50 * count}")
    return found


def _prepare(
    folder: Path,
    name: str,
    ports: tuple[int, int],
    settings: Mapping[str, object],
    heap: str,
    options: Sequence[str] | None,
) -> Node:
    build = distribution()
    quick = (*QUICK, f"-XX:SharedArchiveFile={build.class_archive}")
    common = {
        "cluster.name": "footnote-tests",
        "node.name": name,
        "network.host": HOST,
        "http.port": ports[0],
        "transport.port": ports[1],
        "logger.level": "INFO",
        # Many test machines have full disks; a test of the flood stage sets what it needs.
        "cluster.routing.allocation.disk.threshold_enabled": False,
    }
    flags = (f"-Xms{heap}", f"-Xmx{heap}", *(quick if options is None else options))
    return Node(build, folder / name, {**common, **settings}, flags)


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder for settings, data and logs; when the block fails the logs stay, and the failure names them."""
    distribution()  # what cannot be run leaves no folder
    # In memory where the tests are (tests/conftest.py): a node waits for the disk at every write.
    folder = Path(tempfile.mkdtemp(prefix="footnote-elastic-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    _folders[folder] = False
    try:
        yield folder
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # pytest's own outcomes are no `Exception`
        error.add_note(f"The logs of Elasticsearch: {folder}/*/node.log")
        _folders[folder] = True
        raise
    finally:
        kept = _folders.pop(folder)
        for unwanted in folder.glob("*/data") if kept else (folder,):
            shutil.rmtree(
                unwanted, ignore_errors=True
            )  # a full disk or a busy one is not what the tests are about


_folders: dict[Path, bool] = {}
"""The folders of what runs now, and whether their logs are to outlive it."""
_session = ExitStack()


def keep_logs() -> list[Path]:
    """The logs of all nodes that run now, which from now on outlive them."""
    for folder in _folders:
        _folders[folder] = True
    return [log for folder in _folders for log in sorted(folder.glob("*/node.log"))]


@cache
def shared_node() -> str:
    """The URL of one node for the whole session, started by the first who asks."""
    return _session.enter_context(running_node()).url


def stop_shared_node() -> None:
    """End the shared node, if one was started."""
    shared_node.cache_clear()
    _session.close()
