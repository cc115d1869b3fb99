from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from bot.port import HeaderSecret


class Settings(BaseModel):
    """With an app token events come by Socket Mode, else with the signing secret by HTTP."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: HeaderSecret
    """Bot token, `xoxb-…`."""
    app_token: HeaderSecret | None = None
    """`xapp-…`, with the scope `connections:write`."""
    signing_secret: SecretStr | None = None
    """Signing secret, for events by HTTP."""
    api_base_url: str = "https://slack.com/api/"
    """Address of the Web API, for private gateways and tests."""
    streams: bool = True
    """Stream answers where Slack supports it; otherwise edit them."""
    connections: int = Field(default=2, ge=1, le=10)
    """Socket Mode connections. With two, no event is lost while Slack renews one."""
    ping_seconds: float = Field(default=20.0, gt=0)
    """Seconds between pings. A connection is closed if a ping stays unanswered for half of it; small values cut slow connections."""
    dead_seconds: float = Field(default=10.0, gt=0)
    """How long to wait for a connection before trying again with a new ticket."""
    idle_seconds: float = Field(default=900.0, gt=0)
    """How long a connection may be silent before it is renewed: some stay up and deliver nothing."""
    heartbeat_seconds: float = Field(default=60.0, gt=0)
    """How often to check that the token is still valid."""
    call_seconds: float = Field(default=30.0, gt=0)
    """Timeout of one call to Slack."""
    file_seconds: float = Field(default=600.0, gt=0)
    """Timeout of one file download."""
    history_calls: int = Field(default=25, ge=1, le=50)
    """Background reads of channels that are sources, in `history_seconds`; half of what Slack allows. An app that is sold outside the Marketplace gets 1."""
    history_seconds: float = Field(default=60.0, gt=0)
    """The time of `history_calls`."""
    http_host: str = "127.0.0.1"
    """Address to listen on for events by HTTP."""
    http_port: int = Field(default=3000, ge=0, le=65535)
    """Port to listen on for events by HTTP."""
    http_path: str = "/slack/events"
    """Path of the events."""
    public_url: str = ""
    """The public address of `http_path` for the manifest: `https://bot.example.org`."""
