from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_settings import NoDecode


def _listed(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class SourcesSettings(BaseModel):
    """Folders, web pages and other sources that are read again and again (`footnote source`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    every_minutes: float = Field(default=60, ge=1)
    """How often a source is read by default."""
    web_every_minutes: float = Field(default=1440, ge=1)
    """The same for pages, sites and feeds."""
    allowed: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = ()
    """Beginnings of addresses that administrators may add in chat beside the public web: `/srv/handbook, https://wiki.acme.internal/`, also on private networks."""
    entries: int = Field(default=100_000, ge=1, le=1_000_000)
    """The most entries of one source."""
    at_once: int = Field(default=2, ge=1, le=16)
    """Files read at the same time."""
    seconds: float = Field(default=60, gt=0)
    """The longest time of one request."""
    listing_seconds: float = Field(default=600, gt=0)
    """The longest time to list a source, with a `git fetch`."""
    page_mb: float = Field(default=20, gt=0)
    """The largest web page, in megabytes."""
    repository_mb: float = Field(default=2_000, gt=0)
    """The most that is downloaded of a Git repository at once, in megabytes."""
