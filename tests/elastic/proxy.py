"""A proxy in front of a real node: it checks the API key, speaks TLS, counts requests, and makes trouble on request.

Security is not among the published parts of Elasticsearch, so the key and the certificate are checked here. Everything
else passes unchanged.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import ssl
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import aiohttp
import trustme
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from multidict import CIMultiDictProxy

HOST = "127.0.0.1"
NODE_LIMIT = 60.0
"""Seconds the node may take for one answer."""
LARGEST_BODY = 100 * 2**20
"""Bytes of one request, as Elasticsearch's own `http.max_content_length`."""

_OF_ONE_HOP = {"host", "connection", "keep-alive", "transfer-encoding", "content-length"}
_FROM_ELASTICSEARCH = {"X-elastic-product": "Elasticsearch"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """The node's answer is passed on so many seconds late."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The node's answer is passed on when the event is set; an event that nobody sets is a server gone silent."""

    until: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The proxy answers itself, and the node hears nothing of the request."""

    status: int
    body: object


class Cut(Enum):
    """The connection is cut, at this moment."""

    BEFORE_REQUEST = "the node has not heard of the request"
    BEFORE_ANSWER = "the node has done what it was asked, and nothing of its answer is passed on"
    IN_ANSWER = "half the body of the answer has been passed on"


Trouble: TypeAlias = Delay | Hold | Answer | Cut


def refusal(status: int, kind: str, reason: str | None, **more: object) -> Answer:
    """An error in Elasticsearch's form."""
    cause = {"type": kind, "reason": reason, **more}
    return Answer(status=status, body={"error": {"root_cause": [cause], **cause}, "status": status})


REJECTED: Final = refusal(
    429,
    "es_rejected_execution_exception",
    "rejected execution of coordinating operation [coordinating_and_primary_bytes=0, replica_bytes=0, "
    "all_bytes=0, coordinating_operation_bytes=5160, max_coordinating_bytes=1024]",
)
"""What a node with full queues answers."""
NO_MASTER: Final = refusal(503, "cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/2/no master];")
"""What a node answers that has lost the others."""


@dataclass(kw_only=True)
class Request:
    """One request as it arrived; the status is None while there is no answer, and stays so where none is given."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    status: int | None = None

    @property
    def text(self) -> str:
        """The body in words, whether it came compressed or not."""
        compressed = self.headers.get("content-encoding") == "gzip"
        return (gzip.decompress(self.body) if compressed else self.body).decode()


@dataclass(kw_only=True)
class _Rule:
    trouble: Trouble
    method: str
    path: re.Pattern[str]
    times: int | None

    def matches(self, request: Request) -> bool:
        return (
            self.times != 0
            and self.method in ("", request.method)
            and self.path.search(request.path) is not None
        )


class Proxy:
    """What `checking_proxy` gives: where it listens, what it has seen, and what trouble it is to make."""

    def __init__(self, upstream: str, api_key: str | None) -> None:
        self.url = ""
        self.upstream = upstream
        self.api_key = api_key
        self.ca_file: Path | None = None
        self.requests: list[Request] = []
        self._rules: list[_Rule] = []
        self._arrived = asyncio.Condition()

    def trouble(
        self, trouble: Trouble, *, path: str = "", method: str = "", times: int | None = None
    ) -> None:
        """Meet the next `times` requests (None: all, until `heal`) whose path has the pattern; earlier calls go first."""
        self._rules.append(_Rule(trouble=trouble, method=method, path=re.compile(path), times=times))

    def heal(self) -> None:
        """No more trouble for requests from now on."""
        self._rules.clear()

    def seen(self, path: str = "", *, method: str = "") -> list[Request]:
        """The requests whose path has the pattern, in the order in which they came."""
        return [
            request
            for request in self.requests
            if re.search(path, request.path) and method in ("", request.method)
        ]

    async def wait_seen(self, path: str = "", *, count: int = 1) -> list[Request]:
        """`seen`, as soon as there are so many."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.seen(path)) >= count)
        return self.seen(path)

    async def receive(self, request: Request) -> Trouble | None:
        """Note a request and say what is to happen to it."""
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        if refused := self._refused(request):
            return refused
        rule = next((rule for rule in self._rules if rule.matches(request)), None)
        if rule is not None and rule.times is not None:
            rule.times -= 1
        return rule.trouble if rule else None

    def _refused(self, request: Request) -> Answer | None:
        given = request.headers.get("authorization")
        if self.api_key is None or given == f"ApiKey {self.api_key}":
            return None
        accepted = {
            "header": {"WWW-Authenticate": ['Basic realm="security", charset="UTF-8"', "ApiKey"]},
        }
        if given is None:
            reason = f"missing authentication credentials for REST request [{request.path}]"
            return refusal(401, "security_exception", reason, **accepted)
        return refusal(
            401,
            "security_exception",
            "unable to authenticate with provided credentials and anonymous access is not allowed for this request",
            additional_unsuccessful_credentials="API key: unable to find apikey with id unknown",
            **accepted,
        )


@asynccontextmanager
async def checking_proxy(
    upstream: str, *, api_key: str | None = None, tls: bool = False
) -> AsyncGenerator[Proxy]:
    """A proxy in front of the node at the URL `upstream`, on a free port of the loopback interface.

    With `api_key` (as encoded for the header) any other key is refused. With `tls` its `url` is https and `ca_file` the
    certificate of the authority, made for this proxy, that a client has to trust.
    """
    proxy = Proxy(upstream, api_key)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(_session())
        context = None
        if tls:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="footnote-proxy-")))
            context, proxy.ca_file = _certificates(folder)
        app = web.Application(client_max_size=LARGEST_BODY)

        async def handle(incoming: web.Request) -> web.StreamResponse:
            return await _handle(proxy, session, incoming)

        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=0.1)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, HOST, 0, ssl_context=context).start()
        port = cast("tuple[str, int]", runner.addresses[0])[1]
        proxy.url = f"{'https' if tls else 'http'}://{HOST}:{port}"
        yield proxy


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        auto_decompress=False,
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        timeout=aiohttp.ClientTimeout(total=NODE_LIMIT),
        # A connection kept alive to a node that was killed since would be the proxy's fault, not the node's.
        connector=aiohttp.TCPConnector(force_close=True, limit=0),
    )


