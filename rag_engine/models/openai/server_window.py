from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from typing import TYPE_CHECKING, Final, cast

import httpx2

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 300.0
_FEWEST, _MOST = 512, 10_000_000
_SILENT_HOST: Final = "api.openai.com"
"""Lists its models without their windows."""
_FIELDS: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
_OLLAMA_SETTING = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)

logger = logging.getLogger(__name__)


class ServerWindow:
    """`tokens` is None until the server states it."""

    def __init__(self, client: httpx2.AsyncClient, model: str, *, base_url: str, api_key: str) -> None:
        self.tokens: int | None = None
        self._client = client
        self._base_url = httpx2.URL(base_url.rstrip("/"))
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self._model = model
        self._task: asyncio.Task[None] | None = None
        self._asked_at = -_PAUSE_SECONDS

    def ask(self, *, otherwise: Callable[[], None]) -> None:
        """At most once in 5 minutes, never after an answer; `otherwise`: the server states none."""
        if self._base_url.host == _SILENT_HOST:
            otherwise()
        elif self.tokens is None and time.monotonic() - self._asked_at >= _PAUSE_SECONDS:
            self._asked_at = time.monotonic()
            self._task = asyncio.create_task(self._ask(otherwise), name="ask for the context window")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _ask(self, otherwise: Callable[[], None]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS):
                self.tokens = await self._listed() or await self._of_ollama()
        if self.tokens is None:
            otherwise()
        else:
            logger.info("The server gives %s a context window of %d tokens.", self._model, self.tokens)

    async def _listed(self) -> int | None:
        listing = _mapping(await self._fetched("GET", f"{self._base_url}/models")).get("data")
        entries = [
            _mapping(entry) for entry in cast("list[object]", listing if isinstance(listing, list) else [])
        ]
        named = [entry for entry in entries if self._model in (entry.get("id"), entry.get("root"))]
        # llama.cpp serves one model under any name.
        entry = next(iter(named or (entries if len(entries) == 1 else ())), _mapping(None))
        meta = _mapping(entry.get("meta"))
        stated = [*(entry.get(name) for name in _FIELDS), meta.get("n_ctx"), meta.get("n_ctx_train")]
        return next((tokens for value in stated if (tokens := _tokens(value))), None)

    async def _of_ollama(self) -> int | None:
        url = self._base_url.copy_with(raw_path=b"/api/show")
        shown = _mapping(await self._fetched("POST", str(url), {"model": self._model}))
        if setting := _OLLAMA_SETTING.search(str(shown.get("parameters", ""))):
            return _tokens(int(setting[1]))
        info = _mapping(shown.get("model_info"))
        lengths = (value for name, value in info.items() if name.endswith(".context_length"))
        return next((tokens for value in lengths if (tokens := _tokens(value))), None)

    async def _fetched(self, method: str, url: str, body: object = None) -> object:
        with contextlib.suppress(httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            answer = await self._client.request(method, url, json=body, headers=self._headers)
            if answer.is_success:
                return answer.json()
        return None


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _tokens(value: object) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and _FEWEST <= value <= _MOST
    return cast("int", value) if fits else None
