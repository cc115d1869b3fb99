from __future__ import annotations

import json
import shlex
from typing import Annotated, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_settings import NoDecode
from yarl import URL


def _from_json(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return cast("object", json.loads(value))
    except ValueError as error:
        raise ValueError("it must be a JSON object") from error


def _words(value: object) -> object:
    return tuple(shlex.split(value)) if isinstance(value, str) else value


def _names(value: object) -> object:
    return (
        tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value
    )


def _sendable(headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name, value in headers.items():
        text = value.get_secret_value()
        if not (text.isascii() and text.isprintable()):
            raise ValueError(f"the header {name!a} holds a letter that no header can hold: copy it again")
    return headers


Secrets = Annotated[dict[str, SecretStr], NoDecode, BeforeValidator(_from_json)]
Headers = Annotated[Secrets, AfterValidator(_sendable)]


class HttpToolSettings(BaseModel):
    """An HTTP service as a tool of channels with `/kb settings tools:all`: `FOOTNOTE_TOOLS__HTTP__WEATHER__URL=https://…/{city}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    """Its address; `{city}` is that argument. No argument or redirect leads to another server."""
    description: str
    """What it gives, for the language model."""
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    """Arguments beside the address are its query or JSON body."""
    arguments: Annotated[dict[str, object], NoDecode, BeforeValidator(_from_json)] = Field(
        default_factory=dict[str, object]
    )
    """JSON schema of the arguments: `{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`."""
    headers: Headers = Field(default_factory=dict[str, SecretStr])
    """Headers as JSON: `{"Authorization": "Bearer …"}`."""
    seconds: float = Field(default=10, gt=0)
    """Time limit of one call."""
    kilobytes: int = Field(default=1_000, ge=1, le=20_000)
    """The largest answer of the server."""

    @field_validator("url")
    @classmethod
    def _one_server(cls, url: str) -> str:
        try:
            parsed = URL(url)
            usable = parsed.scheme in ("http", "https") and bool(parsed.host) and "{" not in str(parsed.host)
            usable = usable and parsed.user is None and "{" not in url.partition("://")[2].partition("/")[0]
        except ValueError:
            usable = False
        if not usable:
            raise ValueError("it must be an http(s) address, with arguments in its path or query alone")
        return url


class McpServerSettings(BaseModel):
    """An MCP server, whose tools channels with `/kb settings tools:all` may use: `FOOTNOTE_TOOLS__MCP__TICKETS__URL=…`. Needs `footnote-bot[server]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = ()
    """A program that speaks on its standard streams; it gets no variable of this bot."""
    environment: Secrets = Field(default_factory=dict[str, SecretStr])
    """Variables of the program as JSON."""
    url: str = ""
    """Or an address (streamable HTTP)."""
    headers: Headers = Field(default_factory=dict[str, SecretStr])
    """Headers as JSON."""
    tools: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)] = ()
    """Only these, `a,b`; empty: all."""
    start_seconds: float = Field(default=10, gt=0)
    """Time limit for starting."""
    seconds: float = Field(default=30, gt=0)
    """Time limit of one call."""

    @model_validator(mode="after")
    def _one_way(self) -> McpServerSettings:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either a COMMAND or a URL")
        return self


class ToolSettings(BaseModel):
    """Limits on the calls of tools for one answer, in channels with `/kb settings tools:on` or `all`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=8, ge=1, le=30)
    """Replies that call tools."""
    calls: int = Field(default=20, ge=1, le=100)
    """Calls of tools in all."""
    at_once: int = Field(default=4, ge=1, le=16)
    """Calls at the same time."""
    tokens: int = Field(default=100_000, ge=1_000)
    """Estimated tokens before the answer."""
    seconds: float = Field(default=90, gt=0)
    """Time before the answer."""
    call_seconds: float = Field(default=30, gt=0)
    """Time limit of one call of a tool or model."""
    result_tokens: int = Field(default=2_000, ge=100)
    """Tokens of a result beside its passages."""
    found: int = Field(default=6, ge=1, le=20)
    """Passages of one search."""
    passages: int = Field(default=20, ge=1, le=50)
    """Passages of the answer."""
    http: dict[str, HttpToolSettings] = Field(default_factory=dict[str, HttpToolSettings])
    """HTTP services, by name."""
    mcp: dict[str, McpServerSettings] = Field(default_factory=dict[str, McpServerSettings])
    """MCP servers, by name."""