def _certificates(folder: Path) -> tuple[ssl.SSLContext, Path]:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(HOST, "localhost").configure_cert(context)
    ca_file = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    return context, ca_file


async def _handle(proxy: Proxy, session: aiohttp.ClientSession, incoming: web.Request) -> web.StreamResponse:
    path, _, query = incoming.raw_path.partition("?")
    request = Request(
        method=incoming.method,
        path=path,
        query=query,
        headers={name.lower(): value for name, value in incoming.headers.items()},
        body=await incoming.read(),
    )
    trouble = await proxy.receive(request)
    answer = await _answer(trouble, proxy.upstream, session, incoming)
    await _wait(trouble)
    if answer is None or trouble is Cut.BEFORE_ANSWER:
        return _cut(incoming)
    request.status = answer.status
    if trouble is Cut.IN_ANSWER:
        await _send_half(answer, incoming)
        return _cut(incoming)
    return answer


async def _answer(
    trouble: Trouble | None, upstream: str, session: aiohttp.ClientSession, incoming: web.Request
) -> web.Response | None:
    """What there is to pass on; None where the proxy or the node gives no answer."""
    if trouble is Cut.BEFORE_REQUEST:
        return None
    if isinstance(trouble, Answer):
        return web.json_response(trouble.body, status=trouble.status, headers=_FROM_ELASTICSEARCH)
    try:
        return await _ask(upstream, session, incoming)
    except (aiohttp.ClientError, TimeoutError):
        return None  # a node that is gone looks through the proxy as it does without one


async def _ask(upstream: str, session: aiohttp.ClientSession, incoming: web.Request) -> web.Response:
    url = URL(upstream + incoming.raw_path, encoded=True)
    headers = _passed_on(incoming.headers)
    body = await incoming.read()
    data = BytesIO(body) if body else None  # aiohttp warns of large bodies in one piece
    async with session.request(incoming.method, url, data=data, headers=headers) as response:
        passed_on = _passed_on(response.headers)
        return web.Response(status=response.status, headers=passed_on, body=await response.read())


def _passed_on(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _OF_ONE_HOP)


async def _wait(trouble: Trouble | None) -> None:
    if isinstance(trouble, Delay):
        await asyncio.sleep(trouble.seconds)
    elif isinstance(trouble, Hold):
        await trouble.until.wait()


async def _send_half(answer: web.Response, incoming: web.Request) -> None:
    body = cast("bytes", answer.body)
    half = web.StreamResponse(status=answer.status, headers=answer.headers)
    half.content_length = len(body)
    await half.prepare(incoming)
    await half.write(body[: len(body) // 2])


def _cut(incoming: web.Request) -> web.Response:
    if incoming.transport is not None:
        incoming.transport.close()
    return web.Response()  # never sent, for there is nowhere to send it
