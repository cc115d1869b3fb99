from __future__ import annotations

import re
from contextlib import contextmanager
from html import unescape
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

import httpx2
from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import BadSettings, RateLimited, Unavailable
from rag_engine.retrieval.web_results import WebResult

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

_BACKEND: Final = "web search"
_TAG: Final = re.compile(r"<[^<>]{0,200}>")


class ProviderSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout: float = Field(default=6.0, gt=0)
    """Time limit of one search."""


@contextmanager
def translated_errors() -> Generator[None]:
    """Raises `Unavailable`, `RateLimited` or `BadSettings`."""
    try:
        yield
    except httpx2.HTTPStatusError as error:
        status = error.response.status_code
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise RateLimited("The web search asks us to slow down.", backend=_BACKEND) from error
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable(f"The web search fails (HTTP {status}).", backend=_BACKEND) from error
        raise BadSettings(
            f"the web search refuses the call (HTTP {status}): check its address and key."
        ) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise BadSettings("the address of the web search cannot be used.") from error
    except (httpx2.HTTPError, TimeoutError, ValueError) as error:
        raise Unavailable("The web search does not answer.", backend=_BACKEND) from error


def listed(body: object, *path: str) -> Iterable[Mapping[str, object]]:
    """Raises `ValueError` without a list at `path`."""
    for name in path:
        body = cast("dict[str, object]", body).get(name) if isinstance(body, dict) else None
    if not isinstance(body, list):
        raise ValueError("no results")
    return [cast("dict[str, object]", item) for item in cast("list[object]", body) if isinstance(item, dict)]


def results(items: Iterable[Mapping[str, object]], *, limit: int) -> list[WebResult]:
    """Those with an address."""
    found = ((item.get("url"), plain(item.get("title"))) for item in items)
    return [WebResult(url=url, title=title) for url, title in found if isinstance(url, str) and url][:limit]


def plain(value: object) -> str:
    """Without markup, on one line."""
    return " ".join(unescape(_TAG.sub("", value)).split()) if isinstance(value, str) else ""
