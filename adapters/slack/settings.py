"""What the operator may set for Slack."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Settings(BaseModel):
    """An app token means Socket Mode; without one, the signing secret means events by HTTP."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretStr
    """`xoxb-…`"""
    app_token: SecretStr | None = None
    """`xapp-…`, with the scope `connections:write`."""
    signing_secret: SecretStr | None = None
    api_base_url: str = "https://slack.com/api/"
    streams: bool = True
    """Answers grow by Slack's own streaming where they can; otherwise always by edits."""
    connections: int = Field(default=2, ge=1, le=10)
    """Socket Mode connections: with two, nothing is missed while Slack renews one."""
    ping_seconds: float = Field(default=20.0, gt=0)
    """A connection is cut that leaves a ping unanswered for half of it: short ones cut what is only slow."""
    dead_seconds: float = Field(default=10.0, gt=0)
    """A connection that does not come about within so long is given up and tried with a new ticket."""
    idle_seconds: float = Field(default=900.0, gt=0)
    """A connection on which nothing has arrived for so long is renewed: some stay up and never deliver again."""
    heartbeat_seconds: float = Field(default=60.0, gt=0)
    """How often Slack is asked whether the token is still good."""
    call_seconds: float = Field(default=30.0, gt=0)
    """The longest that one call to Slack may take."""
    file_seconds: float = Field(default=600.0, gt=0)
    """The longest that the download of one file may take."""
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=3000, ge=0, le=65535)
    http_path: str = "/slack/events"
    public_url: str = ""
    """Where Slack reaches `http_path` from outside, for the manifest: `https://bot.example.org`."""
