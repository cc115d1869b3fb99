"""A model hub: a real server for the unmodified client of huggingface_hub."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_COMMIT = "c" * 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHub:
    address: str
    requests: list[str] = field(default_factory=list[str])
    """Paths, in order."""


@contextmanager
def serve(
    read: Callable[[str, str], bytes | None], *, status: int = 404, code: str = "EntryNotFound"
) -> Generator[ModelHub]:
    """`read` gives a repository's file; without one the hub answers `status` with the error `code`."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self.wfile.write(self._answer())

        def _answer(self) -> bytes:
            requests.append(self.path)
            repository, _, name = self.path.removeprefix("/").partition("/resolve/main/")
            content = read(repository, name)
            self.send_response(status if content is None else 200)
            if content is None:
                self.send_header("X-Error-Code", code)
            else:
                self.send_header("ETag", f'"{len(content)}"')
            self.send_header("X-Repo-Commit", _COMMIT)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            return content or b""

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield ModelHub(address=f"http://127.0.0.1:{server.server_port}", requests=requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
