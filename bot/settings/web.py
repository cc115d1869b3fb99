from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic_settings import NoDecode

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def _prices(value: object) -> object:
    if not isinstance(value, str):
        return value
    found: dict[str, tuple[float, float]] = {}
    for part in filter(None, (each.strip() for each in value.split(","))):
        name, _, prices = part.rpartition("=")
        read, _, written = prices.partition("/")
        if not name.strip():
            raise ValueError("write MODEL=PROMPT/REPLY, as gpt-4.1-mini=0.40/1.60")
        found[name.strip()] = (float(read), float(written))
    return found


class WebSettings(BaseModel):
    """The page for administrators that `footnote run` serves (`footnote-bot[web]`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    port: int | None = Field(default=None, ge=0, le=65535)
    """Without one there is no page; 0 chooses a free port."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    url: str = ""
    """Where people open it, such as https://footnote.example.org behind a proxy with TLS; needed unless it listens on this machine alone."""
    prices: Annotated[dict[str, tuple[float, float]], NoDecode, BeforeValidator(_prices)] = Field(
        default_factory=dict[str, tuple[float, float]]
    )
    """What a million tokens of a model cost, prompt and reply: `gpt-4.1-mini=0.40/1.60`."""
    currency: str = Field(default="$", max_length=8)
    """Of these prices."""

    @field_validator("url")
    @classmethod
    def _whole(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query):
            raise ValueError("must be a URL such as https://footnote.example.org")
        if parts.path.strip("/"):
            raise ValueError("must have no path: give the page a host name of its own")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _reachable(self) -> WebSettings:
        if self.port is not None and self.host not in LOOPBACK and not self.url:
            raise ValueError("URL must be set if HOST is not this machine alone")
        return self

    def address(self, port: int) -> str:
        """Where people open it while it listens on `port`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.url or f"http://{host}:{port}"
